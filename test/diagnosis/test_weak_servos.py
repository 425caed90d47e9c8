# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A servo too weak for what it carries follows late and little, which is no mistake."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.evidence.recorded import recorded
from sysid_ros.diagnosis.fits import Misfit
from sysid_ros.diagnosis.servo_mistakes import servo_explanations
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.experiment import Experiment, parse_experiment
from sysid_ros.rehearsal import Controller, Motion, RecordingPlan, TrueParameter, generate

WAIST = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body name="torso"><joint name="roll" axis="1 0 0" damping="5" range="-60 60"/>
    <geom type="capsule" fromto="0 0 0 0 0 .4" size=".08" mass="16"/></body></worldbody>
  <actuator><position name="servo" joint="roll" kp="350" forcerange="-35 35"/></actuator>
</mujoco>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a torso whose bearing takes more than its servo can give."""
    made = tmp_path_factory.mktemp("waist")
    plan = RecordingPlan(
        controllers=(Controller(delay=0.002),), duration=16.0, settle=0.5,
        motion=Motion(reach=0.4), timestep=1e-3,
        truth=(TrueParameter("joint", "roll", "damping", 80.0),),
    )  # fmt: skip
    generate(mujoco.MjSpec.from_string(WAIST), plan, made / "bag")
    return made


def experiment(folder: Path, model: str = WAIST, change: str = "") -> Experiment:
    (folder / "robot.xml").write_text(model)
    text = f"""model: robot.xml
sequences: [bag]
signals:
  - {{qpos: roll, topic: /joint_states, field: "position[roll]"}}
  - {{actuator: servo, topic: /position_controller/commands, field: "data[0]"{change}}}
parameters: []
"""
    return parse_experiment(text, path=folder / "experiment.yaml")


def at_its_limit(made: Experiment) -> Misfit | None:
    test = Tracking.of(recorded(load_dataset(made, None).training))
    assert test is not None
    return test.limited(0)


def test_a_force_at_its_limit_explains_what_the_joint_did(folder: Path) -> None:
    explained = at_its_limit(experiment(folder))
    mistaken = at_its_limit(experiment(folder, change=", scale: -1.0"))
    unlimited = WAIST.replace(' forcerange="-35 35"', "")
    assert at_its_limit(experiment(folder, unlimited)) is None
    assert explained is not None
    assert mistaken is not None
    assert explained.share**2 < 0.02
    assert mistaken.share**2 > 0.3


def test_a_repair_must_beat_a_servo_at_its_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_experiment(experiment(folder), None) == ()
    wrong = experiment(folder, change=", scale: -1.0")
    assert [one.kind for one in check_experiment(wrong, None)] == [FindingKind.SIGN]
    monkeypatch.setattr(Tracking, "limited", lambda *_: Misfit(0.01, np.zeros(20)))
    assert check_experiment(wrong, None) == ()


LEG = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body><joint name="roll" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05" mass="6"/></body></worldbody>
  <actuator><position name="servo" joint="roll" kp="500" kv="40" forcerange="-1000 1000"/>
  </actuator></mujoco>"""


def test_friction_that_is_whole_from_some_speed_on_is_no_scale_and_hides_none(
    tmp_path: Path,
) -> None:
    truth = (
        TrueParameter("joint", "roll", "frictionloss", 36.0),
        TrueParameter("joint", "roll", "armature", 0.1),
    )
    plan = RecordingPlan(
        controllers=(Controller(delay=0.008),), duration=3.0, truth=truth, timestep=1e-3,
        motion=Motion(reach=0.4, lowest=1.0, highest=1.4),
    )  # fmt: skip
    generate(mujoco.MjSpec.from_string(LEG), plan, tmp_path / "bag")
    assert check_experiment(experiment(tmp_path, LEG), None) == ()
    wrong = experiment(tmp_path, LEG, change=", scale: 2.0")
    assert [one.kind for one in check_experiment(wrong, None)] == [FindingKind.SCALE]


WRIST = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body><joint name="roll" axis="0 0 1" damping="1" range="-50 50" {limit}/>
    <geom type="capsule" fromto="0 0 0 0 0 -.06" size=".02" mass=".2"/></body></worldbody>
  {servo}</mujoco>"""


def test_a_joint_that_its_drawing_damps_more_than_a_servo_does_follows_as_it_should(
    tmp_path: Path,
) -> None:
    servo = '<actuator><position name="servo" joint="roll" kp="4.2"/></actuator>'
    plan = RecordingPlan(
        controllers=(Controller(delay=0.008),), duration=12.0, timestep=1e-3, seed=3,
        motion=Motion(reach=0.35, lowest=0.1, highest=2.0),
        truth=(TrueParameter("joint", "roll", "damping", 2.5),),
    )  # fmt: skip
    generate(mujoco.MjSpec.from_string(WRIST.format(servo=servo, limit="")), plan, tmp_path / "bag")

    def checked(change: str) -> CheckedState:
        """A drawing with an effort, of which the servo's gain is guessed."""
        made = experiment(
            tmp_path, WRIST.format(servo="", limit='actuatorfrcrange="-.45 .45"'), change
        )
        text = made.text.replace("{actuator: servo,", "{servo: roll,")
        guessed = parse_experiment(text, path=made.path)
        return CheckedState.of(guessed, load_dataset(guessed, None))

    test = Tracking.of(checked("").recorded)
    assert test is not None
    assert test.misfit((0,)).share ** 2 < 1e-3
    assert servo_explanations(checked("").recorded) == []
    found = servo_explanations(checked(", scale: 2.0").recorded)
    assert [one.change.kind for one in found] == [FindingKind.SCALE]
