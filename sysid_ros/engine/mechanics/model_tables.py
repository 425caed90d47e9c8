# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A model as flat arrays for the sensitivity pass, and the models that the pass covers."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray, floats, integers
from sysid_ros.engine.compiled import TERMS
from sysid_ros.engine.elements import (
    BALL,
    FREE,
    HINGE,
    SLIDE,
    first_dofs,
    gravity_of,
    inertial_parameters,
    last_dofs,
)
from sysid_ros.engine.friction import friction_rows
from sysid_ros.engine.mechanics.actuator_tables import (
    acts_on_sites,
    actuator_dofs,
    actuator_fields,
    actuator_lines,
    ranges,
    site_wrenches,
    unsupported_actuators,
)
from sysid_ros.engine.mechanics.connections import (
    Connections,
    connections_of,
    has_connections,
)
from sysid_ros.engine.mechanics.floor_contacts import Feet, feet_of
from sysid_ros.engine.mechanics.fluid import (
    TURNS_IMPLICITLY,
    Ellipsoids,
    ellipsoids_of,
    fluid_fields,
    in_fluid,
    inertial_frames,
    turned_implicitly,
)
from sysid_ros.engine.mechanics.lines import Lines, lines_of, unsupported_lines
from sysid_ros.engine.mechanics.muscles import (
    activation_times,
    muscle_curves,
    muscles,
)
from sysid_ros.engine.mechanics.paths import crank_actuators

_OPTION, _DISABLE = mujoco.mjtIntegrator, mujoco.mjtDisableBit
EULER, RK4 = int(_OPTION.mjINT_EULER), int(_OPTION.mjINT_RK4)
IMPLICIT, IMPLICITFAST = int(_OPTION.mjINT_IMPLICIT), int(_OPTION.mjINT_IMPLICITFAST)

# Rows of Tables.dof_fields: what a parameter may change about one degree of freedom.
ARMATURE, FRICTIONLOSS, INVWEIGHT = 0, 1, 2
DAMPING, DAMPING_2, DAMPING_3 = 3, 4, 5  # times v, v|v|, v^3
STIFFNESS, STIFFNESS_2, STIFFNESS_3, SPRINGREF = 6, 7, 8, 9  # times x, x^2, x^3, x = q - springref
N_DOF_FIELDS = 10

# Tables that MuJoCo's model has under the same names.
_INTEGERS = (
    "body_parentid", "body_jntadr", "body_jntnum", "body_dofadr", "body_dofnum", "jnt_type",
    "jnt_qposadr", "jnt_dofadr", "dof_bodyid", "dof_jntid", "dof_parentid", "jnt_limited",
)  # fmt: skip
_NUMBERS = (
    "qpos0", "body_pos", "body_quat", "jnt_pos", "jnt_axis", "dof_solref", "dof_solimp",
    "jnt_range", "jnt_margin", "jnt_solref", "jnt_solimp",
)  # fmt: skip


class Tables(NamedTuple):
    """The arrays of a model that the pass reads; names as in MjModel unless said otherwise."""

    timestep: float  # s
    integrator: int
    implicit_damping: bool  # whether joint damping acts implicitly
    implicit: bool  # whether actuators, lines and the medium do
    holds: bool  # whether what is implicit is more than a diagonal matrix and along lines
    turns: bool  # whether Coriolis forces are among it
    friction_enabled: bool
    limit_enabled: bool
    refsafe: bool
    gravity: FloatArray  # (3,)
    qpos0: FloatArray  # (nq,)
    gravity_compensation: FloatArray  # (nbody,): the share of its weight that carries each body
    compensates: bool  # whether any does
    body_parentid: IntArray
    body_jntadr: IntArray
    body_jntnum: IntArray
    body_dofadr: IntArray
    body_dofnum: IntArray
    body_lastdof: IntArray  # (nbody,): the last dof that moves the body, -1 for none
    body_pos: FloatArray
    body_quat: FloatArray
    inertia: FloatArray  # (nbody, 10): inertial parameters in the body's frame
    in_fluid: bool
    body_frame: FloatArray  # (nbody, 3, 3): from the inertial frame to the body's
    body_fluid: FloatArray  # (nbody, 18): the medium around it, (nbody, 0) without one
    ellipsoids: Ellipsoids
    jnt_type: IntArray
    jnt_qposadr: IntArray
    jnt_dofadr: IntArray
    jnt_pos: FloatArray
    jnt_axis: FloatArray
    dof_bodyid: IntArray
    dof_jntid: IntArray
    dof_parentid: IntArray
    dof_first: IntArray  # (nv,): the first of the three of a ball, or the dof itself
    dof_together: IntArray  # (nv,): how many dofs a joint moves by at once, 3 in a ball
    dof_turned: IntArray  # (nv,): 1 where Coriolis forces act implicitly
    dof_fields: FloatArray  # (N_DOF_FIELDS, nv)
    dof_solref: FloatArray
    dof_solimp: FloatArray
    jnt_limited: IntArray
    jnt_range: FloatArray
    jnt_margin: FloatArray
    jnt_solref: FloatArray
    jnt_solimp: FloatArray
    jnt_forcerange: FloatArray  # (njnt, 2): of all actuators together, infinite where unlimited
    lines: Lines
    feet: Feet
    connections: Connections
    elliptic: bool  # whether cones of friction are
    impratio: float
    actuator_dof: IntArray  # (nu,): -1 where it acts on a site or along a line
    actuator_line: IntArray  # (nu,): the line that it acts along, -1 for none
    site_actuators: IntArray  # those that do
    actuator_bodyid: IntArray  # (nu,): the body of the site
    actuator_wrench: FloatArray  # (nu, 6): torque and force per unit, in the body's frame
    actuator_fields: FloatArray  # (N_ACTUATOR_FIELDS, nu)
    actuator_muscle: IntArray  # (nu, 2): 1 where its gain and its bias are a muscle's
    actuator_curve: FloatArray  # (nu, 2, N_CURVE): of these
    actuator_times: FloatArray  # (nu, 3): of a muscle's activation
    ctrl_range: FloatArray  # (nu, 2), infinite where unlimited
    actuator_act: IntArray  # (nu,): its activation, -1 for none
    actuator_dynamics: IntArray  # (nu,)
    act_range: FloatArray  # (nu, 2), infinite where unlimited
    friction_dofs: IntArray  # the degrees of freedom whose friction depends on more than Kv and Kc
    friction_fields: FloatArray  # (TERMS, nv)
    site_places: FloatArray  # (nsite, 7): positions and orientations on their bodies


def tables_of(model: mujoco.MjModel) -> Tables:
    """Read the tables of a model that :func:`unsupported` has nothing against."""
    disabled = int(model.opt.disableflags)
    integrator = int(model.opt.integrator)
    eulerdamp = integrator == EULER and not disabled & int(_DISABLE.mjDSBL_EULERDAMP)
    implicit, turned = integrator in (IMPLICIT, IMPLICITFAST), turned_implicitly(model)
    fluid, first = fluid_fields(model), first_dofs(model)
    site_bodies, wrenches = site_wrenches(model)
    copied: dict[str, Any] = {name: integers(getattr(model, name)) for name in _INTEGERS}
    copied |= {name: floats(getattr(model, name)) for name in _NUMBERS}
    return Tables(
        **copied,
        timestep=float(model.opt.timestep),
        integrator=integrator,
        implicit_damping=eulerdamp or implicit,
        implicit=implicit,
        holds=implicit and (in_fluid(model) or bool(turned.any())),
        turns=bool(turned.any()),
        friction_enabled=not disabled & int(_DISABLE.mjDSBL_FRICTIONLOSS),
        limit_enabled=not disabled & int(_DISABLE.mjDSBL_LIMIT),
        refsafe=not disabled & int(_DISABLE.mjDSBL_REFSAFE),
        gravity=gravity_of(model),
        gravity_compensation=floats(model.body_gravcomp),
        compensates=bool(np.any(model.body_gravcomp)),
        body_lastdof=last_dofs(model),
        inertia=inertial_parameters(model),
        in_fluid=in_fluid(model),
        body_frame=inertial_frames(fluid),
        body_fluid=fluid,
        ellipsoids=ellipsoids_of(model),
        dof_first=first,
        dof_together=integers(np.bincount(first, minlength=model.nv)),
        dof_turned=integers(turned),
        dof_fields=dof_fields(model),
        jnt_forcerange=ranges(model.jnt_actfrcrange, model.jnt_actfrclimited),
        lines=lines_of(model),
        feet=feet_of(model),
        connections=connections_of(model),
        elliptic=int(model.opt.cone) == int(mujoco.mjtCone.mjCONE_ELLIPTIC),
        impratio=float(model.opt.impratio),
        actuator_dof=actuator_dofs(model),
        actuator_line=actuator_lines(model),
        site_actuators=integers(np.flatnonzero(acts_on_sites(model))),
        actuator_bodyid=integers(site_bodies),
        actuator_wrench=floats(wrenches),
        actuator_fields=actuator_fields(model),
        actuator_muscle=integers(muscles(model)),
        actuator_curve=muscle_curves(model),
        actuator_times=activation_times(model),
        ctrl_range=ranges(
            model.actuator_ctrlrange,
            model.actuator_ctrllimited & (not disabled & int(_DISABLE.mjDSBL_CLAMPCTRL)),
        ),
        actuator_act=integers(model.actuator_actadr),
        actuator_dynamics=integers(model.actuator_dyntype),
        act_range=ranges(model.actuator_actrange, model.actuator_actlimited),
        friction_dofs=integers([int(model.jnt_dofadr[j]) for j in friction_rows(model)]),
        friction_fields=friction_fields(model),
        site_places=site_places(model),
    )


def dof_fields(model: mujoco.MjModel) -> FloatArray:
    """Values of each degree of freedom that a parameter may change, (N_DOF_FIELDS, nv)."""
    fields = np.zeros((N_DOF_FIELDS, model.nv))
    disabled = int(model.opt.disableflags)
    fields[ARMATURE] = model.dof_armature
    fields[FRICTIONLOSS] = model.dof_frictionloss
    fields[INVWEIGHT] = model.dof_invweight0
    if not disabled & int(_DISABLE.mjDSBL_DAMPER):
        fields[DAMPING] = model.dof_damping
        fields[DAMPING_2:STIFFNESS] = _polynomial(model, "dof_dampingpoly", model.nv)
    if not disabled & int(_DISABLE.mjDSBL_SPRING):
        joints = np.asarray(model.dof_jntid)
        fields[STIFFNESS] = model.jnt_stiffness[joints]
        fields[STIFFNESS_2:SPRINGREF] = _polynomial(model, "jnt_stiffnesspoly", model.njnt)[
            :, joints
        ]
        kinds = np.asarray(model.jnt_type)[joints]
        scalar = (kinds == SLIDE) | (kinds == HINGE)
        addresses = np.asarray(model.jnt_qposadr)[joints[scalar]]
        fields[SPRINGREF, scalar] = model.qpos_spring[addresses]
    return fields


def site_places(model: mujoco.MjModel) -> FloatArray:
    """Positions and orientations of all sites on their bodies, (nsite, 7)."""
    return np.hstack([model.site_pos, model.site_quat])


def friction_fields(model: mujoco.MjModel) -> FloatArray:
    """The numbers of each joint's friction law, zero where it has none, (TERMS, nv)."""
    fields = np.zeros((TERMS, model.nv))
    for joint, row in friction_rows(model).items():
        fields[:, int(model.jnt_dofadr[joint])] = row
    return fields


def unsupported(model: mujoco.MjModel) -> str | None:
    """Return the reason why the pass cannot be used, sensors aside; ``None`` where it can.

    Contacts do not rule a model out: a rollout in which they act no longer satisfies the pass's
    equation of motion, which is checked at every step.

    Args:
      model: The compiled model.
    """
    for name, what in _COUNTED.items():
        if getattr(model, name, 0):
            return f"the model has {what}"
    if friction_rows(model) and int(model.opt.integrator) == RK4:
        return "a joint's friction depends on its load inside the stages of RK4"
    if has_connections(model) and int(model.opt.integrator) == RK4:
        return "an equality connects bodies inside the stages of RK4"
    obstacle = unsupported_lines(model) or _unsupported_joints(model)
    obstacle = obstacle or unsupported_actuators(model)
    if obstacle is None and _loads_friction(model):
        return "a joint's friction depends on its load beside tendons or equalities"
    if obstacle is None and mujoco.mj_version() < TURNS_IMPLICITLY and _ties_free_body(model):
        return "implicitfast turns a free body that is tied to something by a rule of its own"
    return obstacle


def _loads_friction(model: mujoco.MjModel) -> bool:
    """Return whether tendons or equalities act where friction depends on the load."""
    rows = friction_rows(model)
    if not rows or not (model.ntendon or model.neq):
        return False
    trees, lines = np.asarray(model.dof_treeid), lines_of(model)
    last = lines.first[lines.equality.size - len(crank_actuators(model))]
    ends = np.asarray(model.body_treeid)[connections_of(model).body]
    rubbing = trees[np.asarray(model.jnt_dofadr)[list(rows)]]
    return bool(np.isin(rubbing, [*ends.ravel(), *trees[lines.dof[:last]]]).any())


def _ties_free_body(model: mujoco.MjModel) -> bool:
    """Return whether a connection or a line acts on a free body that carries no joint.

    Beside the forces of others, no step would show by what rule implicitfast turns it.
    """
    if int(model.opt.integrator) != IMPLICITFAST:
        return False
    trees = np.asarray(model.dof_treeid)
    free = np.asarray(model.jnt_dofadr)[np.asarray(model.jnt_type) == FREE]
    alone = [tree for tree in trees[free] if np.count_nonzero(trees == tree) == 6]
    if not alone:
        return False
    ends = np.asarray(model.body_treeid)[connections_of(model).body]
    return bool(np.isin([*ends.ravel(), *trees[lines_of(model).dof]], alone).any())


_COUNTED = {"nflex": "flexible bodies", "nmocap": "mocap bodies", "nplugin": "plugins"}


def _unsupported_joints(model: mujoco.MjModel) -> str | None:
    kinds = np.asarray(model.jnt_type)
    round_joint = np.isin(kinds, (FREE, BALL))
    if np.any(model.jnt_stiffness[round_joint]):
        return "a ball or free joint has a spring"
    if np.any(model.jnt_actgravcomp):
        return "a joint's actuators compensate gravity"
    if np.any(getattr(model, "jnt_plasticadr", np.full(1, -1)) >= 0):
        return "the model has plastic springs"
    return None


def _polynomial(model: mujoco.MjModel, name: str, count: int) -> FloatArray:
    """Coefficients beyond the linear one, (2, count); zeros before MuJoCo 4."""
    values = getattr(model, name, None)
    return np.zeros((2, count)) if values is None else np.asarray(values)[:, :2].T
