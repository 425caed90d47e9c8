# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a changed problem does to estimates, where some windows leap."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import ReducedSystem
from sysid_ros.engine.uncertainty import BY_CHANCE, StepChange, step_change

WINDOWS, ROWS = 30, 60
CALM = np.arange(0, WINDOWS, 3)  # every third
MOVED = np.array([-0.5, 0.2])  # by which the change moves the optimum
BOTH = np.arange(2)


def system(slopes: FloatArray, residuals: FloatArray) -> ReducedSystem:
    """Sums of windows' slopes, (n, rows, 2), and residuals, (n, rows)."""
    hessians = np.einsum("wri,wrj->wij", slopes, slopes)
    gradients = np.einsum("wri,wr->wi", slopes, residuals)
    return ReducedSystem(hessians.sum(axis=0), gradients.sum(axis=0), hessians, gradients)


def recorded(seed: int, leap: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Slopes, and residuals before and after a change, behind which most windows leap."""
    rng = np.random.default_rng(seed)
    slopes = 0.3 * rng.normal(size=(WINDOWS, ROWS, 2))
    before = 0.02 * rng.normal(size=(WINDOWS, ROWS))
    leaps = leap * rng.normal(1.0, 0.3, size=(WINDOWS, 1)) * slopes[:, :, 0]
    leaps[CALM] = 0.0
    return slopes, before, before - slopes @ MOVED - leaps


def change(seed: int, leap: float, used: IndexArray) -> StepChange:
    slopes, before, after = recorded(seed, leap)
    here, there = system(slopes[used], before[used]), system(slopes[used], after[used])
    return step_change(here, there, np.arange(len(used)), BOTH)


def test_windows_that_leap_do_not_hide_what_the_others_tell() -> None:
    every, calm = (change(1, -MOVED[0], used) for used in (np.arange(WINDOWS), CALM))
    assert abs(every.values[0]) < 0.5 * abs(MOVED[0])  # most of it is hidden
    found = every.or_farther(calm)
    assert abs(found.values[0] - MOVED[0]) < 0.05
    assert abs(found.values[0]) > BY_CHANCE * found.chance[0]


def test_without_leaps_some_windows_widen_nothing_beyond_chance() -> None:
    every, calm = (change(2, 0.0, used) for used in (np.arange(WINDOWS), CALM))
    found = every.or_farther(calm)
    assert np.all(np.abs(found.values) <= np.abs(every.values) + 0.02)
    assert np.all(np.abs(found.values - MOVED) < 0.02)


def test_windows_that_hardly_tell_a_parameter_are_not_asked_for_it() -> None:
    slopes, before, after = recorded(3, 0.0)
    slopes[CALM, :, 0] *= 0.1
    after[CALM] = before[CALM] + slopes[CALM] @ [5.0, 0.0]
    parts = []
    for used in (np.arange(WINDOWS), CALM):
        here, there = system(slopes[used], before[used]), system(slopes[used], after[used])
        parts.append(step_change(here, there, np.arange(len(used)), BOTH))
    every, calm = parts
    assert abs(calm.values[0]) > 4.0  # surely
    assert every.or_farther(calm).values[0] == every.values[0]
