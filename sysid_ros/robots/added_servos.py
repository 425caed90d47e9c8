# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Servos for joints of which positions or velocities were commanded and whose model has none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.elements import (
    SCALAR,
    add_servo,
    add_unit_motor,
    add_velocity_servo,
    usual_servo_gain,
)
from sysid_ros.errors import ModelError, unknown_name
from sysid_ros.experiment import SignalConfig, added_input
from sysid_ros.recording.mapping import SignalKind
from sysid_ros.robots.source import LoadedModel

_AFFINE = mujoco.mjtBias.mjBIAS_AFFINE
_SETTLING = 0.1  # s, in which a servo of a velocity makes up for what one of a position sees
# A servo of a velocity moves a light joint within a fraction of a millisecond. At a longer step its
# gain is lost in the step's error, and with it the scale of friction.
_LONGEST_STEP = 5e-4  # s


def with_commanded_servos(model: LoadedModel, signals: Sequence[SignalConfig]) -> LoadedModel:
    """Add a servo for every joint that a signal commands as ``servo`` or ``velocity_servo``.

    Raises:
      ModelError: There is no such hinge or slide, or the model has a servo on it or an actuator of
        that name.
    """
    spec = model.spec
    driven = {one.name for one in signals if one.kind is SignalKind.ACTUATOR}
    servos = {
        one.target: one.name
        for one in spec.actuators
        if one.biastype == _AFFINE and one.trntype == mujoco.mjtTrn.mjTRN_JOINT
    }
    for kind in (SignalKind.SERVO, SignalKind.VELOCITY_SERVO):
        named = (getattr(signal, kind.value) for signal in signals)
        if joints := [joint for joint in named if joint is not None]:
            for joint in joints:
                if joint in servos:  # which would hold it against the one that is added
                    raise ModelError(
                        f"signals: the model has a servo on {joint!r}; map it as "
                        f"{{actuator: {servos[joint]}, ...}}"
                    )
            spec = with_servos(spec, joints, kind, driven)
    return replace(model, spec=spec)


def without_motors(
    spec: mujoco.MjSpec, joints: Collection[str], driven: Collection[str] = ()
) -> mujoco.MjSpec:
    """A copy of a model without motors on joints, nor sensors of these; ``driven`` ones stay."""
    left = spec.copy()
    motors = [one for one in left.actuators if _is_motor(one) and one.target in joints]
    idle = [one for one in motors if one.name not in driven]
    names = {one.name for one in idle}
    stays = np.array([one.name not in names for one in left.actuators], dtype=np.bool_)
    sensors = [one for one in left.sensors if one.objtype == mujoco.mjtObj.mjOBJ_ACTUATOR]
    for element in (*idle, *(one for one in sensors if one.objname in names)):
        left.delete(element)
    for key in left.keys if idle else ():  # whose controls are as many as there were inputs
        key.ctrl = np.array(key.ctrl)[stays] if len(key.ctrl) == len(stays) else []
    return left


def _is_motor(actuator: mujoco.MjsActuator) -> bool:
    """Return whether an actuator exerts what it is told on a joint."""
    on_joint = actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT
    plain = actuator.biastype == mujoco.mjtBias.mjBIAS_NONE
    return bool(on_joint and plain and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE)


def with_servos(
    spec: mujoco.MjSpec,
    joints: Iterable[str] | None = None,
    kind: SignalKind = SignalKind.SERVO,
    driven: Collection[str] = (),
) -> mujoco.MjSpec:
    """A copy of a model with servos for some hinges and slides, or for all.

    They take the place of motors on these joints. A gain is a guess by the joint's largest force or
    the weight that it carries.

    Args:
      spec: The model.
      joints: Names of the hinges and slides; all without.
      kind: SERVO for commanded positions, VELOCITY_SERVO for velocities, EFFORT for motors of gain
        one instead.
      driven: Names of motors that stay.

    Raises:
      ModelError: There is no such joint, or the model has an actuator of that name.
    """
    model = spec.copy().compile()
    known = [str(model.joint(j).name) for j in range(model.njnt) if model.jnt_type[j] in SCALAR]
    joints = known if joints is None else list(joints)
    served = without_motors(spec, joints, driven)
    taken = [actuator.name for actuator in served.actuators]
    for joint in joints:
        if joint not in known:
            raise ModelError(f"signals: {unknown_name('joint', joint, known)}")
        name = added_input(kind, joint)
        if name in taken:
            raise ModelError(f"signals: the model has an actuator {name!r}; map that instead")
        gain = usual_servo_gain(model, model.joint(joint).id)
        if kind is SignalKind.EFFORT:
            on_joint = mujoco.mjtTrn.mjTRN_JOINT
            add_unit_motor(served, name, on_joint, joint, [1.0, *[0.0] * 5])
        elif kind is SignalKind.SERVO:
            add_servo(served, name, joint, gain)
            # A servo's damping is among the joint's own, so that the limit of the joint's drive
            # would hold back the spring alone, where a controller's sum is far below it. An
            # exported model keeps actuatorfrclimited="false" for that: without it springs of 150
            # N m are cut at 80, and sines of 0.3 rad and 0.7 Hz end 0.08 rad away.
            if model.jnt_actfrclimited[model.joint(joint).id]:
                served.joint(joint).actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        else:
            add_velocity_servo(served, name, joint, _SETTLING * gain)
    if kind is SignalKind.VELOCITY_SERVO:
        served.option.timestep = min(served.option.timestep, _LONGEST_STEP)
    return served
