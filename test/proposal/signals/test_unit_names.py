# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names say units, of joints that can have them and of nothing else."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.unit_names import told_unit

MODEL = """<mujoco><worldbody>
  <body><joint name="drum"/><geom size=".1" mass="1"/></body>
  <body><joint name="hoist" type="slide"/><geom size=".1" mass="1"/></body></worldbody>
  <actuator><velocity name="winch" joint="drum" kv="9"/><motor name="brake" joint="drum"/>
  <position name="lift" joint="hoist" kp="9"/><position name="screw" joint="hoist" gear="400"/>
  </actuator><sensor><jointpos name="encoder" joint="drum"/>
  <jointactuatorfrc name="load" joint="drum"/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("kind", "name", "place", "unit"),
    [
        ("actuator", "winch", "/drum/speed_setpoint_rpm data", "rpm"),
        ("actuator", "winch", "/drum/command speed_deg", "deg/s"),
        ("actuator", "winch", "/rpm_drives/command data", ""),  # a robot's name, or a room's
        ("actuator", "brake", "/drum/torque_rpm data", ""),
        ("actuator", "lift", "/lift/target height_mm", "mm"),
        ("actuator", "screw", "/lift/target height_mm", ""),  # which takes turns of its motor
        ("qpos", "drum", "/drum/angle_deg data", "deg"),
        ("qpos", "drum", "/states position[drum_deg]", ""),  # a joint's name, not the array's
        ("qpos", "hoist", "/hoist/angle_deg data", ""),
        ("qvel", "drum", "/drum/rpm data", "rpm"),
        ("servo", "hoist", "/hoist/target position_mm", "mm"),
        ("qpos", "drum", "/drum_rev2 data", ""),  # of hardware
        ("sensor", "encoder", "/drum/angle_deg data", "deg"),
        ("sensor", "load", "/drum/torque_deg data", ""),
        ("sensor", "drum", "/drum/angle_deg data", ""),  # one that the model lacks
    ],
)
def test_a_unit_is_said_by_the_last_part_of_a_name(
    kind: str, name: str, place: str, unit: str
) -> None:
    topic, field = place.split()
    part = np.arange(3.0)
    channel = Channel(topic, "std_msgs/msg/Float64", field, "", "", 0, True, (part,), (part,))
    model = mujoco.MjModel.from_xml_string(MODEL)
    assert told_unit(model, Line(kind, name, channel)) == unit


@pytest.mark.parametrize(("kind", "name", "told", "unit"), [
    ("qpos", "drum", "rev", "rev"), ("qvel", "drum", "deg/s", "deg/s"),
    ("qvel", "drum", "rev", "rev"), ("qpos", "hoist", "deg", ""), ("actuator", "brake", "rev", ""),
])  # fmt: skip
def test_a_unit_that_a_definition_says_is_taken_where_no_name_says_one(
    kind: str, name: str, told: str, unit: str
) -> None:
    part = np.arange(3.0)
    channel = Channel("/a", "a_msgs/msg/A", "b", "", "", 0, True, (part,), (part,), unit=told)
    model = mujoco.MjModel.from_xml_string(MODEL)
    assert told_unit(model, Line(kind, name, channel)) == unit
    named = Line(kind, name, replace(channel, field="b_deg"))
    assert "rev" not in told_unit(model, named)
