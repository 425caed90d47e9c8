# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that are mapped again and again while they grow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mapped_signals import COMMAND, SHOULDER, Mapping, mapped

from sysid_ros.experiment.experiment_schema import MaskConfig, SignalConfig
from sysid_ros.live_estimation.message_buffer import MessageBuffer, known_until
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.mapping.mapping_settings import SignalKind

from .conftest import START_NS, Entry

NS = 1_000_000_000
PLAYED = SignalConfig(SignalKind.ACTUATOR, "motor", "/trajectory", "points[*].positions[elbow]")


def states(arm):
    return [entry for entry in arm if entry.topic == "/joint_states"]


@pytest.fixture
def trajectory(ros2):
    def make(stamp_ns, points):
        types, empty = ros2.types, np.empty(0)
        time = types["builtin_interfaces/msg/Time"](*divmod(stamp_ns, NS))
        rows = [
            types["trajectory_msgs/msg/JointTrajectoryPoint"](
                np.array([value]), empty, empty, empty,
                types["builtin_interfaces/msg/Duration"](int(t), round(t % 1 * 1e9)),
            )
            for t, value in points
        ]  # fmt: skip
        return types["trajectory_msgs/msg/JointTrajectory"](
            types["std_msgs/msg/Header"](time, ""), ["elbow"], rows
        )

    return make


def test_a_trajectory_is_no_measurement_of_the_future(arm, write_bag, trajectory):
    message = trajectory(START_NS, [(0.0, 0.0), (20.0, 1.0)])
    bag = write_bag([Entry("/trajectory", START_NS, message), *states(arm)])
    assert known_until(mapped(bag, PLAYED, SHOULDER)) == 0.99


@pytest.mark.parametrize(
    ("sent", "points", "unknown"),
    [
        ((0.0,), np.arange(0.0, 0.3, 0.02), ()),  # it holds where that ended
        ((0.0, 0.1, 0.2, 0.8), np.arange(0.0, 2.0, 0.02), ((0.62, 0.9),)),  # one may be lost
    ],
)
def test_a_silence_loses_trajectories_and_none_of_their_points(
    arm, write_bag, trajectory, sent, points, unknown
):
    heard = [e for e in states(arm) if not 380_000_000 < e.log_ns - START_NS < 620_000_000]
    stamps = [START_NS + round(1e9 * time) for time in sent]
    rows = [(float(time), 0.0) for time in points]
    told = [Entry("/trajectory", stamp, trajectory(stamp, rows)) for stamp in stamps]
    bag = write_bag(sorted([*told, *heard], key=lambda one: one.log_ns))
    result = mapped(bag, PLAYED, SHOULDER)
    assert len(result.silent) == 1
    np.testing.assert_allclose(result.controls[0].gaps, unknown, atol=0.01)


def test_commands_and_masks_outlast_what_is_forgotten(arm, write_bag, multi_array, ros2):
    on = ros2.types["std_msgs/msg/Bool"](True)
    late = [replace(e, log_ns=e.log_ns + 1000) for e in states(arm)]
    entries = [Entry("/enabled", START_NS, on), Entry("/command", START_NS, multi_array(1)), *late]
    mask = MaskConfig(topic="/enabled", field="data")
    with open_recording(write_bag(entries)) as recording:
        buffer = MessageBuffer(Mapping([COMMAND, SHOULDER], enabled_when=(mask,)), recording)
        messages = list(recording.messages(buffer.topics))
    for begin in range(0, len(messages), 34):
        buffer.add(messages[begin : begin + 34])
        assert not buffer.mapped("live").masked
        buffer.forget_before(0.01 * begin)


def test_lost_commands_are_filled_in_as_in_the_whole_recording(arm, write_bag, multi_array):
    kept = [k for k in range(50) if k not in (20, 21, 40)]
    sent = [
        replace(states(arm)[2 * k], topic="/command", message=multi_array(float(k))) for k in kept
    ]
    entries = sorted([*states(arm), *sent], key=lambda entry: entry.log_ns)
    with open_recording(write_bag(entries)) as recording:
        buffer = MessageBuffer(Mapping([COMMAND, SHOULDER]), recording)
        messages = list(recording.messages(buffer.topics))
    for begin in range(0, len(messages), 10):
        buffer.add(messages[begin : begin + 10])
        (control,) = buffer.mapped("live").controls
        buffer.forget_before(control.times[-1] - 0.3)
    np.testing.assert_allclose(np.diff(control.values), 1.0, rtol=1e-9)
    assert control.values[0] > 20.0 and control.values[-1] == 49.0
