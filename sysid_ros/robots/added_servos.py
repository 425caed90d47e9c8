# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Servos for joints of which positions were commanded and whose model, a URDF, has no actuators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import mujoco

from sysid_ros.engine.elements import SCALAR, add_servo, usual_servo_gain
from sysid_ros.errors import ModelError, unknown_name
from sysid_ros.experiment import SERVO, SignalConfig
from sysid_ros.robots.source import LoadedModel


def with_commanded_servos(model: LoadedModel, signals: Sequence[SignalConfig]) -> LoadedModel:
    """Add a servo for every joint that a signal commands as a ``servo``.

    Raises:
      ModelError: There is no such hinge or slide, or the model has an actuator of that name.
    """
    joints = [signal.servo for signal in signals if signal.servo is not None]
    return replace(model, spec=with_servos(model.spec, joints)) if joints else model


def with_servos(spec: mujoco.MjSpec, joints: Iterable[str] | None = None) -> mujoco.MjSpec:
    """A copy of a model with servos for some hinges and slides, or for all.

    A gain is a guess by the joint's largest force or the weight that it carries.

    Raises:
      ModelError: There is no such joint, or the model has an actuator of that name.
    """
    model, served = spec.copy().compile(), spec.copy()
    known = [str(model.joint(j).name) for j in range(model.njnt) if model.jnt_type[j] in SCALAR]
    taken = [actuator.name for actuator in spec.actuators]
    for joint in known if joints is None else joints:
        if joint not in known:
            raise ModelError(f"signals: {unknown_name('joint', joint, known)}")
        name = f"{joint}{SERVO}"
        if name in taken:
            raise ModelError(f"signals: the model has an actuator {name!r}; map that instead")
        add_servo(served, name, joint, usual_servo_gain(model, model.joint(joint).id))
    return served
