# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots that were never tried before, with messages as such robots publish them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import mujoco
import unseen_kinds
from robot_to_try import DELAY, ENCODER, PLAN, Robot, of_text, true_joint

from sysid_ros.engine.elements import add_servo
from sysid_ros.rehearsal import (
    Base,
    CommandForm,
    Controller,
    ImuReadings,
    JointStates,
    Motion,
    OdometryReadings,
    Reading,
    StateForm,
    Timing,
    TrueParameter,
)

_METRES = JointStates(
    position=Reading(noise=5e-6, quantum=1e-5), timing=Timing(rate=100.0, jitter=4e-4)
)


def unseen_robots() -> Iterator[Robot]:
    """Legged, parallel, wheeled and swimming robots, with other topics, names and rates."""
    yield from _legged_robots()
    yield from _machines()
    yield from _vehicles()
    yield Robot(
        "Six joints and a mimic gripper from URDF", _urdf_with_servos,
        replace(
            PLAN, truth=_truth_of_urdf(), motion=Motion(reach=0.5),
            sensors=(replace(ENCODER, joints=(*_ARM_JOINTS, "left_finger_joint")),),
            controllers=(
                Controller(
                    topic="/arm_controller/joint_trajectory", form=CommandForm.TRAJECTORY,
                    actuators=tuple(f"{joint}_servo" for joint in _ARM_JOINTS), delay=DELAY,
                ),
                Controller(
                    topic="/gripper_controller/commands", actuators=("left_finger_joint_servo",),
                    delay=DELAY,
                ),
            ),
        ),
        urdf=unseen_kinds.urdf_with_gripper(),
    )  # fmt: skip


def _legged_robots() -> Iterator[Robot]:
    legs = ("LF", "LH", "RF", "RH")
    states = replace(
        ENCODER, prefix="anymal/", velocity=Reading(noise=5e-3), effort=Reading(noise=0.1),
        joints=tuple(f"{leg}_{joint}" for joint in ("KFE", "HFE", "HAA") for leg in legs),
        timing=Timing(rate=400.0, jitter=1e-4),
    )  # fmt: skip
    commands = Controller(
        topic="/anymal/controller_state", form=CommandForm.STATE, prefix="anymal/", delay=DELAY
    )
    yield Robot("Quadruped, hanging, names with a prefix", unseen_kinds.quadruped, replace(
        PLAN, base=Base.HANGING, motion=Motion(reach=0.4), rate=200.0, sensors=(states,),
        controllers=(commands,),
    ))  # fmt: skip
    humanoid = unseen_kinds.humanoid()
    names = [actuator.name for actuator in humanoid.actuators]
    legs_of = tuple(one for one in names if any(p in one for p in ("hip", "knee", "ankle")))
    others = tuple(one for one in reversed(names) if one not in legs_of)
    yield Robot("Humanoid, hanging, DynamicJointState", unseen_kinds.humanoid, replace(
        PLAN, motion=Motion(reach=0.4),
        sensors=(replace(ENCODER, topic="/dynamic_joint_states", form=StateForm.DYNAMIC),),
        controllers=tuple(
            Controller(
                topic=f"/{part}_controller/joint_trajectory", actuators=actuators,
                form=CommandForm.TRAJECTORY, delay=DELAY,
            )
            for part, actuators in (("legs", legs_of), ("arms", others))
        ),
    ))  # fmt: skip


def _machines() -> Iterator[Robot]:
    yield Robot(
        "Parallel gripper of which one finger is published", of_text(unseen_kinds.PARALLEL_GRIPPER),
        replace(
            PLAN, rate=50.0, motion=Motion(reach=0.02, speed=0.2),
            sensors=(replace(_METRES, joints=("left_finger_joint",)),),
            controllers=(Controller(topic="/gripper_controller/commands", delay=DELAY),),
        ),
    )  # fmt: skip
    yield Robot("Gantry on ball screws at 1 kHz", of_text(unseen_kinds.BALL_SCREWS), replace(
        PLAN, rate=500.0, motion=Motion(reach=150.0, speed=400.0, acceleration=4000.0),
        sensors=(replace(_METRES, timing=Timing(rate=1000.0, jitter=2e-4)),),
    ))  # fmt: skip
    motors = tuple(f"motor_{k}" for k in range(3))
    yield Robot("Delta of which the motors are published", unseen_kinds.delta, replace(
        PLAN, motion=Motion(reach=0.35), sensors=(replace(ENCODER, joints=motors),)
    ))  # fmt: skip
    states = replace(
        ENCODER, velocity=Reading(noise=2e-3), effort=Reading(noise=0.2),
        timing=Timing(rate=500.0, jitter=1e-4),
    )  # fmt: skip
    yield Robot("Seven joints at commanded speeds, with efforts", unseen_kinds.velocity_arm,
        replace(
            PLAN, motion=Motion(reach=0.6), sensors=(states,), rate=250.0,
            controllers=(Controller(topic="/arm_velocity_controller/commands", delay=DELAY),),
        ),
    )  # fmt: skip


def _vehicles() -> Iterator[Robot]:
    arm = ("pan_servo", "lift_servo", "elbow_servo")
    yield Robot("Wheeled base with an arm", of_text(unseen_kinds.MOBILE_ARM), replace(
        PLAN, motion=Motion(reach=0.5, speed=3.0),
        sensors=(
            ENCODER, OdometryReadings(), ImuReadings(gyro="imu_gyro", accelerometer="imu_acc")
        ),
        controllers=(
            Controller(
                topic="/diff_drive/wheel_velocity_controller/commands",
                actuators=("left_drive", "right_drive"), delay=DELAY,
            ),
            Controller(
                topic="/arm_controller/joint_trajectory", actuators=arm,
                form=CommandForm.TRAJECTORY, delay=DELAY,
            ),
        ),
    ))  # fmt: skip
    yield Robot("Balancing robot", of_text(unseen_kinds.BALANCER), replace(
        PLAN, rate=200.0, motion=Motion(reach=1.5, speed=1.5, dither=0.25, balanced=True),
        sensors=(
            ENCODER, OdometryReadings(), ImuReadings(gyro="imu_gyro", accelerometer="imu_acc")
        ),
        controllers=(Controller(topic="/effort_controller/commands", delay=0.002),),
    ))  # fmt: skip
    yield Robot("Submarine", of_text(unseen_kinds.SUBMARINE), replace(
        PLAN, motion=Motion(reach=1.0, dither=0.1),
        truth=(TrueParameter("body", "hull", "mass", 25.0),),
        sensors=(OdometryReadings(), ImuReadings(gyro="gyro", accelerometer="accelerometer")),
        controllers=(Controller(topic="/thruster_controller/commands", delay=DELAY),),
    ))  # fmt: skip


_ARM_JOINTS = tuple(f"joint_{k + 1}" for k in range(6))


def _urdf_with_servos() -> mujoco.MjSpec:
    """The URDF with its servos, as the robot is in truth."""
    spec = mujoco.MjSpec.from_string(unseen_kinds.urdf_with_gripper(drawn=False))
    gains = (900.0, 900.0, 600.0, 150.0, 120.0, 80.0, 600.0)
    for joint, gain in zip((*_ARM_JOINTS, "left_finger_joint"), gains, strict=True):
        add_servo(spec, f"{joint}_servo", joint, gain)
    return spec


def _truth_of_urdf() -> tuple[TrueParameter, ...]:
    """What a URDF does not say: the drives' inertia and friction."""
    joints = (*_ARM_JOINTS, "left_finger_joint")
    values = (
        (0.9, 5.0, 70.0), (0.9, 6.0, 70.0), (0.6, 4.0, 45.0), (0.15, 1.5, 12.0),
        (0.12, 1.2, 9.0), (0.08, 0.8, 6.0), (0.4, 1.5, 30.0),
    )  # fmt: skip
    return tuple(
        one
        for joint, (armature, friction, damping) in zip(joints, values, strict=True)
        for one in true_joint(joint, armature=armature, frictionloss=friction, damping=damping)
    )
