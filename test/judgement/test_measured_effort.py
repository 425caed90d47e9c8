# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A measured effort as input is warned about; positions and velocities fed to servos are not."""

from __future__ import annotations

import mujoco
import pytest
from outcomes import outcome as synthetic

from sysid_ros.experiment import parse_experiment
from sysid_ros.judgement.verdict import warnings

MODEL = mujoco.MjModel.from_xml_string("""
<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><actuator>
  <motor name="motor" joint="j"/><position name="servo" joint="j" kp="5"/>
  <velocity name="wheel" joint="j" kv="1"/></actuator></mujoco>""")


@pytest.mark.parametrize(
    ("actuator", "field", "interpolation", "warned"),
    [
        ("motor", "effort[j]", None, True),
        ("motor", "data[0]", "linear", True),
        ("motor", "data[0]", "hold", False),  # a command
        ("servo", "position[j]", "linear", False),
        ("servo", "actual.positions[0]", "linear", False),
        ("servo", "data[0]", "linear", False),
        ("wheel", "velocity[j]", "linear", False),
        ("wheel", "data[0]", "linear", False),
        ("servo", "effort[j]", "linear", True),
        ("motor", "0.5 * effort[j] - effort[k]", None, True),
        ("servo", "0.5 * effort[j] - effort[k]", "linear", True),
        ("servo", "0.5 * position[j] - position[k]", "linear", False),
    ],
)
def test_the_warning_goes_by_what_the_signal_is(
    actuator: str, field: str, interpolation: str | None, warned: bool
) -> None:
    how = f", interpolation: {interpolation}" if interpolation else ""
    experiment = parse_experiment(
        "model: m.xml\nsequences: [bag]\nsignals:\n"
        f'  - {{actuator: {actuator}, topic: /t, field: "{field}"{how}}}\n'
        '  - {qpos: j, topic: /joint_states, field: "position[j]"}\n'
    )
    found = warnings(experiment, synthetic(), MODEL)
    assert any("measured effort is used as input" in text for text in found) is warned
