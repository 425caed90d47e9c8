# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators: the joint that each acts on, what its input is, and new ones."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements.joints import HINGE

ON_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
# Dynamics of first order that a command passes on its way to the force.
LOW_PASSES = (int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT))
_PID = int(getattr(mujoco.mjtGain, "mjGAIN_PID", -1))  # since MuJoCo 4
_POSITION = 1  # in the inputs of a pid
_UNLIMITED = (-np.inf, np.inf)
_GRAVITY = 9.81  # m/s^2, also of models without
_MOST_WEIGHTS = 30.0  # of all of a robot, at its own extent, that a drive may lift
_GIVE_OF_HINGE, _GIVE_OF_SLIDE = 0.1, 0.01  # rad, m: a usual servo's at its largest force


def n_actuators(model: Any) -> int:
    """The number of a model's actuators; ``model.nu`` counts their inputs since MuJoCo 4."""
    return int(getattr(model, "nactuator", model.nu))


def control_columns(model: Any, actuator: int) -> tuple[int, int]:
    """First column in ``ctrl`` and number of columns of one actuator."""
    if hasattr(model, "actuator_ctrladr"):  # several commands per actuator, MuJoCo 4
        return int(model.actuator_ctrladr[actuator]), int(model.actuator_ctrlnum[actuator])
    return actuator, 1


def first_inputs(model: Any) -> IndexArray:
    """The column in ``ctrl`` of each actuator's first input, (n_actuators,)."""
    columns = [control_columns(model, actuator)[0] for actuator in range(n_actuators(model))]
    return np.array(columns, dtype=np.intp)


def control_range(model: Any, actuator: int) -> FloatArray:
    """The least and the largest command of an actuator's first input, (2,); infinite without."""
    column, width = control_columns(model, actuator)
    limited = width > 0 and bool(model.actuator_ctrllimited[column])
    return np.array(model.actuator_ctrlrange[column] if limited else _UNLIMITED)


def joint_of(model: Any, actuator: int) -> int | None:
    """The joint that an actuator acts on, in its own frame or its parent's; else ``None``."""
    if int(model.actuator_trntype[actuator]) not in ON_JOINT:
        return None
    return int(model.actuator_trnid[actuator, 0])


def tree_of(model: Any, actuator: int) -> int:
    """The first body of the tree that an actuator of a joint or of a site moves, 0 for none."""
    target = int(model.actuator_trnid[actuator, 0])
    if int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_SITE):
        return int(model.body_rootid[model.site_bodyid[target]])
    joint = joint_of(model, actuator)
    return 0 if joint is None else int(model.body_rootid[model.jnt_bodyid[joint]])


def actuators_on(model: Any, joint: int) -> list[int]:
    """The actuators that act on a joint, by number."""
    return [
        actuator for actuator in range(n_actuators(model)) if joint_of(model, actuator) == joint
    ]


def is_effort(model: Any, actuator: int) -> bool:
    """Return whether an actuator's input is a force or torque, up to a constant."""
    none = int(model.actuator_biastype[actuator]) == int(mujoco.mjtBias.mjBIAS_NONE)
    return none and _has_fixed_gain(model, actuator)


def is_servo(model: Any, actuator: int) -> bool:
    """Return whether an actuator's input is a position that it moves its joint to."""
    return _holds_place(model, actuator) and not _integrates(model, actuator)


def servo_gain(model: Any, actuator: int) -> float:
    """The force of a servo per unit of its first input."""
    if _is_pid(model, actuator):  # whose gainprm has the integral's gain
        return -float(model.actuator_biasprm[actuator, 1])
    return float(model.actuator_gainprm[actuator, 0])


def is_velocity_servo(model: Any, actuator: int) -> bool:
    """Return whether an actuator's input is a velocity that it brings its joint to."""
    bias = model.actuator_biasprm[actuator]
    own = _is_affine(model, actuator) and not _is_pid(model, actuator)
    return own and float(bias[1]) == 0.0 and float(bias[2]) < 0.0


def takes_velocity(model: Any, actuator: int) -> bool:
    """Return whether an actuator's input is a velocity, be it that of a place that it holds."""
    integrated = _holds_place(model, actuator) and _integrates(model, actuator)
    return integrated or is_velocity_servo(model, actuator)


def has_affine_law(model: Any, actuator: int) -> bool:
    """Return whether an actuator's force follows from its input and its joint's motion at once.

    A fixed gain times the input, and nothing more than a servo adds.
    """
    plain = int(model.actuator_biastype[actuator]) == int(mujoco.mjtBias.mjBIAS_NONE)
    at_once = int(model.actuator_dyntype[actuator]) == int(mujoco.mjtDyn.mjDYN_NONE)
    return (plain or _is_affine(model, actuator)) and at_once and _has_fixed_gain(model, actuator)


def is_low_passed(model: Any, actuator: int) -> bool:
    """Return whether an actuator's input reaches it through a low-pass of first order."""
    return int(model.actuator_dyntype[actuator]) in LOW_PASSES


def affine_force(
    model: Any,
    actuator: int,
    command: FloatArray,
    position: FloatArray | float = 0.0,
    velocity: FloatArray | float = 0.0,
) -> FloatArray:
    """The force of an actuator on a joint before its limits and its gear, (n,).

    Args:
      model: An MjModel.
      actuator: One of :func:`has_affine_law`, by number.
      command: Its input, (n,).
      position: Of its joint, rad or m, (n,).
      velocity: Of its joint, (n,).
    """
    force = float(model.actuator_gainprm[actuator, 0]) * command
    if not _is_affine(model, actuator):
        return force
    gear = float(model.actuator_gear[actuator, 0])
    constant, stiffness, damping = model.actuator_biasprm[actuator, :3]
    return np.asarray(force + constant + gear * (stiffness * position + damping * velocity))


def actuator_moments(data: Any) -> FloatArray:
    """Generalized force per unit of each actuator's force, (n_actuators, nv).

    Args:
      data: An MjData with its transmissions computed.
    """
    dense: FloatArray = np.zeros((len(data.actuator_force), data.model.nv))
    mujoco.mju_sparse2dense(
        dense, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
    )
    return dense


def _is_affine(model: Any, actuator: int) -> bool:
    return int(model.actuator_biastype[actuator]) == int(mujoco.mjtBias.mjBIAS_AFFINE)


def _holds_place(model: Any, actuator: int) -> bool:
    known = _has_fixed_gain(model, actuator) or _is_pid(model, actuator)
    return (
        known and _is_affine(model, actuator) and float(model.actuator_biasprm[actuator, 1]) < 0.0
    )


def _integrates(model: Any, actuator: int) -> bool:
    return int(model.actuator_dyntype[actuator]) == int(mujoco.mjtDyn.mjDYN_INTEGRATOR)


def _has_fixed_gain(model: Any, actuator: int) -> bool:
    return int(model.actuator_gaintype[actuator]) == int(mujoco.mjtGain.mjGAIN_FIXED)


def _is_pid(model: Any, actuator: int) -> bool:
    """Return whether an actuator is a pid whose first input is a position."""
    own = int(model.actuator_gaintype[actuator]) == _PID
    return own and bool(int(model.actuator_ctrlspec[actuator]) & _POSITION)


def force_range(model: Any, joint: int) -> tuple[float, float]:
    """The least and the largest force of a joint's drive, N m, or N of a slide.

    All its actuators together, within the joint's own limit, also where that is told but does not
    act; infinite where nothing limits it.
    """
    told = model.jnt_actfrcrange[joint]
    limits = told if told[0] < told[1] else _UNLIMITED
    acting = [_forces(model, actuator) for actuator in actuators_on(model, joint)]
    low, high = np.clip(np.sum(acting, axis=0), *limits) if acting else limits
    return float(low), float(high)


def _forces(model: Any, actuator: int) -> FloatArray:
    """The least and the largest force of an actuator on its joint, (2,)."""
    gear, ends = float(model.actuator_gear[actuator, 0]), np.array(_UNLIMITED)
    if is_effort(model, actuator) and np.isfinite(control_range(model, actuator)).all():
        ends = np.sort(control_range(model, actuator) * model.actuator_gainprm[actuator, 0])
    if model.actuator_forcelimited[actuator]:
        ends = np.clip(ends, *model.actuator_forcerange[actuator])
    return np.sort(gear * ends) if gear else np.zeros(2)


def usual_servo_gain(model: Any, joint: int) -> float:
    """The gain of a servo that such a joint may have, N m/rad, or N/m of a slide.

    The joint's largest force at a tenth of a radian or a centimetre off; where nothing limits it
    the weight of what the joint carries, at a metre's distance of a hinge.
    """
    largest = drive_strength(model, joint)
    if largest is None:
        largest = _GRAVITY * float(model.body_subtreemass[model.jnt_bodyid[joint]])
    return largest / (_GIVE_OF_HINGE if _is_hinge(model, joint) else _GIVE_OF_SLIDE)


def drive_strength(model: Any, joint: int) -> float | None:
    """The largest force of a joint's drive that can be believed, N m, or N of a slide.

    ``None`` where nothing limits it, or as good as nothing: a limit of 1000 N m on a robot of 2 kg,
    as many a URDF has, says that nobody knew.
    """
    largest = float(max(np.abs(force_range(model, joint))))
    reach = float(model.stat.extent) if _is_hinge(model, joint) else 1.0
    most = _MOST_WEIGHTS * _GRAVITY * reach * float(np.sum(model.body_mass))
    return largest if 0.0 < largest < most else None


def _is_hinge(model: Any, joint: int) -> bool:
    return int(model.jnt_type[joint]) == HINGE


def add_servo(spec: mujoco.MjSpec, name: str, joint: str, gain: float) -> None:
    """Add an actuator that pulls a joint to its control as a spring does, without limits.

    Args:
      spec: Changed in place.
      name: Of the actuator, which the model must not have yet.
      joint: Name of the joint.
      gain: Of the spring, N m/rad or N/m.
    """
    add_unit_motor(spec, name, mujoco.mjtTrn.mjTRN_JOINT, joint, [1.0, *[0.0] * 5])
    servo = spec.actuator(name)
    servo.gainprm[0], servo.biastype = gain, mujoco.mjtBias.mjBIAS_AFFINE
    servo.biasprm[1] = -gain


def add_velocity_servo(spec: mujoco.MjSpec, name: str, joint: str, gain: float) -> None:
    """Add an actuator that brings a joint to the speed of its control, without limits.

    Euler's integrator holds no actuator's damping through a step, and runs away with stiff ones; a
    model with it gets ``implicitfast``, which does.

    Args:
      spec: Changed in place.
      name: Of the actuator, which the model must not have yet.
      joint: Name of the joint.
      gain: Force by speed, N m s/rad or N s/m.
    """
    add_unit_motor(spec, name, mujoco.mjtTrn.mjTRN_JOINT, joint, [1.0, *[0.0] * 5])
    servo = spec.actuator(name)
    servo.gainprm[0], servo.biastype = gain, mujoco.mjtBias.mjBIAS_AFFINE
    servo.biasprm[2] = -gain
    if spec.option.integrator == mujoco.mjtIntegrator.mjINT_EULER:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def add_unit_motor(
    spec: mujoco.MjSpec, name: str, transmission: mujoco.mjtTrn, target: str, gear: npt.ArrayLike
) -> None:
    """Add an actuator whose control is the force or torque itself, without limits.

    Args:
      spec: Changed in place.
      name: Of the actuator, which the model must not have yet.
      transmission: What it acts on: a joint or a site.
      target: Name of that.
      gear: Force and torque per control, (6,); of a joint the first number.
    """
    spec.add_actuator(
        name=name,
        trntype=transmission,
        target=target,
        gear=np.asarray(gear, dtype=np.float64),
        dyntype=mujoco.mjtDyn.mjDYN_NONE,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        gainprm=[1.0, *[0.0] * 9],
        biastype=mujoco.mjtBias.mjBIAS_NONE,
        ctrllimited=mujoco.mjtLimited.mjLIMITED_FALSE,
        forcelimited=mujoco.mjtLimited.mjLIMITED_FALSE,
    )
