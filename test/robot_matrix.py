# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""First contact with many robots: generated recordings through init, check and fit, untouched.

``python test/robot_matrix.py [NAME ...]`` prints the rows of docs/robots_record.md for small robots
of many kinds, and for the models in a folder of them that ``ROBOT_MODELS`` names.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np
import robot_kinds
from odd_machines import odd_machines
from robot_to_try import DELAY, ENCODER, PLAN, TORQUES, Robot, hidden, of_text
from unseen_robots import unseen_robots

from sysid_ros.diagnosis import check_experiment
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.parameters import AttributeModifier, Parameter, SignalModifier
from sysid_ros.experiment import load_experiment
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.proposal import propose
from sysid_ros.rehearsal import (
    Base,
    CommandForm,
    Controller,
    GeneratedSignal,
    ImuReadings,
    Motion,
    OdometryReadings,
    Reading,
    RecordingPlan,
    TrueParameter,
    based,
    generate,
    with_true_values,
)
from sysid_ros.robots import build_parameters


@dataclass(frozen=True)
class Tried:
    """What became of a robot: times in CPU s, counts, errors in the signals' own units."""

    robot: str
    init: float
    check: float
    fit: float
    memory: float  # MB
    signals: int
    wrong: tuple[str, ...]
    false_alarms: tuple[str, ...]
    free: int
    intervals: int
    covered: int
    missed: tuple[str, ...]
    before: float
    after: float
    verdict: str

    def row(self) -> str:
        """A row of the table."""
        right = self.signals - len(self.wrong)
        return (
            f"| {self.robot} | {self.init:.1f} | {self.check:.1f} | {self.fit:.0f} | "
            f"{self.memory:.0f} | {right} of {self.signals} | {len(self.false_alarms)} | "
            f"{self.free} | {self.covered} of {self.intervals} | {self.before:.2g} | "
            f"{self.after:.2g} | {self.verdict.split(':')[0]} |"
        )


def tried(robot: Robot, folder: Path) -> Tried:
    """Record a robot and give model and bag to init, check and fit."""
    spec = robot.model()
    plan = replace(robot.plan, truth=robot.plan.truth or hidden(based_model(spec, robot.plan), 7))
    made = generate(spec, plan, folder / "bag")
    model = robot.file or folder / ("robot.urdf" if robot.urdf else "robot.xml")
    if robot.file is None:
        model.write_text(robot.urdf or based(spec, plan.base).to_xml())
    file = folder / "experiment.yaml"
    clock = _Stopwatch()
    proposal = propose(model, [made.bag], file)
    init = clock.lap()
    file.write_text(proposal.text)
    experiment = load_experiment(file)
    mapped = {(s.kind.value, s.name): (s.topic, s.field) for s in experiment.signals}
    truth = with_true_values(based(spec, plan.base), plan.truth, plan.timestep)
    robot_model = truth.copy().compile()
    wrong = [one.name for one in made.signals if not _is_right(one, mapped, robot_model)]
    clock.lap()
    findings = check_experiment(experiment, None)
    check = clock.lap()
    outcome = run_experiment(experiment, output_dir=folder / "results").outcome
    fit = clock.lap()
    parameters = build_parameters(experiment, based(spec, plan.base))
    intervals, missed = 0, []
    for estimate in outcome.fit.parameters:
        interval = estimate.interval()
        if interval is None or estimate.name not in parameters:
            continue
        intervals += 1
        late = plan.controllers[0].delay
        if estimate.name.endswith("_torque_delay"):  # sampled as it is sent, held until the next
            late -= 0.5 / plan.rate
        if plan.controllers[0].form is CommandForm.STATE:  # taken as moving on between messages
            late += 0.5 / plan.rate
        value = true_value(parameters[estimate.name], truth, late)
        if not interval[0] <= value <= interval[1]:
            missed.append(
                f"{estimate.name} {interval[0]:.4g} to {interval[1]:.4g}, truth {value:.4g}"
            )
    assert outcome.validation is not None
    return Tried(
        robot.name, init, check, fit, _memory(), len(made.signals), tuple(wrong),
        tuple(finding.sentence for finding in findings), len(outcome.fit.parameters), intervals,
        intervals - len(missed), tuple(missed), outcome.validation.rmse_all_initial or np.nan,
        outcome.validation.rmse_all, outcome.verdict,
    )  # fmt: skip


def based_model(spec: mujoco.MjSpec, plan: RecordingPlan) -> mujoco.MjModel:
    """The model as its user has it, compiled."""
    return based(spec, plan.base).compile()


def true_value(parameter: Parameter, truth: mujoco.MjSpec, delay: float) -> float:
    """The hidden value of a parameter."""
    modifier = parameter.modifier
    if isinstance(modifier, SignalModifier):
        return {"delay": delay, "gain": 1.0}.get(modifier.attribute, 0.0)  # and biases
    assert isinstance(modifier, AttributeModifier)
    return float(lookup(modifier.element, modifier.attribute).read(truth, modifier.names[0])[0])


def _is_right(
    signal: GeneratedSignal, mapped: dict[tuple[str, str], tuple[str, str]], model: mujoco.MjModel
) -> bool:
    """Tell whether a signal is mapped from where it was published, a motor from its torque."""
    place = (signal.topic, signal.field)
    if signal.kind != "actuator":
        kinds = ("qpos", "sensor")
        return place in {where for (kind, _), where in mapped.items() if kind in kinds}
    actuator = model.actuator(signal.name).id
    joint = ""
    if int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_JOINT):
        joint = str(model.joint(int(model.actuator_trnid[actuator, 0])).name)
    found = mapped.get(("actuator", signal.name)) or mapped.get(("actuator", f"{joint}_effort"))
    return found in (place, (ENCODER.topic, f"effort[{joint}]"))


class _Stopwatch:
    def __init__(self) -> None:
        self._last = time.process_time()

    def lap(self) -> float:
        """CPU seconds since the last call."""
        now = time.process_time()
        passed, self._last = now - self._last, now
        return passed


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def known_robots(models: Path) -> Iterator[Robot]:
    """The robots of a folder of models, as MuJoCo Menagerie has them."""

    def file(path: str) -> Callable[[], mujoco.MjSpec]:
        return lambda: mujoco.MjSpec.from_file(str(models / path))

    arm = RecordingPlan(
        controllers=(Controller(delay=DELAY),), sensors=(ENCODER,), duration=30.0,
        motion=Motion(reach=0.8),
    )  # fmt: skip
    for name, path in (
        ("UR5e", "plain/universal_robots_ur5e/robot.xml"),
        ("SO-ARM100", "trs_so_arm100/so_arm100.xml"),
        ("Panda", "franka_emika_panda/panda.xml"),
        ("Shadow hand", "plain/shadow_hand/robot.xml"),
    ):
        reach = 0.3 if name == "Shadow hand" else 0.8
        yield Robot(name, file(path), replace(arm, motion=Motion(reach=reach)), models / path)
    imu = ImuReadings(gyro="body_gyro", accelerometer="body_linacc")
    yield Robot(
        "Skydio X2, flying", file("plain/skydio_x2/robot.xml"),
        replace(
            arm, sensors=(OdometryReadings(), imu), motion=Motion(reach=1.0, dither=0.1),
            controllers=(Controller(topic="/thrust_controller/commands", delay=DELAY),),
            truth=(TrueParameter("body", "x2", "mass", 1.5),),
        ),
        models / "plain/skydio_x2/robot.xml",
    )  # fmt: skip
    effort = replace(ENCODER, velocity=Reading(noise=2e-3), effort=Reading(noise=0.02))
    stance = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
    go2 = replace(
        arm, motion=Motion(reach=0.4), sensors=(effort,), rate=200.0,
        posture=tuple(
            (f"{leg}_{joint}_joint", angle)
            for leg in ("FL", "FR", "RL", "RR") for joint, angle in stance.items()
        ),
    )  # fmt: skip
    yield Robot(
        "Go2, hanging", file("plain/unitree_go2/robot.xml"), replace(go2, base=Base.HANGING)
    )
    on_floor = replace(
        go2, base=Base.GROUND, motion=Motion(reach=0.15), sensors=(effort, OdometryReadings())
    )
    yield Robot("Go2, on the floor", file("plain/unitree_go2/robot.xml"), on_floor)
    yield Robot(
        "ANYmal C, hanging", file("plain/anybotics_anymal_c/robot.xml"),
        replace(arm, base=Base.HANGING, motion=Motion(reach=0.4)),
    )  # fmt: skip


def own_robots() -> Iterator[Robot]:
    """Small robots of other kinds: on tendons, slides, wheels and rotors, and from a URDF."""
    yield from _fixed_robots()
    yield from _moving_robots()
    yield from _arms_from_urdf()
    yield from unseen_robots()
    yield from odd_machines()


def _fixed_robots() -> Iterator[Robot]:
    yield Robot("Gripper on a tendon", of_text(robot_kinds.GRIPPER), replace(PLAN, controllers=(
        Controller(topic="/wrist_controller/commands", actuators=("roll",), delay=DELAY),
        Controller(topic="/gripper_controller/commands", actuators=("grip",), delay=DELAY),
    )))  # fmt: skip
    yield Robot("SCARA", of_text(robot_kinds.SCARA), replace(PLAN, controllers=(Controller(
        topic="/scara_controller/joint_trajectory", form=CommandForm.TRAJECTORY, delay=DELAY
    ),)))  # fmt: skip
    for name, model, reach in (
        ("Cart and pole", robot_kinds.CART_POLE, 0.3),
        ("Leg with elastic joints", robot_kinds.SERIES_ELASTIC_LEG, 0.6),
        ("Four-bar linkage", robot_kinds.FOUR_BAR, 0.4),
        ("Finger on a cable", robot_kinds.CABLE_FINGER, 0.01),
    ):
        yield Robot(name, of_text(model), replace(PLAN, motion=Motion(reach=reach)))
    velocities = Controller(topic="/head_velocity_controller/commands", delay=DELAY)
    yield Robot("Pan and tilt at commanded speeds", of_text(robot_kinds.PAN_TILT), replace(
        PLAN, motion=Motion(reach=0.8), controllers=(velocities,)
    ))  # fmt: skip
    gantry = replace(TORQUES, motion=Motion(reach=0.3))
    yield Robot("Gantry with force sensors", of_text(robot_kinds.GANTRY), gantry)


def _moving_robots() -> Iterator[Robot]:
    rover = replace(
        PLAN, motion=Motion(reach=6.0, speed=8.0),
        sensors=(
            ENCODER, OdometryReadings(), ImuReadings(gyro="imu_gyro", accelerometer="imu_acc")
        ),
        controllers=(Controller(topic="/velocity_controller/commands", delay=DELAY),),
    )  # fmt: skip
    yield Robot("Wheeled base", of_text(robot_kinds.ROVER), rover)
    hexarotor = replace(
        PLAN, motion=Motion(reach=1.0, dither=0.1),
        sensors=(OdometryReadings(), ImuReadings(gyro="gyro", accelerometer="accelerometer")),
        controllers=(Controller(topic="/motor_controller/commands", delay=DELAY),),
        truth=(TrueParameter("body", "hull", "mass", 1.6),),
    )  # fmt: skip
    yield Robot("Hexarotor", robot_kinds.hexarotor, hexarotor)


def _arms_from_urdf() -> Iterator[Robot]:
    joints = tuple(f"joint_{k + 1}" for k in range(4))
    added = {"armature": (0.6, 0.8, 0.3, 0.1), "damping": (2.0, 2.0, 1.0, 0.4),
             "frictionloss": (3.0, 4.0, 2.0, 0.8)}  # fmt: skip
    truth = tuple(
        TrueParameter("joint", joint, attribute, value)
        for attribute, values in added.items() for joint, value in zip(joints, values, strict=True)
    )  # fmt: skip
    yield Robot(
        "Arm from URDF with torque sensors", robot_kinds.urdf_arm_with_motors,
        replace(TORQUES, truth=truth), urdf=robot_kinds.urdf_arm(),
    )  # fmt: skip
    stiff = zip(joints, (50.0, 50.0, 25.0, 8.0), strict=True)  # the servos' own damping is in it
    held = tuple(one for one in truth if one.attribute != "damping")
    damped = tuple(TrueParameter("joint", joint, "damping", value) for joint, value in stiff)
    yield Robot(
        "Arm from URDF under servos", robot_kinds.urdf_arm_with_servos,
        replace(
            PLAN, truth=held + damped, motion=Motion(reach=0.7),
            controllers=(Controller(
                topic="/joint_trajectory_controller/joint_trajectory",
                form=CommandForm.TRAJECTORY, delay=DELAY,
            ),),
        ),
        urdf=robot_kinds.urdf_arm(),
    )  # fmt: skip


def main(names: list[str]) -> None:
    """Try the robots of some names, or all, and print a row for each."""
    models = os.environ.get("ROBOT_MODELS")
    robots = (*(known_robots(Path(models)) if models else ()), *own_robots())
    valid = [robot.name for robot in robots]
    if unknown := sorted(set(names) - set(valid)):
        sys.exit(f"unknown robot {', '.join(unknown)}; valid are: {', '.join(valid)}")
    for robot in robots:
        if names and robot.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = tried(robot, Path(folder))
        print(found.row(), flush=True)
        for line in (*found.wrong, *found.false_alarms, *found.missed, found.verdict):
            print(f"    {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
