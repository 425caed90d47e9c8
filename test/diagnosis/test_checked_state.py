# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is known of recordings while they are checked.

A delay beside a low-pass of the model may be that of a slower one, and is told as both.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest
from arm_recording import arm_model, simulate, write_experiment
from planted_mistakes import checked, recordings
from robot_kinds import servo_arm
from robot_to_try import ARM_PLAN, true_joint

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind
from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.experiment import load_experiment
from sysid_ros.rehearsal import TrueParameter


@pytest.mark.parametrize("lag", [0.04, 0.0])
def test_a_delay_beside_a_low_pass_is_told_as_a_longer_one_too(tmp_path: Path, lag: float) -> None:
    spec = servo_arm()
    for actuator in spec.actuators if lag else ():
        actuator.dyntype, actuator.dynprm[0] = mujoco.mjtDyn.mjDYN_FILTEREXACT, lag
    slower = (TrueParameter("actuator", "*", "time_constant", lag + 0.03),) if lag else ()
    plan = replace(ARM_PLAN, duration=6.0, truth=(*true_joint("j0", damping=0.4), *slower))
    robot = recordings(spec, plan, tmp_path)
    [found] = checked(robot, robot.signals, late=not lag)
    assert found.kind is FindingKind.LAG
    assert ("time constant of 'm0' longer than the model's 0.04 s" in found.sentence) == bool(lag)


@pytest.mark.parametrize(("free", "is_open"), [("j0_servo", True), ("j1_servo", False)])
def test_of_a_servo_that_holds_what_nothing_measures_no_gain_is_asked(
    tmp_path: Path, free: str, is_open: bool
) -> None:
    """Else beside a joint that stands no mass would be tested."""
    model = arm_model(1, 2, servos=True)
    file = write_experiment(tmp_path, model, simulate(model, 1))
    spec = mujoco.MjSpec.from_string(model)
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    (tmp_path / "arm.xml").write_text(spec.to_xml())
    signals = [
        '{servo: j0, topic: /torque, field: "data[0]"}',
        '{servo: j1, topic: /joint_states, field: "position[j1]"}',
        '{sensor: p0, topic: /joint_states, field: "position[j0]"}',
    ]
    file.write_text(
        f"model: arm.xml\nsequences: [bag]\nsignals: [{', '.join(signals)}]\n"
        f"parameters: [{{actuator: {free}, kp: }}]\n"
    )
    experiment = load_experiment(file)
    state = CheckedState.of(experiment, load_dataset(experiment, None))
    assert state.declared.frees_gains(state.recorded) == is_open
