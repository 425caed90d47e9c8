# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows whose derivatives would miss much are not taken where there are others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from sysid_ros.diagnosis.fits import fitted_windows
from sysid_ros.diagnosis.fits.fitted_windows import well_covered


class _Group:
    """Windows, each known by its share of steps that are not covered."""

    def __init__(self, shares: list[float]) -> None:
        self.windows = shares

    def select(self, places: list[int]) -> _Group:
        return _Group([self.windows[place] for place in places])


def _problem_of(group: _Group, *_: object) -> Any:
    exact = SimpleNamespace(gave_up=False, tolerated=0.0, uncovered=np.array(group.windows))
    return SimpleNamespace(
        exact=[exact],
        initial_point=lambda: None,
        differentiate=lambda _: None,
        windows=group.windows,
    )


@pytest.mark.parametrize(
    ("shares", "among"),
    [
        ([0.0] * 29, {*range(0, 29, 4)}),  # evenly, as all are covered
        ([0.5] * 8 + [0.01] * 21, {*range(8, 29)}),  # of those that are
        ([0.5] * 9 + [0.01, 0.01] * 3 + [0.2] * 2, {*range(9, 17)}),  # else the best of all
    ],
)
def test_windows_that_derivatives_cover_are_taken(
    monkeypatch: pytest.MonkeyPatch, shares: list[float], among: set[int]
) -> None:
    monkeypatch.setattr(fitted_windows, "problem_of", _problem_of)
    group, params, pool = cast("Any", _Group(shares)), cast("Any", {}), cast("Any", None)
    problem, found = well_covered(group, 8, params, pool)
    assert list(problem.windows) == [shares[place] for place in found]
    assert found == sorted(set(found))
    assert len(found) == 8
    assert among.issuperset(found)
    assert found[-1] == max(among)
