# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Topics and parts of messages that no signal reads are named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.unread import unread


def test_what_is_recorded_and_not_read_is_named() -> None:
    times, imu = np.arange(5.0), "sensor_msgs/msg/Imu"

    def channel(topic: str, field: str, msgtype: str, values: np.ndarray = times) -> Channel:
        return Channel(topic, msgtype, field, "", "", 0, False, (times,), (values,))

    gyro = channel("/imu", "angular_velocity.x", imu)
    others = [
        channel("/imu", "orientation.w", imu),
        channel("/imu", "linear_acceleration.z", imu, np.zeros(5)),  # never changes
        channel("/depth", "fluid_pressure", "sensor_msgs/msg/FluidPressure"),
    ]
    line = Line("sensor", "gyro", replace(gyro, field="angular_velocity"))
    unused = unread([gyro, *others], [line], set())
    assert unused == ("/depth", "orientation of /imu")


def test_the_terms_of_a_sum_are_read() -> None:
    times, kind = np.arange(5.0), "geometry_msgs/msg/TwistStamped"
    speeds = [
        Channel("/cmd_vel", kind, f"twist.{part}", "", "", 0, True, (times,), (times,))
        for part in ("linear.x", "angular.z")
    ]
    plain = [replace(one, topic="/cmd", field=one.field.removeprefix("twist.")) for one in speeds]
    sums = [
        replace(one, field=f"2 * {one.field} - 3 * {other.field}")
        for one, other in (speeds, plain, plain[::-1])
    ]
    lines = [Line("velocity_servo", "wheel", one) for one in sums]
    assert unread([*speeds, *plain], lines, set()) == ()
    assert unread([*speeds, *plain], lines[:1], set()) == ("/cmd",)
