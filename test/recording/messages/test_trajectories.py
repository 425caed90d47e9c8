# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectory messages as commands over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapped_signals import SHOULDER, mapped

from sysid_ros.errors import DataError
from sysid_ros.experiment.experiment_schema import SignalConfig
from sysid_ros.recording.mapping import ClockCorrection, control_time_series
from sysid_ros.recording.mapping.mapping_settings import SignalKind
from sysid_ros.recording.messages import played
from sysid_ros.recording.messages.trajectories import Trajectory

from ..conftest import START_NS, Entry

PLAYED = SignalConfig(SignalKind.ACTUATOR, "motor", "/trajectory", "points[*].positions[elbow]")


def line(*points: tuple[float, float]) -> Trajectory:
    table = np.array(points, dtype=float).reshape(-1, 2)
    return Trajectory(table[:, 0], table[:, 1:])


@pytest.fixture
def trajectory(ros2) -> Any:
    """Make a JointTrajectory from a stamp and one (time, position, velocity or None) per point."""

    def make(stamp_ns, names, points) -> Any:
        types = ros2.types
        stamp = types["builtin_interfaces/msg/Time"](stamp_ns // 10**9, stamp_ns % 10**9)
        empty = np.empty(0)

        def point(t, positions, velocities=None):
            duration = types["builtin_interfaces/msg/Duration"](int(t), round(t % 1 * 1e9))
            rates = empty if velocities is None else np.array(velocities, dtype=float)
            return types["trajectory_msgs/msg/JointTrajectoryPoint"](
                np.array(positions, dtype=float), rates, empty, empty, duration
            )

        return types["trajectory_msgs/msg/JointTrajectory"](
            types["std_msgs/msg/Header"](stamp, ""), list(names), [point(*p) for p in points]
        )

    return make


def control(path, signal=PLAYED, **options):
    return mapped(path, signal, SHOULDER, **options)


def test_points_are_joined_by_lines_until_the_next_trajectory(arm, write_bag, trajectory) -> None:
    at = START_NS - 100_000_000
    first = trajectory(at, ["wrist", "elbow"], [(0.1, [9, 0.0]), (0.6, [9, 1.0]), (0.9, [9, 4.0])])
    second = trajectory(0, ["elbow"], [(0.2, [2.0])])  # at once, that is when it is published
    other = trajectory(at, ["wrist"], [(0.3, [7.0])])
    entries = [
        *arm,
        Entry("/trajectory", at, first),
        Entry("/trajectory", START_NS + 100_000_000, other),
        Entry("/trajectory", START_NS + 600_000_000, second),
    ]
    result = control(write_bag(sorted(entries, key=lambda e: e.log_ns)))
    (motor,) = result.controls
    assert not motor.held
    assert motor.gaps == (), "a trajectory is known however far its points lie apart"
    given_at = [0.0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.99]
    expected = [0.0, 0.5, 1.0, 2.0, 2.0, 2.0, 2.0]
    series = control_time_series(result)
    np.testing.assert_allclose(np.interp(given_at, series.times, series.data[:, 0]), expected)


def test_velocities_make_cubics(arm, write_bag, trajectory) -> None:
    message = trajectory(START_NS, ["elbow"], [(0.0, [0.0], [0.0]), (1.0, [1.0], [0.0])])
    result = control(write_bag([Entry("/trajectory", START_NS, message), *arm]))
    motor = result.controls[0]
    t = motor.times
    assert np.diff(t).max() < 0.011
    np.testing.assert_allclose(motor.values, 3 * t**2 - 2 * t**3, atol=1e-9)


def test_the_last_point_alone(arm, write_bag, trajectory) -> None:
    messages = [
        Entry("/trajectory", START_NS + k * 50_000_000,
              trajectory(0, ["elbow"], [(0.1, [0.0]), (0.2, [float(k)])]))
        for k in range(20)
    ]  # fmt: skip
    bag = write_bag(sorted([*arm, *messages], key=lambda e: e.log_ns))
    last = SignalConfig(PLAYED.kind, "motor", "/trajectory", "points[-1].positions[elbow]")
    motor = control(bag, last).controls[0]
    np.testing.assert_array_equal(motor.values, np.arange(20))
    assert motor.held


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(-5, 5)), min_size=1, max_size=5),
    st.floats(-1.0, 4.0),
)
def test_a_new_trajectory_replaces_what_was_still_to_come(points, start) -> None:
    points = sorted({round(t, 3): v for t, v in points}.items())
    old, new = line((0.0, 1.0), (2.0, 3.0)), line(*points)
    times, values = played(np.array([0.0, max(start, 0.0)]), [old, new])
    start = max(start, 0.0)
    assert np.all(np.diff(times) > 0.0)
    assert values[-1] == points[-1][1]
    before = np.linspace(0.0, start, 7)[:-1] - 2e-6
    expected = np.interp(before, [0.0, 2.0], [1.0, 3.0])
    if start > 1e-3:
        np.testing.assert_allclose(np.interp(before, times, values), expected, atol=1e-9)
    after = start + np.array([t for t, _ in points])
    np.testing.assert_allclose(np.interp(after, times, values), [v for _, v in points], atol=1e-9)


def test_a_trajectory_without_points_stops_where_the_command_is() -> None:
    times, values = played(np.array([0.0, 0.5]), [line((0.0, 0.0), (1.0, 1.0)), line()])
    np.testing.assert_allclose((times[-1], values[-1]), (0.5, 0.5))


def test_what_is_no_trajectory(arm, write_bag, trajectory, multi_array) -> None:
    wrong = SignalConfig(PLAYED.kind, "motor", "/command", "data[*]")
    with pytest.raises(DataError, match=r"\[\*\] stands for the points of a trajectory"):
        control(write_bag(arm), wrong)
    message = trajectory(0, ["wrist"], [(0.1, [1.0])])
    bag = write_bag([Entry("/trajectory", START_NS, message), *arm], "other")
    with pytest.raises(DataError, match="none of 1 trajectories moves it"):
        control(bag)
    message = trajectory(0, ["elbow"], [(0.2, [1.0]), (0.1, [2.0])])
    bag = write_bag([Entry("/trajectory", START_NS, message), *arm], "disordered")
    with pytest.raises(DataError, match="time_from_start does not increase"):
        control(bag)


def test_a_cut_keeps_the_line_between_two_points(arm, write_bag, trajectory):
    message = trajectory(START_NS, ["elbow"], [(0.0, [0.0]), (1.0, [1.0])])
    bag = write_bag(
        [
            Entry("/trajectory", START_NS, message),
            *(entry for entry in arm if entry.topic == "/joint_states"),
        ]
    )
    series = control_time_series(control(bag, start=0.3, end=0.7))
    at = np.array([0.3, 0.5, 0.69])
    np.testing.assert_allclose(np.interp(at, series.times, series.data[:, 0]), at, atol=1e-9)


def test_the_first_point_of_a_trajectory_with_velocities_is_reached_on_a_cubic():
    rest = Trajectory(np.array([0.0]), np.array([[1.0, 0.0]]))
    goal = Trajectory(np.array([2.0]), np.array([[3.0, 0.0]]))
    times, values = played(np.array([0.0, 1.0]), [rest, goal])
    assert np.all(np.diff(times) > 0.0)
    s = np.array([0.25, 0.5, 0.75])
    expected = 1.0 + 2.0 * (3.0 * s**2 - 2.0 * s**3)
    np.testing.assert_allclose(np.interp(1.0 + 2.0 * s, times, values), expected, atol=1e-4)


def test_trajectories_that_follow_each_other_on_the_move_go_on_at_their_speed():
    starts = np.arange(0.0, 2.0, 0.04)
    ends = starts[:, None] + 0.04
    states = np.hstack([-0.5 * np.cos(3.0 * ends), 1.5 * np.sin(3.0 * ends)])
    sent = [Trajectory(np.array([0.04]), state[None]) for state in states]
    times, values = played(starts, sent)
    later = times > 0.3  # nothing tells how fast the first one was
    np.testing.assert_allclose(values[later], -0.5 * np.cos(3.0 * times[later]), atol=5e-4)


def test_a_trajectory_that_begins_later_has_no_other_clock(arm, write_bag, trajectory):
    message = trajectory(START_NS + 300_000_000, ["elbow"], [(0.0, [0.0]), (0.2, [1.0])])
    bag = write_bag(
        [
            Entry("/trajectory", START_NS, message),
            *(entry for entry in arm if entry.topic == "/joint_states"),
        ]
    )
    assert not control(bag).warnings
    motor = control(bag, clock_correction=ClockCorrection.DRIFT).controls[0]
    np.testing.assert_allclose(motor.times[:2], [0.3, 0.5], atol=2e-3)


def test_a_trajectory_by_the_clock_of_what_is_measured_is_corrected_with_it(
    arm, write_bag, trajectory
):
    late = 2_000_000_000  # that the recorder's clock is ahead of the robot's
    start = START_NS + 300_000_000
    message = trajectory(start, ["elbow"], [(0.0, [0.0]), (0.2, [1.0])])
    states = [
        Entry(entry.topic, entry.log_ns + late, entry.message)
        for entry in arm
        if entry.topic == "/joint_states"
    ]
    bag = write_bag([Entry("/trajectory", start + late + 1_000_000, message), *states])
    motor = control(bag, clock_correction=ClockCorrection.DRIFT).controls[0]
    np.testing.assert_allclose(motor.times[:2], [0.3, 0.5], atol=2e-3)


def test_samples_of_a_curve_increase_at_todays_times():
    """Where doubles are 0.2 us apart, knots and what lies between them fell on one."""
    offsets = np.cumsum(np.full(12, 0.1))  # not the multiples of 0.01 that they look like
    curve = Trajectory(offsets, np.stack([np.sin(offsets), np.cos(offsets)], axis=1))
    times, values = played(np.array([1.77e9]), [curve])
    assert np.diff(times).min() > 1e-3 and np.diff(times).max() < 0.011
    np.testing.assert_allclose(values, np.sin(times - 1.77e9), atol=1e-5)
