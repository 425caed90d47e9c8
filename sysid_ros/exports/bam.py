# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``bam/JOINT.json``: the friction of a joint in the words of BAM (better actuator models).

MuJoCo's own friction is BAM's model M1: a dry part and a viscous one. The file has the keys of
those that BAM's own fit writes.
"""

from __future__ import annotations

from typing import Any

import mujoco

from sysid_ros.engine.elements import joint_of, n_actuators
from sysid_ros.engine.friction import (
    PARAMETERS,
    FrictionParameters,
    joint_frictions,
    parameters_of,
    servo_of_model,
)
from sysid_ros.exports.joints import joints_of, targets
from sysid_ros.judgement import Outcome

_IDENTIFIED = {"armature", "damping", "frictionloss", *PARAMETERS}


def bam_documents(outcome: Outcome, model: mujoco.MjModel) -> dict[str, dict[str, Any]]:
    """The content of one file per joint whose friction or armature was identified.

    Returns:
      Documents by joint. ``kt`` (N m/A) and ``R`` (ohm) are there where a dcmotor or a servo on a
      supply voltage drives the joint.
    """
    identified = targets(outcome.applied, "joint")
    motors = _motors(model)
    extended = joint_frictions(model)
    documents = {}
    for joint in joints_of(model):
        plain = FrictionParameters(friction_viscous=joint.damping, friction_base=joint.frictionloss)
        friction = extended.get(joint.name, plain)
        if identified.get(joint.name, set()) & _IDENTIFIED:
            documents[joint.name] = {
                "model": friction.model,
                "actuator": joint.name,
                **motors.get(joint.name, {}),
                "armature": joint.armature,
                **{name: getattr(friction, name) for name in parameters_of(friction.model)},
            }
    return documents


def _motors(model: mujoco.MjModel) -> dict[str, dict[str, float]]:
    """Torque constant and resistance by joint."""
    kind = getattr(mujoco.mjtGain, "mjGAIN_DCMOTOR", None)
    motors = {}
    for i in range(n_actuators(model)):
        actuator = model.actuator(i)
        driven = joint_of(model, i)
        if driven is None:
            continue
        joint, servo = model.joint(driven).name, servo_of_model(model, i)
        if servo is not None:
            motors[joint] = {"kt": servo.kt, "R": servo.R}
        elif kind is not None and int(actuator.gaintype[0]) == int(kind):
            gear = float(actuator.gear[0])
            motors[joint] = {"kt": float(actuator.gainprm[1]) * gear, "R": actuator.gainprm[0]}
    return motors
