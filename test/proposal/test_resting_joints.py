# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A joint that lies on its stop all the time is not compared; one that visits it is."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.proposal.resting_joints import resting_joints
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line

MODEL = """<mujoco><compiler angle="radian" autolimits="true"/><worldbody>
  <body><joint name="tilt" range="-1 1"/><geom size=".1" mass="1"/></body>
  <body><joint name="pan"/><geom size=".1" mass="1"/></body></worldbody>
  <sensor><jointpos name="tilt_angle" joint="tilt"/></sensor></mujoco>"""
TIMES = np.arange(0.0, 10.0, 0.01)
SUNK = 1.003 + 1e-3 * np.sin(TIMES)  # a soft stop gives
VISITS = np.minimum(1.3 * np.sin(TIMES), 1.0)


def line(kind: str, name: str, values: FloatArray) -> Line:
    channel = Channel(
        "/joint_states", "sensor_msgs/msg/JointState", "position[tilt]", "tilt", "position", 0,
        False, (TIMES,), (values,),
    )  # fmt: skip
    return Line(kind, name, channel)


@pytest.mark.parametrize(("kind", "name"), [("qpos", "tilt"), ("sensor", "tilt_angle")])
def test_a_joint_on_its_stop_is_found(kind: str, name: str) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    (found,) = resting_joints(model, [line(kind, name, SUNK)]).items()
    joint, resting = found
    assert joint == "tilt"
    assert resting.signal == (kind, name)
    assert resting.share == 1.0
    assert resting.noise > 10.0 * np.std(SUNK)


def test_others_are_not() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    lines = [line("qpos", "tilt", VISITS), line("qpos", "pan", SUNK)]  # pan has no stop
    assert resting_joints(model, lines) == {}
