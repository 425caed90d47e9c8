# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions that a controller times: the curve that it makes of them, their place and their end."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.excitation import (
    CommandLimits,
    ControlledMotion,
    ExcitationError,
    ExcitationPath,
    SplineReference,
    TabulatedReference,
    TrajectoryProgress,
)

ONES = np.ones(2)
LIMITS = CommandLimits(-2.0 * ONES, 2.0 * ONES, 3.0 * ONES, 12.0 * ONES)
KNOTS = np.linspace(0.0, 6.0, 13)
SHAPE = np.array([np.sin(KNOTS) * np.sin(0.5 * KNOTS), 0.8 * np.sin(2.0 * KNOTS)]).T
CORNERS = np.arange(10.0)
ZIGZAG = np.array(
    [[0, 0, 1, -0.4, 0.6, 0.5, -0.8, 0.3, 0, 0], [0, 0, -1, 0, 1, -0.6, 0, 1, 0, 0]]
).T
TABLE = SHAPE * np.sin(np.pi * KNOTS / 6.0)[:, None] ** 2


def motion(limits: CommandLimits = LIMITS) -> ControlledMotion:
    path = ExcitationPath(SplineReference(("a", "b"), KNOTS, TABLE), np.array([0.1, -0.1]))
    return ControlledMotion(path, limits, period=0.01, stop_time=0.3)


def test_the_curve_through_the_points_is_the_path() -> None:
    path = ExcitationPath(SplineReference(("a", "b"), KNOTS, TABLE), np.array([0.1, -0.1]))
    curve = motion().trajectory
    times = np.linspace(-1.0, 11.0, 5003)
    np.testing.assert_allclose(curve.commands(times), path.commands(times), atol=1e-6)
    _, velocity, acceleration = curve.states(times)
    assert np.abs(velocity).max() <= 3.0 and np.abs(acceleration).max() <= 12.0
    ends = curve.states(np.array([0.0, curve.duration]))[1:]
    np.testing.assert_allclose(ends, 0.0, atol=1e-12)


def test_what_would_leave_its_limits_is_refused() -> None:
    slow = CommandLimits(-2.0 * ONES, 2.0 * ONES, ONES, 12.0 * ONES)
    with pytest.raises(ExcitationError, match="moves faster than its limit 1"):
        motion(slow)


@pytest.mark.parametrize("place", [0.01, 1.99, 2.7, 4.3, 7.5])
def test_a_stop_goes_on_along_the_path_and_rests_within_the_limits(place: float) -> None:
    whole = motion()
    stop = whole.stop_at(place, 0.15, place)
    assert stop is not None and stop.times[0] <= place < stop.duration
    arrives = np.arange(stop.times[0], place + 0.15, 1e-3)  # the controller may be anywhere here
    np.testing.assert_allclose(
        stop.commands(arrives), whole.trajectory.commands(arrives), atol=1e-4
    )
    times = np.arange(stop.times[0], stop.duration, 1e-3)
    _, velocity, acceleration = stop.states(times)
    assert np.abs(velocity).max() <= 3.0 and np.abs(acceleration).max() <= 12.0 * 1.002
    assert not stop.velocities[-1].any() and not stop.accelerations[-1].any()
    where = whole.trajectory.commands(np.arange(0.0, 10.0, 1e-3))
    rest = np.abs(where - stop.positions[-1]).sum(axis=1)
    assert rest.min() < 2e-3  # on the path


def test_a_stop_is_joined_without_a_step_until_shortly_before_it_brakes() -> None:
    whole = motion()
    stop = whole.stop_at(4.3, 0.3, 4.3)
    times = np.arange(4.3, 4.49, 1e-3)
    np.testing.assert_allclose(stop.commands(times), whole.trajectory.commands(times), atol=5e-6)


def test_a_stop_that_brakes_as_hard_as_it_may_keeps_the_limit() -> None:
    limits = CommandLimits(-2.0 * ONES, 2.0 * ONES, 2.0 * ONES, 4.0 * ONES)
    stop = motion(limits).stop_at(4.85, 0.15, 4.85)
    times = np.arange(stop.times[0], stop.duration, 1e-3)
    assert 3.9 < np.abs(stop.states(times)[2]).max() <= 4.0 * 1.002
    assert not stop.velocities[-1].any() and not stop.accelerations[-1].any()


@pytest.mark.parametrize("period", [0.01, 0.02, 0.05, 1.0 / 30.0])
@pytest.mark.parametrize("lead", [0.1, 0.4, 2.0])
def test_a_stop_keeps_the_limits_with_few_points_and_around_corners(
    period: float, lead: float
) -> None:
    """Its way is the whole motion's own curve, which was checked, until it fades into the stop."""
    limits = CommandLimits(-2.0 * ONES, 2.0 * ONES, 2.0 * ONES, 4.0 * ONES)
    path = ExcitationPath(TabulatedReference(("a", "b"), CORNERS, ZIGZAG, 3.2 * ONES), np.zeros(2))
    whole = ControlledMotion(path, limits, period=period, stop_time=0.1)
    for place in np.arange(0.1, 7.0, 0.37):
        stop = whole.stop_at(place, lead, place)
        times = np.arange(stop.times[0], stop.duration, 1e-3)
        positions, velocity, acceleration = stop.states(times)
        assert np.abs(velocity).max() <= 2.0 and np.abs(acceleration).max() <= 4.0 * 1.002
        joined = times < place + lead - 0.1
        onward = whole.trajectory.commands(times[joined])
        np.testing.assert_allclose(positions[joined], onward, atol=1e-9)


def test_near_its_end_a_motion_ends_by_itself() -> None:
    whole = motion()
    end = whole.trajectory.duration
    rest = whole.stop_at(end - 0.1, 0.15, end - 0.1)
    times = np.linspace(end - 0.1, end, 20)
    np.testing.assert_array_equal(rest.commands(times), whole.trajectory.commands(times))
    assert whole.stop_at(end + 0.1, 0.15, end + 0.1) is None


@pytest.mark.parametrize("speed", [1.0, 0.7])
def test_the_place_is_found_whatever_the_controllers_clock_and_speed(speed: float) -> None:
    trajectory = motion().trajectory
    progress = TrajectoryProgress(trajectory, 50.0)
    rng = np.random.default_rng(0)
    for k in range(1, 120):
        passed = 0.05 * k
        place = speed * passed
        late = rng.uniform(0.0, 0.04)
        reference = trajectory.commands(np.array([place]))[0]
        progress.observe(50.0 + passed + late, 9000.0 + passed, reference[None])
        assert progress.away.max() < 6e-3  # while it creeps, positions tell no time
    assert progress.begun == pytest.approx(9000.0 + passed - place, abs=2e-3)
    slack = 0.041 + (1.0 - speed) * 0.4  # of the last messages the one that came first
    assert progress.place(50.0 + passed) == pytest.approx(place, abs=slack)


def test_another_trajectory_is_noticed() -> None:
    trajectory = motion().trajectory
    progress = TrajectoryProgress(trajectory, 50.0)
    progress.observe(51.0, 9001.0, trajectory.commands(np.array([1.0])) + 0.5)
    assert progress.away.min() > 0.3
