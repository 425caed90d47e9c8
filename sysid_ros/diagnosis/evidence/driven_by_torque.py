# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensors of joint torque that stand for motors, where no input of an actuator is known."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from sysid_ros.engine.signals import ModelSequences


def torque_sensors(group: ModelSequences) -> dict[str, str]:
    """The joint of every measured torque sensor, where no input of an actuator is known."""
    kind = mujoco.mjtSensor.mjSENS_JOINTACTFRC
    if any(series.signal_mapping for series in group.control):
        return {}
    measured = measured_labels(group)
    return {s.name: s.objname for s in group.spec.sensors if s.type == kind and s.name in measured}


def with_motors(spec: mujoco.MjSpec, torques: Mapping[str, str]) -> mujoco.MjSpec:
    """A copy whose joints are driven by motors with the measured torque, instead of servos.

    Where that contains the weight that the model compensates, the model does not.
    """
    copy = spec.copy()
    kind = mujoco.mjtObj.mjOBJ_ACTUATOR
    of_actuators = [one for one in copy.sensors if kind in (one.objtype, one.reftype)]
    for element in (*copy.keys, *of_actuators, *copy.actuators):
        copy.delete(element)
    if all(copy.joint(joint).actgravcomp for joint in torques.values()):
        for body in copy.bodies:
            body.gravcomp = 0.0
    for label, joint in torques.items():
        motor = copy.add_actuator(name=label, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint)
        motor.set_to_motor()
    return copy


def measured_labels(group: ModelSequences) -> set[str]:
    """Labels of all that was measured."""
    return {label for series in group.sensordata for label in series.signal_mapping or {}}
