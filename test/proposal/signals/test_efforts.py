# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Efforts are those beside the position, or what a controller's state says that it put out."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.efforts import before_gears, joint_efforts
from sysid_ros.proposal.signals.lines import Line

TIMES = 1e9 + np.arange(0.0, 10.0, 0.01)
ARM = """<mujoco><worldbody><body><joint name="elbow"/><geom size=".1" mass="1"/></body>
  </worldbody></mujoco>"""


def told(field: str, quantity: str, *, command: bool = False) -> Channel:
    kind = "control_msgs/msg/JointTrajectoryControllerState"
    values = np.sin(TIMES + len(field))
    return Channel(
        "/state", kind, f"{field}[elbow]", "elbow", quantity, 0, command, (TIMES,), (values,)
    )


@pytest.mark.parametrize(
    ("field", "command", "taken"),
    [
        ("motor_state.effort", False, "measured_state.effort[elbow]"),  # beside the position
        ("output.effort", True, "output.effort[elbow]"),
        ("reference.effort", True, None),  # a feedforward, beside which a controller adds its own
    ],
)
def test_an_effort_is_that_which_acts(field: str, command: bool, taken: str | None) -> None:
    model = mujoco.MjModel.from_xml_string(ARM)
    position = told("measured_state.position", "position")
    channels = [position, told(field, "effort", command=command)]
    channels += [] if command else [told("measured_state.effort", "effort")]
    lines = joint_efforts(model, channels, {0: (position, True)})
    assert [line.channel.field for line in lines] == ([] if taken is None else [taken])


@pytest.mark.parametrize(("joint", "sure", "doubted"), [
    ("elbow", True, False), ("elbow", False, False), ("third", False, True),
])  # fmt: skip
def test_an_effort_under_a_name_that_is_a_guess_is_one(
    joint: str, sure: bool, doubted: bool
) -> None:
    """Where several numbers of the joint's own name are positions, its effort is no guess."""
    model = mujoco.MjModel.from_xml_string(ARM.replace("elbow", joint))
    channels = [told("position", "position"), told("effort", "effort")]
    (line,) = joint_efforts(model, channels, {0: (channels[0], sure)})
    assert bool(line.doubt) == doubted


@pytest.mark.parametrize(
    ("factor", "delay", "most", "scale"),
    [
        (1.0, 0.004, 0.0, 1.0),  # a current, asked for and measured
        (1.0, 0.004, 2.0, 1.0),
        (1.0, 0.004, 0.1, 0.02),  # a joint's torque, of a motor that takes 0.1 at most
        (50.0, 0.004, 0.0, 0.02),  # the torque on the joint
        (-1.0, 0.004, 0.0, 0.02),
        (1.0, 0.5, 0.0, 0.02),  # nothing follows the command
    ],
)
def test_an_effort_that_repeats_its_command_is_the_motors_own(
    factor: float, delay: float, most: float, scale: float
) -> None:
    limit = f'ctrlrange="-{most} {most}"' if most else ""
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="elbow"/><geom size=".1"/></body></worldbody>'
        f'<actuator><motor name="motor" joint="elbow" gear="50" {limit}/></actuator></mujoco>'
    )
    asked, late = (np.sin(7.0 * at) + np.sin(11.3 * at) for at in (TIMES, TIMES - delay))
    state, kind = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
    effort = Channel(
        "/joint_states", state, "effort[elbow]", "elbow", "effort", 0, False, (TIMES,),
        (factor * late,),
    )  # fmt: skip
    command = Channel("/commands", kind, "data[0]", "", "effort", 0, True, (TIMES,), (asked,))
    told = [Line("actuator", "motor", effort, scale=0.02)]
    (line,) = before_gears(model, told, {"motor": command})
    assert line.scale == scale
    assert bool(line.doubt) == (scale == 1.0)
    assert before_gears(model, told, {}) == told


def numbered(field: str, quantity: str, place: int = 1, row: int = 7) -> Channel:
    """One number of an array that names no joint."""
    values = np.sin(TIMES + len(field))
    return Channel(
        "/lbr/state", "lbr_fri_idl/msg/LBRState", f"{field}[{place}]", "", quantity, place, False,
        (TIMES,), (values,), row=row,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("efforts", "taken"),
    [
        ([("measured_torque", 1, 7), ("external_torque", 1, 7)], "measured_torque[1]"),
        ([("torque", 1, 7)], "torque[1]"),
        ([("external_torque", 1, 7)], None),  # what others exert, which moves no motor
        ([("torque_a", 1, 7), ("torque_b", 1, 7)], None),  # either could be it
        ([("measured_torque", 2, 7)], None),  # another joint's
        ([("measured_torque", 1, 6)], None),  # an array of other things
    ],
)
def test_an_effort_without_a_name_is_that_of_the_same_place(
    efforts: list[tuple[str, int, int]], taken: str | None
) -> None:
    model = mujoco.MjModel.from_xml_string(ARM)
    position = numbered("measured_joint_position", "position")
    channels = [position, *(numbered(field, "effort", *rest) for field, *rest in efforts)]
    lines = joint_efforts(model, channels, {0: (position, True)})
    assert [line.channel.field for line in lines] == ([] if taken is None else [taken])
