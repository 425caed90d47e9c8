# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes planted into generated recordings are found, and none where there are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest
from odd_machines import GIMBAL
from planted_mistakes import (
    Mistake,
    Recordings,
    changed,
    checked,
    exchanged,
    experiment_of,
    label_of,
    pairs,
    recordings,
    singles,
)
from robot_kinds import CABLE_FINGER, CART_POLE, GRIPPER, PAN_TILT, ROVER, servo_arm
from robot_matrix import based_model
from robot_to_try import ARM_PLAN, ENCODER, PLAN, hidden

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, servo_lags, servo_mistakes
from sysid_ros.diagnosis.evidence.finding import Change
from sysid_ros.diagnosis.evidence.recorded import recorded
from sysid_ros.diagnosis.simulated.simulated_mistakes import simulated_explanations
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.rehearsal import Controller, ImuReadings, Motion, OdometryReadings, RecordingPlan

SHORT = 7.0  # s, which tell the mistakes of few signals; all of them take ARM_PLAN's


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """A servo arm of three joints with other friction than its model."""
    return arm_for(SHORT, tmp_path_factory.mktemp("arm"))


def arm_for(duration: float, folder: Path) -> Recordings:
    return _hidden(servo_arm(), replace(ARM_PLAN, duration=duration), folder)


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """A pan and tilt that is told velocities."""
    return head_for(SHORT, tmp_path_factory.mktemp("head"))


def head_for(duration: float, folder: Path) -> Recordings:
    spec = mujoco.MjSpec.from_string(PAN_TILT)
    velocities = Controller(topic="/head_velocity_controller/commands")
    plan = replace(ARM_PLAN, controllers=(velocities,), duration=duration)
    return _hidden(spec, plan, folder)


@pytest.fixture(scope="module")
def gripper(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """Two fingers on one tendon, behind a wrist."""
    controllers = tuple(
        Controller(topic=f"/{name}_controller/commands", actuators=(name,))
        for name in ("roll", "grip")
    )
    plan = replace(ARM_PLAN, controllers=controllers, duration=SHORT)
    return _hidden(mujoco.MjSpec.from_string(GRIPPER), plan, tmp_path_factory.mktemp("gripper"))


@pytest.fixture(scope="module")
def finger(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """A finger that a cable pulls."""
    plan = replace(ARM_PLAN, duration=6.0, motion=Motion(reach=0.01))
    spec = mujoco.MjSpec.from_string(CABLE_FINGER)
    return _hidden(spec, plan, tmp_path_factory.mktemp("finger"))


@pytest.fixture(scope="module")
def cart(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """A driven cart with a pole that nothing drives, and that hardly feels the cart."""
    spec = mujoco.MjSpec.from_string(CART_POLE)
    plan = replace(ARM_PLAN, duration=8.0, motion=Motion(reach=0.3))
    return _hidden(spec, plan, tmp_path_factory.mktemp("cart"))


def _hidden(spec: mujoco.MjSpec, plan: RecordingPlan, folder: Path) -> Recordings:
    plan = replace(plan, truth=hidden(based_model(spec, plan), 3))
    folder.mkdir(exist_ok=True)
    return recordings(spec, plan, folder)


def missed(robot: Recordings, mistakes: list[Mistake]) -> list[str]:
    """Sentences about mistakes that are not told as they are."""
    found = []
    for one in mistakes:
        told = checked(robot, one.signals, late=one.late)
        if not one.is_told(told):
            found.append(f"{one.expected}: {[(f.kind.value, f.signals) for f in told]}")
    return found


@pytest.mark.parametrize("name", ["arm", "head", "gripper", "cart"])
def test_no_mistake_is_found_where_there_is_none(name: str, request: pytest.FixtureRequest) -> None:
    robot: Recordings = request.getfixturevalue(name)
    assert checked(robot, robot.signals, late=False) == ()


@pytest.mark.parametrize("kind", [FindingKind.SIGN, FindingKind.SWAP, FindingKind.LAG])
def test_a_planted_mistake_is_found(arm: Recordings, kind: FindingKind) -> None:
    one = [one for one in singles(arm) if one.expected[0][0] is kind][-1:]
    assert missed(arm, one) == []


@pytest.mark.parametrize("kind", [FindingKind.SIGN, FindingKind.DEGREES, FindingKind.SWAP])
def test_a_velocity_is_tested_like_a_position(head: Recordings, kind: FindingKind) -> None:
    assert missed(head, [one for one in singles(head) if one.expected[0][0] is kind][-1:]) == []


@pytest.mark.parametrize("kind", [FindingKind.SIGN, FindingKind.SCALE])
def test_a_command_of_a_tendon_is_tested(gripper: Recordings, kind: FindingKind) -> None:
    mistakes = [one for one in singles(gripper) if one.expected == ((kind, "grip"),)]
    assert missed(gripper, mistakes) == []


def test_a_finger_beside_others_on_a_tendon_is_told_itself(gripper: Recordings) -> None:
    """What a tendon does is as wrong if one finger of two is; only a simulation tells which."""
    mistakes = [((kind, "left_finger_joint_qpos"),) for kind in (FindingKind.SIGN,)]
    assert missed(gripper, [one for one in singles(gripper) if one.expected in mistakes]) == []


def test_exchanged_positions_have_the_sign_that_is_theirs(arm: Recordings) -> None:
    """Loads tell exchanged positions from exchanged commands, beside a wrong sign as without."""
    place = next(k for k, one in enumerate(arm.signals) if "qpos" in one)
    names = [label_of(one) for one in arm.signals[place : place + 2]]
    swapped = exchanged(arm.signals, place, place + 1)
    swap, sign = checked(arm, changed(swapped, place, {"scale": -1.0}), late=False)
    assert (swap.kind, [*swap.signals]) == (FindingKind.SWAP, names)
    assert (sign.kind, names[1] in sign.signals) == (FindingKind.SIGN, True)


def test_a_position_may_carry_the_name_of_a_finger_on_a_tendon(gripper: Recordings) -> None:
    places = [
        k for k, one in enumerate(gripper.signals)
        if one.get("qpos") in ("wrist_roll", "left_finger_joint")
    ]  # fmt: skip
    (found,) = checked(gripper, exchanged(gripper.signals, *places), late=False)
    names = {label_of(gripper.signals[place]) for place in places}
    assert (found.kind, {*found.signals}) == (FindingKind.SWAP, names)


def test_joints_that_nothing_drives_are_simulated(cart: Recordings) -> None:
    slider, hinge = (
        k for k, one in enumerate(cart.signals) if one.get("qpos") in ("slider", "hinge")
    )
    names = {label_of(cart.signals[place]) for place in (slider, hinge)}
    reversed_ = changed(cart.signals, hinge, {"scale": -1.0})
    assert missed(cart, [Mistake(((FindingKind.SIGN, "hinge_qpos"),), reversed_)]) == []
    (found,) = checked(cart, exchanged(cart.signals, slider, hinge), late=False)
    assert (found.kind, {*found.signals}) == (FindingKind.SWAP, names)
    off = changed(cart.signals, slider, {"offset": 0.8})
    assert missed(cart, [Mistake(((FindingKind.OFFSET, "slider_qpos"),), off)]) == []


def test_a_cable_is_tested_and_two_signs_of_it(finger: Recordings) -> None:
    both = finger.signals
    for place in range(2):
        both = changed(both, place, {"scale": -1.0})
    signs = tuple((FindingKind.SIGN, label_of(one)) for one in finger.signals)
    assert missed(finger, [Mistake(signs, both)]) == []
    place = next(k for k, one in enumerate(finger.signals) if "qpos" in one)
    zero = changed(changed(finger.signals, place, {"offset": 0.4}), 1 - place, {"scale": -1.0})
    offset = ((FindingKind.OFFSET, "knuckle_qpos"), (FindingKind.SIGN, "pull"))
    assert missed(finger, [Mistake(offset, zero)]) == []


def test_a_delay_that_is_known_is_not_found_once_more(finger: Recordings) -> None:
    """What other tests repaired is repaired in the simulation, too, delays as all else."""
    experiment = experiment_of(finger, finger.signals, late=True)
    (group,) = load_dataset(experiment, None).training
    delay = Change(FindingKind.LAG, delay={"pull": 0.05})
    topics = {label_of(one): str(one["topic"]) for one in finger.signals}
    for done, found in (((), [FindingKind.LAG]), ((delay,), [])):
        told = simulated_explanations(
            recorded([group]), group, ParameterDict(), experiment.windows.length, done, topics
        )
        assert [one.change.kind for one in told] == found


def test_one_servo_that_does_not_follow_hides_no_delay(arm: Recordings) -> None:
    """A controller's delay is told by those of its servos that do what they are asked for."""
    first, _, last = (k for k, one in enumerate(arm.signals) if "actuator" in one)
    other = changed(arm.signals, last, {"field": arm.signals[first]["field"]})
    late = ((FindingKind.LAG, label_of(arm.signals[first])),)
    assert missed(arm, [Mistake(late, other, late=True)]) == []


def test_an_imu_alone_tells_a_motor_from_another(tmp_path: Path) -> None:
    """No joint is measured, so that nothing but a simulation says what commands do."""
    imu = ImuReadings(gyro="camera_gyro", accelerometer="camera_acc")
    plan = replace(ARM_PLAN, sensors=(imu,), duration=8.0, timestep=1e-3)
    robot = _hidden(mujoco.MjSpec.from_string(GIMBAL), plan, tmp_path / "gimbal")
    sensors = (("camera_gyro", "angular_velocity"), ("camera_acc", "linear_acceleration"))
    signals = (
        *robot.signals,
        *({"sensor": name, "topic": imu.topic, "field": field} for name, field in sensors),
    )
    assert checked(robot, signals, late=False) == ()
    wrong = exchanged(signals, 1, 2)
    (found,) = checked(robot, wrong, late=False)
    assert (found.kind, {*found.signals}) == (FindingKind.SWAP, {"roll_motor", "pitch_motor"})


def test_no_push_looks_like_a_sign(arm: Recordings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A joint that something pushes does not follow its command, which may look like a scale."""
    place = next(k for k, entry in enumerate(arm.signals) if "actuator" in entry)
    for room in (servo_lags, servo_mistakes):
        monkeypatch.setattr(room, "is_pushed", lambda *_: True)
    (found,) = checked(arm, changed(arm.signals, place, {"scale": -1.0}), late=False)
    assert found.kind is FindingKind.SIGN
    scaled = checked(arm, changed(arm.signals, place, {"scale": 2.0}), late=False)
    assert FindingKind.SCALE not in {one.kind for one in scaled}


@pytest.mark.slow
def test_a_reversed_wheel_is_told_once_where_the_base_shows_which(tmp_path: Path) -> None:
    """To its servo a wheel's position and its command look alike; the base follows the command."""
    plan = replace(
        PLAN, sensors=(ENCODER, OdometryReadings()), motion=Motion(reach=6.0, speed=8.0),
        controllers=(Controller(topic="/velocity_controller/commands"),), duration=20.0,
    )  # fmt: skip
    robot = _hidden(mujoco.MjSpec.from_string(ROVER), plan, tmp_path / "rover")
    base = ({"qpos": "base", "topic": "/odom", "field": "pose.pose"},)
    signals = (*robot.signals, *base)
    assert checked(robot, signals, late=False) == ()
    place = next(k for k, one in enumerate(signals) if one.get("qpos") == "left_wheel_joint")
    (found,) = checked(robot, changed(signals, place, {"scale": -1.0}), late=False)
    assert (found.kind, found.signals) == (FindingKind.SIGN, ("left_wheel_joint_qpos",))
    assert not found.ambiguous


@pytest.mark.slow
def test_every_planted_mistake_of_velocities_is_found(tmp_path: Path) -> None:
    """Velocities do not tell where a joint has its zero."""
    head = head_for(ARM_PLAN.duration, tmp_path / "head")
    unseen = {((FindingKind.OFFSET, f"{joint}_qpos"),) for joint in ("pan", "tilt")}
    mistakes = [one for one in (*singles(head), *pairs(head)) if one.expected not in unseen]
    assert missed(head, mistakes) == []


@pytest.mark.slow
def test_every_planted_mistake_and_every_pair_is_found(tmp_path: Path) -> None:
    arm = arm_for(ARM_PLAN.duration, tmp_path / "arm")
    mistakes = [*singles(arm), *pairs(arm)]
    wrong = missed(arm, mistakes)
    print(f"{len(mistakes) - len(wrong)} of {len(mistakes)} found")
    assert wrong == []
