# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of spheres and corners of boxes with planes that do not move: feet on a floor.

At a given acceleration the force of a contact follows from MuJoCo's dual problem: with the rows J
of the normal and both tangents, its violation u = J qacc + B J v + (K r depth, 0, 0) has the force
f(u) / R, quadratic in pieces, where the regularization R and the impedance r depend on the depth.
Its derivative at a fixed acceleration has three parts: J moves along with the body, the depth
changes, and so do the velocity and the acceleration of the point. The rest, -J^T (df/du) J dqacc,
is a stiffness as that of a joint's rows. See MuJoCo's documentation, Computation, "Constraint
model", and mj_instantiateContact, mj_makeImpedance and mj_constraintUpdate for the formulas.

Other geoms that touch violate the equation of motion, which is checked at every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray

_GEOM = mujoco.mjtGeom
_PLANE, _SPHERE, _BOX = (int(getattr(_GEOM, f"mjGEOM_{n}")) for n in ("PLANE", "SPHERE", "BOX"))
# Switches that leave out contacts, or make them in another way than is written here.
_WITHOUT = ("mjDSBL_CONTACT", "mjDSBL_CONSTRAINT")
_OTHERWISE = ("mjENBL_OVERRIDE", "mjENBL_DIAGEXACT", "mjENBL_IPC", "mjENBL_SPECULATIVE")
_WIDENED = ("geom_margin", "geom_gap", "geom_adhesion", "geom_surfacevel")
_MIN_FRICTION = 1e-5  # mjMINMU
# What a parameter may change about contacts of geoms that stay on their bodies.
_SHAPING = (
    "geom_type", "geom_pos", "geom_quat", "geom_size", "geom_contype", "geom_conaffinity",
    "geom_condim", "geom_priority", "geom_friction", "geom_solref", "geom_solimp", "geom_solmix",
    *_WIDENED, "exclude_signature",
)  # fmt: skip
_OPTIONS = ("cone", "impratio", "disableflags", "enableflags")


class Feet(NamedTuple):
    """Points of a model that planes may press against, each with its plane."""

    body: IntArray  # (k,)
    local: FloatArray  # (k, 3): in the body's frame, m
    radius: FloatArray  # (k,), m
    point: FloatArray  # (k, 3): of the plane
    frame: FloatArray  # (k, 3, 3): its normal and two tangents, in rows
    friction: FloatArray  # (k,)
    dimension: IntArray  # (k,): 1 without friction, or 3
    solref: FloatArray  # (k, 2)
    solimp: FloatArray  # (k, 5)
    weight: FloatArray  # (k,): the body's inverse inertia, 1/kg


class Footing(NamedTuple):
    """The feet that press at one instant: their part of the forces' derivatives, and scratch."""

    pressed: IntArray  # (1,): how many feet do
    stiffness: FloatArray  # (nv, nv): minus the derivative in the acceleration
    by_position: FloatArray  # (nv, nv)
    by_velocity: FloatArray  # (nv, nv)
    by_weight: FloatArray  # (k, nv)
    wrench: FloatArray  # (3, 6): the normal and the tangents through the point, as forces
    rows: FloatArray  # (3, nv)
    slope: FloatArray  # (3, nv)
    force: FloatArray  # (3,)
    curvature: FloatArray  # (3, 3): -df/du
    violation: FloatArray  # (3,)


def new_footing(n_feet: int, nv: int) -> Footing:
    """Room for a footing."""
    square, three = (nv, nv), (3, nv)
    return Footing(
        np.zeros(1, dtype=np.int64),
        *(np.zeros(size) for size in (square, square, square, (n_feet, nv), (3, 6), three, three)),
        *(np.zeros(size) for size in (3, (3, 3), 3)),
    )


def feet_of(model: mujoco.MjModel) -> Feet:
    """The feet of a model, none where contacts are off or inside the stages of RK4."""
    pairs = _touching_pairs(model)
    planes = _planes(model, {plane for plane, _ in pairs})
    rows = [
        (int(model.geom_bodyid[geom]), local, radius, *planes[plane], *shared)
        for plane, geom in pairs
        for shared in [_shared(model, plane, geom)]
        for local, radius in _points(model, geom)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in Feet._fields[1:]]
    bodies, count = np.array(columns[0], dtype=np.int64), len(rows)
    return Feet(
        body=bodies,
        local=_floats(columns[1], (count, 3)),
        radius=_floats(columns[2], (count,)),
        point=_floats(columns[3], (count, 3)),
        frame=_floats(columns[4], (count, 3, 3)),
        friction=_floats(columns[5], (count,)),
        dimension=np.array(columns[6], dtype=np.int64),
        solref=_floats(columns[7], (count, 2)),
        solimp=_floats(columns[8], (count, 5)),
        weight=_floats(np.asarray(model.body_invweight0)[bodies, 0], (count,)),
    )


def has_feet(model: mujoco.MjModel) -> bool:
    """Return whether a model has any."""
    return bool(_touching_pairs(model))


def stand_alike(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Return whether two models of equal sizes have the same feet and planes, weights aside.

    What places bodies and geoms apart from :data:`_SHAPING` is for others to compare.
    """
    if all(np.array_equal(getattr(one, n, 0), getattr(other, n, 0)) for n in _SHAPING) and all(
        getattr(one.opt, n) == getattr(other.opt, n) for n in _OPTIONS
    ):
        return True
    return not (has_feet(one) or has_feet(other))


def _planes(
    model: mujoco.MjModel, planes: Collection[int]
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """A point of each plane, and its axes."""
    if not planes:
        return {}
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return {k: (data.geom_xpos[k].copy(), _frame(data.geom_xmat[k][2::3])) for k in planes}


def _touching_pairs(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Fixed planes with the geoms of moving bodies that may touch them as this module has it."""
    disabled, enabled = int(model.opt.disableflags), int(model.opt.enableflags)
    switches = (
        (disabled, mujoco.mjtDisableBit, _WITHOUT),
        (enabled, mujoco.mjtEnableBit, _OTHERWISE),
    )
    for flags, kinds, names in switches:
        if any(flags & int(getattr(kinds, name, 0)) for name in names):
            return []
    if int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4) or model.npair:
        return []
    fixed = np.asarray(model.body_weldid)[model.geom_bodyid] == 0
    kinds = np.asarray(model.geom_type)
    planes = np.flatnonzero(fixed & (kinds == _PLANE))
    others = np.flatnonzero(~fixed & np.isin(kinds, (_SPHERE, _BOX)))
    pairs = itertools.product(planes.tolist(), others.tolist())
    return [pair for pair in pairs if _may_touch(model, *pair)]


def _may_touch(model: mujoco.MjModel, plane: int, geom: int) -> bool:
    types, affinities = model.geom_contype, model.geom_conaffinity
    if not (types[plane] & affinities[geom] or types[geom] & affinities[plane]):
        return False
    first, second = sorted(int(model.geom_bodyid[g]) for g in (plane, geom))
    if (first << 16) + second in np.asarray(model.exclude_signature):
        return False
    widened = any(
        np.any(getattr(model, name, np.zeros(model.ngeom))[[plane, geom]]) for name in _WIDENED
    )
    return not widened and _shared(model, plane, geom)[1] in (1, 3)


def _points(model: mujoco.MjModel, geom: int) -> list[tuple[FloatArray, float]]:
    """The points of a geom in its body's frame, each with a radius."""
    size, center = np.asarray(model.geom_size[geom]), np.array(model.geom_pos[geom])
    if int(model.geom_type[geom]) == _SPHERE:
        return [(center, float(size[0]))]
    turned, points = np.zeros(3), []
    for signs in itertools.product((-1.0, 1.0), repeat=3):
        mujoco.mju_rotVecQuat(turned, np.array(signs) * size, model.geom_quat[geom])
        points.append((center + turned, 0.0))
    return points


def _shared(model: mujoco.MjModel, a: int, b: int) -> tuple[float, int, FloatArray, FloatArray]:
    """Friction, dimension, solref and solimp of a pair of geoms (mj_contactParam)."""
    priorities = int(model.geom_priority[a]), int(model.geom_priority[b])
    own = [
        (
            model.geom_friction[g, 0],
            model.geom_condim[g],
            model.geom_solref[g],
            model.geom_solimp[g],
        )
        for g in (a, b)
    ]
    if priorities[0] != priorities[1]:
        friction, dimension, solref, solimp = own[priorities[1] > priorities[0]]
    else:
        (one, two), mix = own, _mix(*(float(model.geom_solmix[g]) for g in (a, b)))
        friction, dimension = max(one[0], two[0]), max(one[1], two[1])
        both = one[2][0] > 0.0 and two[2][0] > 0.0
        solref = mix * one[2] + (1.0 - mix) * two[2] if both else np.minimum(one[2], two[2])
        solimp = mix * one[3] + (1.0 - mix) * two[3]
    return max(_MIN_FRICTION, float(friction)), int(dimension), solref, solimp


def _mix(one: float, two: float) -> float:
    """The first geom's share of what is mixed."""
    least = float(mujoco.mjMINVAL)
    if one >= least and two >= least:
        return one / (one + two)
    if one < least and two < least:
        return 0.5
    return 0.0 if one < least else 1.0


def _frame(normal: FloatArray) -> FloatArray:
    """The axes of a contact, in rows (mju_makeFrame)."""
    tangent = np.array([0.0, 1.0, 0.0] if -0.5 < normal[1] < 0.5 else [0.0, 0.0, 1.0])
    tangent -= normal * (normal @ tangent)
    tangent /= np.linalg.norm(tangent)
    return np.stack([normal, tangent, np.cross(normal, tangent)])


def _floats(values: object, shape: tuple[int, ...]) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64).reshape(shape)
