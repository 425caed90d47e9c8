# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that change over recordings, on a line or at once, are told from those that stay."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import ReducedSystem
from sysid_ros.engine.uncertainty import Drift, drifts

WINDOWS, ROWS = 40, 60
VALUES = np.array([0.6, 1.5, 0.1])
STARTS = np.tile(np.arange(20.0), 2)
RECORDINGS = ["one"] * 20 + ["two"] * 20


ON_LINE = STARTS / np.ptp(STARTS) - 0.5


def system(
    change: FloatArray,
    scatter: float = 0.0,
    along: FloatArray = ON_LINE,
    moved: FloatArray | float = 1.0,
) -> ReducedSystem:
    """Windows of a linear model of three entangled columns, at its optimum.

    Args:
      change: Of each parameter from the beginning to the end of each recording, (3,).
      scatter: By how much the windows' own values of the first one stray.
      along: The share of the change that each window has, (WINDOWS,).
      moved: By how much the robot moves, (WINDOWS, 1, 1 or 3).
    """
    random = np.random.default_rng(0)
    columns = moved * random.normal(size=(WINDOWS, ROWS, 3))
    columns[:, :, 1] += 0.8 * columns[:, :, 0]
    own = along[:, None] * change
    own[:, 0] += scatter * random.normal(size=WINDOWS)
    left = np.einsum("wri,wi->wr", columns, own) + 0.05 * random.normal(size=(WINDOWS, ROWS))
    hessians = np.einsum("wri,wrj->wij", columns, columns)
    optimum = np.linalg.solve(hessians.sum(0), np.einsum("wri,wr->i", columns, left))
    gradients = -np.einsum("wri,wr->wi", columns, left - columns @ optimum)
    return ReducedSystem(hessians.sum(0), gradients.sum(0), hessians, gradients)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ([0.0, 0.0, 0.0], {}),
        ([-0.3, 0.0, 0.0], {0: -0.3}),
        ([-0.3, 0.5, 0.0], {0: -0.3, 1: 0.5}),
        ([0.0, 0.0, 0.005], {}),  # a twentieth of the value
    ],
)
def test_what_changes_is_found_beside_what_it_is_entangled_with(
    change: list[float], expected: dict[int, float]
) -> None:
    found = drifts(system(np.array(change)), np.arange(3), VALUES, RECORDINGS, STARTS)
    assert {one.place: one.after - one.before for one in found} == pytest.approx(expected, abs=0.03)
    assert all(one.window is None for one in found)


@pytest.mark.parametrize("first", [4, 12, 36])
@pytest.mark.parametrize("change", [{0: -0.3}, {1: 0.5, 2: 0.04}])
def test_what_changes_at_once_is_told_with_the_window_from_which_on(
    first: int, change: dict[int, float]
) -> None:
    size = np.array([change.get(j, 0.0) for j in range(3)])
    after = (np.arange(WINDOWS) >= first) & (np.arange(WINDOWS) // 20 == first // 20)
    told = system(size, along=after.astype(np.float64))
    found = drifts(told, np.arange(3), VALUES, RECORDINGS, STARTS)
    assert {one.place: one.after - one.before for one in found} == pytest.approx(change, abs=0.03)
    assert {one.window for one in found} == {first}
    share = np.mean(after)  # at the optimum of all windows values are about the mean
    assert found[0].before == pytest.approx(-share * change[found[0].place], abs=0.03)


def test_windows_that_scatter_are_no_change() -> None:
    told = system(np.array([-0.2, 0.0, 0.0]), scatter=0.3)
    assert not drifts(told, np.arange(3), VALUES, RECORDINGS, STARTS)


def test_recordings_that_differ_throughout_are_no_change_within_one() -> None:
    second = np.arange(WINDOWS) // 20 == 1
    told = system(np.array([0.5, 0.0, 0.0]), scatter=0.05, along=second.astype(np.float64))
    assert not drifts(told, np.arange(3), VALUES, RECORDINGS, STARTS)


def test_what_stays_changed_in_the_next_recording_is_told_where_it_changed() -> None:
    after = (np.arange(WINDOWS) >= 8).astype(np.float64)
    told = system(np.array([0.5, 0.0, 0.0]), along=after)
    (found,) = drifts(told, np.arange(3), VALUES, RECORDINGS, STARTS)
    assert found.window == 8
    assert found.after - found.before == pytest.approx(0.5, abs=0.03)


def test_a_joint_that_moves_in_a_few_windows_changes_in_none() -> None:
    moved = np.full((WINDOWS, 1, 3), 1e-3)
    moved[:, :, 2] = 1.0
    moved[[3, 14, 25, 38], 0, 0] = moved[[6, 17, 28, 35], 0, 1] = 1.0
    told = system(np.zeros(3), scatter=1.0, moved=moved)
    assert not drifts(
        told, np.arange(3), VALUES, ["one"] * WINDOWS, np.arange(WINDOWS, dtype=float)
    )


@pytest.mark.parametrize("faster", [1.0, 5.0])
def test_ends_are_right_however_motion_changes_and_that_is_told(faster: float) -> None:
    after = (np.arange(WINDOWS) >= 20).astype(np.float64)
    moved = (1.0 + (faster - 1.0) * after)[:, None, None]
    told = system(np.array([0.5, 0.0, 0.0]), along=after, moved=moved)
    names, starts = ["one"] * WINDOWS, np.arange(WINDOWS, dtype=float)
    (found,) = drifts(told, np.arange(3), VALUES, names, starts)
    share = faster**2 / (1.0 + faster**2)  # where the optimum of all windows lies
    assert found.before == pytest.approx(-share * 0.5, abs=0.03)
    assert found.after == pytest.approx((1.0 - share) * 0.5, abs=0.03)
    assert found.alike is (faster == 1.0)


def test_a_few_windows_of_each_recording_tell_no_line() -> None:
    told = system(np.array([-0.3, 0.0, 0.0]))
    names = [k // 5 for k in range(WINDOWS)]
    assert not drifts(told, np.arange(3), VALUES, names, STARTS)


def test_numbers_are_those_of_all_parameters() -> None:
    told = system(np.array([0.0, 0.5, 0.0]))
    (found,) = drifts(told, np.array([1, 2]), VALUES[1:], RECORDINGS, STARTS)
    assert found.place == 1


def few_moves(seed: int, change: float) -> tuple[Drift, ...]:
    """Eighteen parameters, each told by eight of twelve windows that scatter by a tenth."""
    random = np.random.default_rng(seed)
    windows, many = 12, 18
    starts = np.arange(windows, dtype=float)
    moved = np.full((windows, many), 1e-3)
    for j in range(many):
        moved[random.choice(windows, 8, replace=False), j] = 1.0
    columns = moved[:, None, :] * random.normal(size=(windows, 30, many))
    own = 0.1 * random.normal(size=(windows, many))
    own[:, 0] += change * (starts / np.ptp(starts) - 0.5)
    left = np.einsum("wri,wi->wr", columns, own) + 0.05 * random.normal(size=(windows, 30))
    hessians = np.einsum("wri,wrj->wij", columns, columns)
    optimum = np.linalg.solve(hessians.sum(0), np.einsum("wri,wr->i", columns, left))
    gradients = -np.einsum("wri,wr->wi", columns, left - columns @ optimum)
    told = ReducedSystem(hessians.sum(0), gradients.sum(0), hessians, gradients)
    return drifts(told, np.arange(many), np.ones(many), ["one"] * windows, starts)


def test_a_few_windows_scatter_by_little_by_chance() -> None:
    told = [few_moves(seed, change=0.0) for seed in range(30)]
    assert sum(map(bool, told)) <= 1
    sure = [few_moves(seed, change=3.0) for seed in range(10)]
    assert sum(any(one.place == 0 for one in found) for found in sure) == 5, "all with both sides"
