# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model as plain arrays for the compiled regressor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray, floats, integers
from sysid_ros.engine.elements import (
    SLIDE,
    first_dofs,
    fixed_tendons,
    gravity_of,
    inertial_parameters,
    joint_couplings,
    joints_of_tendon,
    last_dofs,
    related_dofs,
)
from sysid_ros.engine.regressor.columns import Columns

_MIN_IMPEDANCE, _MAX_IMPEDANCE = 1e-4, 0.9999  # MuJoCo's mjMINIMP and mjMAXIMP
_MIN_VALUE = 1e-15  # mjMINVAL
_INTEGERS = (
    "body_parentid", "body_jntadr", "body_jntnum", "body_dofadr", "body_dofnum", "jnt_type",
    "jnt_qposadr", "jnt_dofadr", "dof_jntid", "dof_parentid",
)  # fmt: skip
_NUMBERS = ("body_pos", "body_quat", "jnt_pos", "jnt_axis", "qpos0", "qpos_spring")


class Tree(NamedTuple):
    """Bodies, joints and fixed tendons; names as in MjModel, and as of the mechanics' tables."""

    body_parentid: IntArray
    body_jntadr: IntArray
    body_jntnum: IntArray
    body_dofadr: IntArray
    body_dofnum: IntArray
    body_lastdof: IntArray  # (nbody,): the last degree of freedom that moves it, -1 for none
    body_pos: FloatArray
    body_quat: FloatArray
    inertia: FloatArray  # (nbody, 10): the model's own
    gravity: FloatArray  # (3,)
    gravity_compensation: FloatArray  # (nbody,)
    compensates: bool  # whether any of it is compensated
    jnt_type: IntArray
    jnt_qposadr: IntArray
    jnt_dofadr: IntArray
    jnt_pos: FloatArray
    jnt_axis: FloatArray
    qpos0: FloatArray
    qpos_spring: FloatArray
    dof_jntid: IntArray
    dof_parentid: IntArray
    dof_together: IntArray  # (nv,): how many a joint moves by at once, 3 in a ball
    dof_actuated_gravity: IntArray  # (nv,): 1 where gravity compensation is the actuator's
    related: IntArray  # (nv, nv): 1 where one of two degrees of freedom moves the other
    tendon: FloatArray  # (number of fixed tendons, nv): moment arms
    coupling: (
        FloatArray  # (number of couplings, 7): dependent dof, driving dof or -1, 5 coefficients
    )


class Friction(NamedTuple):
    """The sign of a dry friction, see :func:`friction_of`.

    It is clip((acceleration + rate * velocity) / width, -1, 1) for MuJoCo's own law, and
    tanh(velocity / width) for a law of velocity alone (rate 0).

    Where MuJoCo's own law is not whole, its torque depends on the inertia that the friction works
    against rather than on the friction, see :func:`with_inertia`.
    """

    rate: FloatArray  # (nv + tendons,) 1/s
    width: FloatArray  # (nv + tendons,) rad/s^2 or rad/s
    rest: FloatArray  # (nv + tendons,): the part of such torque that is written as the friction's
    inertia: FloatArray  # (nv, p) or (nv, 0): per unit of its sign, that of the columns


class Layout(NamedTuple):
    """The column of every parameter, -1 where there is none."""

    body: IntArray  # (nbody,): the first of ten
    armature: IntArray  # (nv,)
    damping: IntArray  # (nv,)
    damping2: IntArray  # (nv,)
    damping3: IntArray  # (nv,)
    frictionloss: IntArray  # (nv,)
    stiffness: IntArray  # (nv,)
    offset: IntArray  # (nv,)
    tendon_armature: IntArray  # (tendons,)
    tendon_damping: IntArray  # (tendons,)
    tendon_frictionloss: IntArray  # (tendons,)


def tree_of(model: mujoco.MjModel) -> Tree:
    """The kinematics of a model."""
    copied: dict[str, Any] = {name: integers(getattr(model, name)) for name in _INTEGERS}
    copied |= {name: floats(getattr(model, name)) for name in _NUMBERS}
    return Tree(
        **copied,
        body_lastdof=last_dofs(model),
        inertia=inertial_parameters(model),
        gravity=gravity_of(model),
        gravity_compensation=floats(model.body_gravcomp),
        compensates=bool(np.any(model.body_gravcomp)),
        dof_together=integers(np.bincount(first_dofs(model), minlength=model.nv)),
        dof_actuated_gravity=integers(np.asarray(model.jnt_actgravcomp)[model.dof_jntid]),
        related=related_dofs(model),
        tendon=tendon_arms(model),
        coupling=_couplings(model),
    )


def layout_of(model: mujoco.MjModel, columns: Columns) -> Layout:
    """Return the column into which the compiled regressor writes each parameter."""
    place = columns.place
    bodies = [place.get((b, "m"), -1) for b in range(model.nbody)]

    def of_dofs(kind: str) -> IntArray:
        found = np.full(model.nv, -1)
        for dof in range(model.nv):
            joint = int(model.dof_jntid[dof])
            number = dof if kind == "offset" else joint
            found[dof] = place.get((number, kind), -1)
        return found.astype(np.int64)

    tendons = fixed_tendons(model)

    def of_tendons(kind: str) -> IntArray:
        return np.array([place.get((t, kind), -1) for t in tendons], dtype=np.int64)

    return Layout(
        np.array(bodies, dtype=np.int64),
        *(of_dofs(kind) for kind in Layout._fields[1:8]),
        *(of_tendons(kind) for kind in Layout._fields[8:]),
    )


# Speeds below which dry friction is not yet whole, of hinges (rad/s) and slides (m/s), about those
# of MuJoCo's defaults. At rest friction holds against whatever pulls; without such a range its sign
# would follow the noise of velocities there.
_CREEP, _SLIDE_CREEP = 0.01, 0.002
SHARP: Mapping[str, float] = MappingProxyType({})  # no joint whose friction is whole later on
_AT_ONCE, _LAW_CREEP = 1e6, 0.002  # 1/s and rad/s (m/s): of joints with a friction law
_FAINT = 1e-3  # of a joint's inertia, that one parameter is too little of to be told
_WIDEST = 0.999  # impedance that says with its time constant how fast friction stops a motion


def sharp_friction(
    model: mujoco.MjModel, creep: Mapping[str, float]
) -> tuple[FloatArray, FloatArray]:
    """Solver parameters with which MuJoCo's dry friction follows velocity as closely as it can.

    Its share is clip((qacc + b qvel) / width, -1, 1). The usual time constant of 20 ms gives
    1 / b = 9.5 ms, in which an arm's velocity changes by a tenth of a radian per second; two time
    steps are the least that MuJoCo allows. The width, b times the speed from which on friction is
    whole, takes an impedance that depends on the friction and on the inertia it works against.

    Args:
      model: With the friction and the inertia that count.
      creep: By joint, rad/s or m/s from which on its friction is whole, where that is not at once.

    Returns:
      solreffriction (2,), and the first two of solimpfriction for every degree of freedom and every
      fixed tendon, (nv + tendons, 2).
    """
    width = _sharp_rate(model) * _creep(model, creep)
    tendons = fixed_tendons(model)
    weight = np.concatenate([model.dof_invweight0, model.tendon_invweight0[tendons]])
    loss = np.concatenate([model.dof_frictionloss, model.tendon_frictionloss[tendons]])
    soft = weight * loss
    impedance = np.clip(soft / (soft + width), _MIN_IMPEDANCE, _MAX_IMPEDANCE)
    widest = np.maximum(impedance, _WIDEST)
    return np.array([2.0 * float(model.opt.timestep), 1.0]), np.column_stack([impedance, widest])


def _sharp_rate(model: mujoco.MjModel) -> float:
    return 1.0 / (_WIDEST * float(model.opt.timestep))


def _creep(model: mujoco.MjModel, creep: Mapping[str, float]) -> FloatArray:
    slides = np.asarray(model.jnt_type)[np.asarray(model.dof_jntid)] == SLIDE
    own = np.where(slides, _SLIDE_CREEP, _CREEP)
    for joint, speed in creep.items():
        own[int(model.joint(joint).dofadr[0])] = speed
    return np.append(own, np.full(len(fixed_tendons(model)), _CREEP))


def friction_of(
    model: mujoco.MjModel,
    velocity_scale: float | None,
    sharp: bool,
    creep: Mapping[str, float] = SHARP,
) -> Friction:
    """The sign of every dry friction.

    Args:
      model: Its solver parameters say how sharply MuJoCo's friction changes sign.
      velocity_scale: rad/s or m/s over which it changes as tanh does; ``None`` for MuJoCo's law.
      sharp: Whether MuJoCo's law is that of :func:`sharp_friction` rather than the model's own.
      creep: Of the sharp law.
    """
    tendons = fixed_tendons(model)
    count = model.nv + len(tendons)
    if velocity_scale is not None:
        return _plain(np.zeros(count), np.full(count, max(velocity_scale, _MIN_VALUE)), model.nv)
    if sharp:
        rates = np.full(count, _sharp_rate(model))
        return _plain(rates, rates * _creep(model, creep), model.nv)
    # Softness and damping of a friction constraint: MuJoCo's documentation, chapter Computation,
    # "Constraint model"; a friction has no position, thus the impedance at zero and no stiffness.
    solref = np.concatenate([model.dof_solref, model.tendon_solref_fri[tendons]])
    solimp = np.concatenate([model.dof_solimp, model.tendon_solimp_fri[tendons]])
    weight = np.concatenate([model.dof_invweight0, model.tendon_invweight0[tendons]])
    loss = np.concatenate([model.dof_frictionloss, model.tendon_frictionloss[tendons]])
    impedance = np.clip(solimp[:, 0], _MIN_IMPEDANCE, _MAX_IMPEDANCE)
    widest = np.clip(solimp[:, 1], _MIN_IMPEDANCE, _MAX_IMPEDANCE)
    constant = solref[:, 0].copy()
    if not int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE):
        constant = np.where(
            constant > 0.0, np.maximum(constant, 2.0 * model.opt.timestep), constant
        )
    standard = 2.0 / np.maximum(_MIN_VALUE, widest * constant)
    direct = -solref[:, 1] / widest
    softness = np.maximum(_MIN_VALUE, (1.0 - impedance) * weight / impedance)
    rate = np.where(solref[:, 0] > 0.0, standard, direct)
    return _plain(rate, np.maximum(softness * loss, 1e-9), model.nv)


def at_once(friction: Friction, dofs: Sequence[int]) -> Friction:
    """The same, where some joints' friction follows velocity at once and is whole at a creep.

    MuJoCo's leads velocity by a time step at the least, which no file with a friction law needs:
    2 ms of 10 N m, twice, when an arm that carries itself turns round.
    """
    rate, width = friction.rate.copy(), friction.width.copy()
    rate[dofs], width[dofs] = _AT_ONCE, _AT_ONCE * _LAW_CREEP
    return friction._replace(rate=rate, width=width)


def _plain(rate: FloatArray, width: FloatArray, nv: int) -> Friction:
    return Friction(rate, width, np.ones(len(rate)), np.zeros((nv, 0)))


def with_inertia(
    friction: Friction, model: mujoco.MjModel, energy: FloatArray, nominal: FloatArray
) -> Friction:
    """MuJoCo's own law, so that the columns are the derivative of its torque.

    Where it is not whole, a hinge's or slide's torque is (acceleration + rate * velocity) / (c w),
    with c from solimpfriction and w the inverse inertia at the reference pose. As 1 / w is
    homogeneous in inertias and armatures, it is the sum of their derivatives times themselves.

    Args:
      friction: From :func:`friction_of`.
      model: With the friction and the inertia that count.
      energy: u . M_k u of each degree of freedom and column, where u is the acceleration that a
        unit torque there gives at the reference pose, (nv, p); zero where k is no inertia.
      nominal: The columns' values, (p,).
    """
    nv = model.nv
    weight = np.maximum(np.asarray(model.dof_invweight0), _MIN_VALUE)
    parts = energy * nominal / weight[:, None]  # of 1, by column
    kinds = np.asarray(model.jnt_type)[np.asarray(model.dof_jntid)]
    rate = np.where(friction.rate > 0.0, friction.rate, np.inf)[:nv]
    soft = (friction.width[:nv] / rate > _CREEP) & (kinds >= SLIDE)
    used = soft[:, None] & (np.abs(parts) > _FAINT)
    rest = friction.rest.copy()
    rest[:nv] -= np.where(used, parts, 0.0).sum(axis=1)
    scale = np.asarray(model.dof_frictionloss) / weight
    return friction._replace(rest=rest, inertia=np.where(used, scale[:, None] * energy, 0.0))


def friction_signs(
    model: mujoco.MjModel,
    qvel: FloatArray,
    qacc: FloatArray,
    *,
    sharp: bool,
    creep: Mapping[str, float],
) -> FloatArray:
    """The share of dry friction of every degree of freedom by MuJoCo's law, (n, nv), -1 to 1.

    Args:
      model: With the friction and the inertia that count.
      qvel: (n, nv).
      qacc: (n, nv).
      sharp: Whether the law is that of :func:`sharp_friction` rather than the model's own.
      creep: Of the sharp law.
    """
    rate, width = (table[: model.nv] for table in friction_of(model, None, sharp, creep)[:2])
    return np.asarray(np.clip((qacc + rate * qvel) / width, -1.0, 1.0))


def tendon_arms(model: mujoco.MjModel) -> FloatArray:
    """Moment arms of the fixed tendons, (tendons, nv)."""
    tendons = fixed_tendons(model)
    arms: FloatArray = np.zeros((len(tendons), model.nv))
    for row, tendon in zip(arms, tendons, strict=True):
        for joint, coefficient in joints_of_tendon(model, tendon).items():
            row[int(model.jnt_dofadr[joint])] = coefficient
    return arms


def _couplings(model: mujoco.MjModel) -> FloatArray:
    """Couplings of joints, by degree of freedom; see :attr:`Tree.coupling`."""
    rows = [
        (model.jnt_dofadr[to], model.jnt_dofadr[of] if of >= 0 else -1, *polynomial)
        for to, of, polynomial in joint_couplings(model)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 7)
