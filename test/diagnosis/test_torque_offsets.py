# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A constant torque looks like the zero of a joint that carries a weight; it is named beside it."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest
from arm_recording import arm_model, simulate, write_experiment

from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.experiment import load_experiment

BALANCED = """<mujoco><compiler angle="radian"/>
<option timestep="0.001" integrator="implicitfast"><flag contact="disable"/></option><worldbody>
<body name="yaw"><joint name="j0" axis="0 1 0" damping="0.1" {range}/>
<inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.02 0.02 0.02"/>
<body name="pitch"><joint name="j1" axis="1 0 0" damping="0.1" {range}/>
<inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.02 0.02 0.02"/>
<body name="tool" gravcomp="{gravcomp}">
<joint name="j2" type="slide" axis="0 0 -1" damping="1"/>
<inertial pos="0 0 -0.3" mass="2" diaginertia="0.01 0.01 0.01"/></body></body></body></worldbody>
<actuator><motor name="m0" joint="j0"/><motor name="m1" joint="j1"/><motor name="m2" joint="j2"/>
</actuator><sensor><jointpos name="p0" joint="j0"/><jointpos name="p1" joint="j1"/>
<jointpos name="p2" joint="j2"/></sensor></mujoco>"""


def test_an_offset_of_a_torque_is_named_beside_the_zero_that_it_looks_like(tmp_path: Path) -> None:
    xml = arm_model(3, 1)
    truth = mujoco.MjSpec.from_string(xml)
    truth.actuators[0].biastype = mujoco.mjtBias.mjBIAS_AFFINE
    truth.actuators[0].biasprm[0] = 0.4
    file = write_experiment(tmp_path, xml, simulate(truth.to_xml(), 1, duration=6.0))
    (found,) = check_experiment(load_experiment(file), None)
    assert found.kind is FindingKind.OFFSET
    assert found.signals == ("p0",)
    assert "'m0' is off by -0.4, as a current may be" in found.sentence


@pytest.mark.parametrize("limits", ["", 'range="-1.8 1.8"'])
def test_no_zero_takes_a_joint_out_of_the_range_that_it_keeps(tmp_path: Path, limits: str) -> None:
    """As of a surgical arm whose counterweight the model lacks: half a turn would explain it."""
    recording = simulate(BALANCED.format(range="", gravcomp=2), 1, duration=6.0)
    model = BALANCED.format(range=limits, gravcomp=0)
    found = check_experiment(load_experiment(write_experiment(tmp_path, model, recording)), None)
    assert any(one.kind is FindingKind.OFFSET for one in found) is not bool(limits)
