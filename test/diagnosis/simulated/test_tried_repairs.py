# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs are tried in no more windows than it takes to dismiss them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Change, FindingKind
from sysid_ros.diagnosis.simulated.tried_repairs import RepairsInSome, Tried

SIGN = (Change(FindingKind.SIGN, scale={"motor": -1.0}),)
BEFORE = {"angle": np.array([9.0, 1.0, 3.0, 2.0])}


@pytest.mark.parametrize(
    ("after", "simulated", "promises"),
    [
        ([9.0, 0.0, 2.999, 0.0], [2], False),  # as much in the worst, but for rounding
        ([9.0, 2.0, 1.0, 3.0], [2, 3, 1], False),  # as much in the three
        ([0.0, 5.0, 0.5, 0.0], [2, 3, 1], True),
    ],
)
def test_a_repair_is_glimpsed_in_the_worst_windows_until_it_explains_nothing(
    after: list[float], simulated: list[int], promises: bool
) -> None:
    told: list[int] = []

    def in_all(changes: tuple[Change, ...], size: float, windows: Sequence[int]) -> Tried:
        return Tried(changes, size, {"angle": np.array(after)[[*windows]]})

    def in_each(
        changes: tuple[Change, ...], windows: Sequence[int]
    ) -> Iterator[dict[str, FloatArray]]:
        for window in windows:
            told.append(window)
            yield {"angle": np.array([after[window]])}

    found = RepairsInSome(in_all, in_each, BEFORE, [1, 2, 3]).promising(SIGN)
    assert (told, found is not None) == (simulated, promises)
    if found is not None:
        assert found.powers["angle"].tolist() == after[1:]


@pytest.mark.parametrize(
    ("large", "simulated", "left"),
    [
        ([], [[0, 2, 4], [5, 6, 8]], True),
        ([0, 2], [[0, 2, 4]], False),  # a quarter of what is there without it is too much
        ([3, 7], [], False),
    ],
)
def test_the_rest_of_the_windows_is_simulated_until_a_repair_cannot_be_accepted(
    large: list[int], simulated: list[list[int]], left: bool
) -> None:
    told: list[list[int]] = []
    before, telling, after = {"angle": np.full(9, 4.0)}, [1, 3, 7], np.linspace(0.1, 0.2, 9)
    after[large] = 6.0

    def in_all(changes: tuple[Change, ...], size: float, windows: Sequence[int]) -> Tried:
        told.append([*windows])
        return Tried(changes, size, {"angle": after[[*windows]]})

    first = Tried(SIGN, 0.0, {"angle": after[telling]})
    found = RepairsInSome(in_all, lambda *_: iter(()), before, telling).in_rest(first, before)
    assert told == simulated
    assert (found is not None) == left
    if found is not None:
        assert found.powers["angle"].tolist() == after.tolist()
