# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The actuators of a model as flat arrays, and those that the pass covers."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IntArray, integers
from sysid_ros.engine.elements import BALL, FREE, n_actuators
from sysid_ros.engine.mechanics.lines import line_of_crank
from sysid_ros.engine.mechanics.muscles import MUSCLE, muscle_peaks, muscles
from sysid_ros.engine.mechanics.paths import crank_actuators

# Rows of Tables.actuator_fields: force = (g . w) ctrl + b . w, w = (1, length, velocity); of a
# muscle the first of g and of b is its strength. To a DC motor with inductance the current adds.
GAIN, BIAS, GEAR, FORCE_LOW, FORCE_HIGH, TIME, CURRENT = 0, 3, 6, 7, 8, 9, 10
N_ACTUATOR_FIELDS = 11

_DYN = mujoco.mjtDyn
INTEGRATOR, FILTEREXACT = int(_DYN.mjDYN_INTEGRATOR), int(_DYN.mjDYN_FILTEREXACT)
DCMOTOR = int(getattr(_DYN, "mjDYN_DCMOTOR", -1))  # since MuJoCo 3.6
_DYNAMICS = (
    int(_DYN.mjDYN_NONE), INTEGRATOR, int(_DYN.mjDYN_FILTER), FILTEREXACT, MUSCLE, DCMOTOR,
)  # fmt: skip
# Inputs of a DC motor: one of the setpoints of its controller, or the voltage.
_POSITION, _VELOCITY, _TORQUE, _VOLTAGE = 1, 2, 4, 8

# What makes a DC motor's force another than affine.
_OF_MOTORS = (
    ("an integral gain", "actuator_gainprm", [5]),
    ("a limit of its controller", "actuator_gainprm", [7]),
    ("a limit of its current's rate, or its setpoint's", "actuator_dynprm", [1, 7]),
    ("a temperature", "actuator_dynprm", [2]),
    ("LuGre friction", "actuator_dynprm", [5, 6]),
    ("cogging", "actuator_biasprm", [0]),
)


def actuator_fields(model: mujoco.MjModel) -> FloatArray:
    """Values of each actuator that a parameter may change, (N_ACTUATOR_FIELDS, nu)."""
    fields = np.zeros((N_ACTUATOR_FIELDS, n_actuators(model)))
    if not n_actuators(model):
        return fields
    fields[GAIN : GAIN + 3] = np.asarray(model.actuator_gainprm)[:, :3].T
    fixed = np.asarray(model.actuator_gaintype) == int(mujoco.mjtGain.mjGAIN_FIXED)
    fields[GAIN + 1 : GAIN + 3, fixed] = 0.0
    affine = np.asarray(model.actuator_biastype) == int(mujoco.mjtBias.mjBIAS_AFFINE)
    fields[BIAS : BIAS + 3, affine] = np.asarray(model.actuator_biasprm)[affine, :3].T
    muscular = muscles(model)
    if muscular.any():
        fields[GAIN : GAIN + 3, muscular[:, 0]] = 0.0
        fields[[GAIN, BIAS]] += muscle_peaks(model).T
    for u in np.flatnonzero(_dc_motors(model)).tolist():
        fields[:, u] = _dc_motor(model, u)
    fields[GEAR] = np.asarray(model.actuator_gear)[:, 0]
    fields[TIME] = np.asarray(model.actuator_dynprm)[:, 0]
    fields[FORCE_LOW : FORCE_HIGH + 1] = ranges(
        model.actuator_forcerange, model.actuator_forcelimited
    ).T
    return fields


def _dc_motors(model: mujoco.MjModel) -> BoolArray:
    """Mark DC motors, (nu,)."""
    marked: BoolArray = np.asarray(model.actuator_dyntype) == DCMOTOR
    return marked


def _dc_motor(model: mujoco.MjModel, u: int) -> FloatArray:
    """Gain, bias and current's share of a DC motor's force, (N_ACTUATOR_FIELDS,).

    A current that follows the voltage at once makes its force affine; by inductance it goes this
    way by a share of 1 - exp(-h / time constant), and MuJoCo acts with the one after the step.
    """
    resistance, constant = np.asarray(model.actuator_gainprm[u, :2]).tolist()
    proportional, derivative = (
        float(model.actuator_gainprm[u, 4]),
        float(model.actuator_gainprm[u, 6]),
    )
    given, fields = int(model.actuator_ctrlspec[u]), np.zeros(N_ACTUATOR_FIELDS)
    if given == _VOLTAGE:
        fields[GAIN], fields[BIAS + 2] = constant / resistance, -(constant**2) / resistance
    else:
        gains = {_POSITION: proportional, _VELOCITY: derivative, _TORQUE: 1.0}
        fields[GAIN] = gains.get(given, 0.0)
        fields[BIAS + 1 : BIAS + 3] = -proportional, -derivative
    time = float(model.actuator_dynprm[u, 0])
    if time > 0.0:
        kept = np.exp(-float(model.opt.timestep) / time)
        fields[:GEAR] *= 1.0 - kept
        fields[CURRENT] = kept * constant
    return fields


def _unsupported_motors(model: mujoco.MjModel) -> str | None:
    """Return why a DC motor's force is not affine in its input, its motion and its current."""
    motors = np.flatnonzero(_dc_motors(model))
    if not motors.size:
        return None
    if not hasattr(model, "actuator_ctrlspec"):
        return "a DC motor has another law before MuJoCo 4"
    if np.any(model.actuator_ctrlnum[motors] != 1):
        return "a DC motor has several inputs, or none"
    for what, table, columns in _OF_MOTORS:
        if np.any(getattr(model, table)[motors][:, columns]):
            return f"a DC motor has {what}"
    if np.any(model.actuator_forcelimited[motors] & (model.actuator_dynprm[motors, 0] > 0.0)):
        return "a DC motor with inductance has a force limit"
    return None


def unfollowed_motor(model: mujoco.MjModel, other: mujoco.MjModel) -> str | None:
    """Return what another model of the same size has of a DC motor that would not be noticed."""
    motors = _dc_motors(model)
    for what, table, columns in _OF_MOTORS:
        before, after = (np.asarray(getattr(each, table))[motors] for each in (model, other))
        if not np.array_equal(before[:, columns], after[:, columns]):
            return f"{what} of a DC motor"
    return None


def unsupported_actuators(model: mujoco.MjModel) -> str | None:
    """Return why the pass does not know an actuator, ``None`` if it knows them all."""
    if int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION):
        return "actuation is disabled"
    several = np.any(np.asarray(getattr(model, "actuator_ctrlnum", 1)) != 1)
    obstacle = "an actuator has several inputs, or none" if several else _unsupported_motors(model)
    if obstacle is not None:
        return obstacle
    joint = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    on_joint = np.isin(np.asarray(model.actuator_trntype), joint)
    along = actuator_lines(model) >= 0
    at_site = acts_on_sites(model)
    if not np.all(on_joint | along | at_site):
        return "an actuator acts on something else than a joint, a tendon, a slider-crank or a site"
    targets = np.asarray(model.actuator_trnid)[on_joint, 0]
    if np.any(np.isin(np.asarray(model.jnt_type)[targets], (FREE, BALL))):
        return "an actuator acts on a ball or free joint"
    if np.any(at_site[:, None] & muscles(model)):
        return "a muscle acts at a site"
    motors = _dc_motors(model)
    affine = [GAIN + 1, GAIN + 2, BIAS + 1, BIAS + 2]
    if np.any(at_site) and np.any(actuator_fields(model)[affine][:, at_site]):
        return "an actuator at a site depends on its velocity"
    if np.any(at_site | along) and np.any(model.jnt_actfrclimited):
        return "a joint's force limit includes actuators at sites, on tendons or slider-cranks"
    gains = (int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE))
    biases = (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))
    muscular = muscles(model)
    if not np.all(np.isin(np.asarray(model.actuator_gaintype), gains) | muscular[:, 0] | motors):
        return "an actuator has a gain that is neither fixed, affine nor a muscle's"
    if not np.all(np.isin(np.asarray(model.actuator_biastype), biases) | muscular[:, 1] | motors):
        return "an actuator has a bias that is neither affine nor a muscle's"
    dynamics = np.asarray(model.actuator_dyntype)
    if not np.all(np.isin(dynamics, _DYNAMICS)) or np.any(np.asarray(model.actuator_actnum) > 1):
        return "an actuator's activation is neither a filter's, an integrator's nor a muscle's"
    if np.any(np.asarray(model.actuator_actearly, dtype=bool) & ~motors):
        return "an actuator acts with its next activation"
    if model.na and int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
        return "RK4 integrates activations"
    for name in ("actuator_delay", "actuator_damping", "actuator_dampingpoly", "actuator_armature"):
        if np.any(getattr(model, name, 0.0)):
            return f"an actuator has {name.removeprefix('actuator_')}"
    return None


def acts_on_sites(model: mujoco.MjModel) -> BoolArray:
    """Mark actuators that act at a site, relative to no other, (nu,)."""
    at_site = np.asarray(model.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_SITE)
    marked: BoolArray = at_site & (np.asarray(model.actuator_trnid)[:, 1] < 0)
    return marked


def actuator_lines(model: mujoco.MjModel) -> IntArray:
    """The line that each actuator acts along, -1 for those that act along none."""
    on_tendon = np.asarray(model.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_TENDON)
    lines = np.where(on_tendon, np.asarray(model.actuator_trnid)[:, 0], -1)
    for actuator in crank_actuators(model):
        lines[actuator] = line_of_crank(model, actuator)
    return integers(lines)


def actuator_dofs(model: mujoco.MjModel) -> IntArray:
    """The degree of freedom of each actuator, -1 for those at sites and along lines."""
    dofs = np.full(n_actuators(model), -1)
    joints = ~acts_on_sites(model) & (actuator_lines(model) < 0)
    dofs[joints] = np.asarray(model.jnt_dofadr)[np.asarray(model.actuator_trnid)[joints, 0]]
    return integers(dofs)


def site_wrenches(model: mujoco.MjModel) -> tuple[IntArray, FloatArray]:
    """Body and wrench (torque, force) about its origin of each actuator at a site, (nu, 6)."""
    bodies, wrenches = np.full(n_actuators(model), -1), np.zeros((n_actuators(model), 6))
    for u in np.flatnonzero(acts_on_sites(model)).tolist():
        site = int(model.actuator_trnid[u, 0])
        bodies[u] = int(model.site_bodyid[site])
        force, torque = np.zeros(3), np.zeros(3)
        mujoco.mju_rotVecQuat(force, model.actuator_gear[u, :3], model.site_quat[site])
        mujoco.mju_rotVecQuat(torque, model.actuator_gear[u, 3:], model.site_quat[site])
        wrenches[u, :3] = torque + np.cross(model.site_pos[site], force)
        wrenches[u, 3:] = force
    return bodies, wrenches


def ranges(ranges: Any, limited: Any) -> FloatArray:
    """Ranges that are infinite where they do not apply, (n, 2)."""
    unlimited = np.array([-np.inf, np.inf])
    applies = np.asarray(limited, dtype=bool)[:, None]
    return np.where(applies, np.asarray(ranges, dtype=float), unlimited)
