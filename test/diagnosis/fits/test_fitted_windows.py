# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows that derivatives cover are taken, and fitted with as few derivatives as will do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from sysid_ros.diagnosis.fits import fitted_windows
from sysid_ros.diagnosis.fits.fitted_windows import fitted, well_covered
from sysid_ros.engine.least_squares import Point


class _Group:
    """Windows of so many steps, each known by its share of them that are not covered."""

    def __init__(self, shares: list[float], steps: int) -> None:
        own = SimpleNamespace(steps=steps)
        self.windows = [SimpleNamespace(share=one, window=own) for one in shares]
        self.batches = [SimpleNamespace(spread=np.zeros((1, 60)))]
        self._steps = steps

    def select(self, places: list[int]) -> _Group:
        return _Group([self.windows[place].share for place in places], self._steps)


class _Line:
    """A problem of one parameter whose derivatives are counted; it keeps those of one point."""

    def __init__(self, counts: list[float]) -> None:
        self.noise, self.counts = {"angle": 1.0}, counts
        self.linearized: Any = None

    def initial_point(self) -> Point:
        return Point(np.zeros(1), ())

    def cost(self, point: Point) -> float:
        return float(np.sum((point.theta - 1.0) ** 2))

    def window_rows(self, point: Point) -> list[float]:
        assert self.linearized.is_at(point)
        return [float(point.theta[0])]

    def with_noise(self, noise: dict[str, float]) -> _Line:
        return self


def test_every_other_step_is_taken_with_derivatives_that_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: list[float] = []  # where derivatives were made
    chords: list[float] = []  # where those in use are from

    def one_step(near: Any, point: Point, _: object) -> Point:
        if isinstance(near, _Line):
            counts.append(float(point.theta[0]))
            near.linearized = SimpleNamespace(is_at=lambda other: other is point)
        return Point(0.5 * (1.0 + point.theta), ())

    def chord(_: _Line, rows: list[float]) -> list[float]:
        chords.extend(rows)
        return rows

    monkeypatch.setattr(fitted_windows, "one_step", one_step)
    monkeypatch.setattr(fitted_windows, "Chord", chord)
    monkeypatch.setattr(fitted_windows, "squares_left", lambda *_: {})
    problem = cast("Any", _Line(counts))
    assert fitted(problem, chords=True)[1].theta == pytest.approx([1.0 - 0.5**4])
    assert counts == [0.0, 0.75]
    assert chords == counts
    fitted(problem)
    assert counts[2:] == [0.0, 0.5, 0.75, 0.875]


_PARAMS = cast("Any", SimpleNamespace(size=40))


def _problem_of(group: _Group, *_: object) -> Any:
    shares = [one.share for one in group.windows]
    exact = SimpleNamespace(gave_up=False, tolerated=0.0, uncovered=np.array(shares))
    return SimpleNamespace(
        exact=[exact],
        initial_point=lambda: None,
        differentiate=lambda _: None,
        shares=shares,
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
    some = well_covered(cast("Any", _Group(shares, 80)), 8, _PARAMS, cast("Any", None))
    assert some is not None
    problem, found = cast("Any", some[0]), some[1]
    assert problem.shares == [shares[place] for place in found]
    assert found == sorted(set(found))
    assert len(found) == 8
    assert among.issuperset(found)
    assert found[-1] == max(among)


@pytest.mark.parametrize(
    ("shares", "steps", "dear"),
    [
        ([0.04] * 16, 90, False),  # of eight windows, times a hundred columns
        ([0.04] * 16, 110, True),
        ([0.04] * 8 + [0.0] * 8, 1000, False),  # others are covered
        ([0.04] * 10 + [0.0] * 6, 390, False),  # all but two are
    ],
)
def test_windows_that_would_be_differenced_may_be_too_dear(
    monkeypatch: pytest.MonkeyPatch, shares: list[float], steps: int, dear: bool
) -> None:
    monkeypatch.setattr(fitted_windows, "problem_of", _problem_of)
    group = cast("Any", _Group(shares, steps))
    assert (well_covered(group, 8, _PARAMS, cast("Any", None)) is None) == dear
