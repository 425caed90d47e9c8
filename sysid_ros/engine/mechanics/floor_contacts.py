# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of spheres, capsules, cylinders, boxes and meshes with fixed planes: feet on a floor.

At a given acceleration the force of a contact follows from MuJoCo's dual problem: with the rows J
of the normal and both tangents, and of rotations about them where these have friction, its
violation u = J qacc + B J v + (K r depth, 0, ...) has the force f(u) / R, quadratic in pieces,
where the regularization R and the impedance r depend on the depth. Its derivative at a fixed
acceleration has three parts: J moves along with the body, the depth changes, and so do the velocity
and the acceleration of the point. The rest, -J^T (df/du) J dqacc, is a stiffness as that of a
joint's rows. Tangents are those of the plane, but turn with a capsule's axis. The points of a
cylinder are not fixed to it: the lowest of each rim, and two more on the lower one, go around as
its axis tilts. Which vertices of a mesh press, MuJoCo tells for every step; each is fixed to its
body while it does. See MuJoCo's documentation, Computation, "Constraint model", and
mj_instantiateContact, mj_makeImpedance, mj_constraintUpdate and mjc_PlaneCylinder for the formulas.

Other geoms that touch violate the equation of motion, which is checked at every step.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Collection
from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IntArray

_GEOM = mujoco.mjtGeom
_PLANE, _SPHERE, _CAPSULE, _CYLINDER, _BOX, _MESH = (
    int(getattr(_GEOM, f"mjGEOM_{n}"))
    for n in ("PLANE", "SPHERE", "CAPSULE", "CYLINDER", "BOX", "MESH")
)
# Switches that leave out contacts, or make them in another way than is written here.
_WITHOUT = ("mjDSBL_CONTACT", "mjDSBL_CONSTRAINT")
_OTHERWISE = ("mjENBL_OVERRIDE", "mjENBL_DIAGEXACT", "mjENBL_IPC", "mjENBL_SPECULATIVE")
_ELSE = ("geom_gap", "geom_adhesion", "geom_surfacevel")
_ELSE_OF_PAIRS = ("pair_gap", "pair_adhesion", "pair_solreffriction")
_MIN_FRICTION = 1e-5  # mjMINMU
# What a parameter may change about contacts of geoms that stay on their bodies.
_SHAPING = (
    "geom_type", "geom_pos", "geom_quat", "geom_size", "geom_contype", "geom_conaffinity",
    "geom_condim", "geom_priority", "geom_friction", "geom_solref", "geom_solimp", "geom_solmix",
    "geom_margin", "geom_dataid", *_ELSE, "exclude_signature", "pair_geom1", "pair_geom2",
    "pair_dim", "pair_solref", "pair_solimp", "pair_margin", "pair_friction", *_ELSE_OF_PAIRS,
)  # fmt: skip
_OPTIONS = ("cone", "impratio", "disableflags", "enableflags")


class Feet(NamedTuple):
    """Points of a model that planes may press against, each with its plane.

    A mesh is one of them, whose point is another from step to step (:class:`Touches`).
    """

    body: IntArray  # (k,)
    local: FloatArray  # (k, 3): in the body's frame, m
    radius: FloatArray  # (k,), m
    axis: FloatArray  # (k, 3): of a capsule, in the body's frame; else zero
    axle: FloatArray  # (k, 2, 3): of a cylinder the axis and one across it, likewise; else zero
    rim: (
        FloatArray  # (k, 3): from its centre along the axis, down across it, and along both's cross
    )
    point: FloatArray  # (k, 3): of the plane
    frame: FloatArray  # (k, 3, 3): its normal and two tangents, in rows
    margin: FloatArray  # (k,): the distance from which on they press, m
    friction: FloatArray  # (k, 5): along both tangents, about the normal and both tangents
    dimension: IntArray  # (k,): 1 without friction, 3, 4 with friction about the normal, or 6
    solref: FloatArray  # (k, 2)
    solimp: FloatArray  # (k, 5)
    weight: FloatArray  # (k,): the body's inverse inertia, 1/kg
    pair: IntArray  # (k, 2): the geoms, that of the plane first
    mesh: BoolArray  # (k,): whether it is a mesh


class Touches(NamedTuple):
    """The vertices of meshes that press before each step of rollouts."""

    first: IntArray  # (steps + 1,): where each step's begin
    foot: IntArray  # (n,): the mesh among the feet
    local: FloatArray  # (n, 3): in the body's frame, m


class Footing(NamedTuple):
    """Feet and connections that press at one instant: their forces' derivatives, and scratch."""

    pressed: IntArray  # (1,): how many do
    stiffness: FloatArray  # (nv, nv): minus the derivative in the acceleration
    by_position: FloatArray  # (nv, nv)
    by_velocity: FloatArray  # (nv, nv)
    by_weight: (
        FloatArray  # (k, nv): by inverse inertia: of feet, of connections, of welds that turn
    )
    by_displacement: FloatArray  # (nv, n_displaced)
    frame: FloatArray  # (3, 3): the normal and the tangents, in rows
    reach: FloatArray  # (3,): from the centre of a cylinder to the point; else zero
    roll: FloatArray  # (3, 3): its derivative by the body's rotation; else zero
    turn: FloatArray  # (3,): how the tangents turn about the normal with the body's rotation
    wrench: FloatArray  # (6, 6): forces along them through the point, and torques about them
    rows: FloatArray  # (6, nv)
    slope: FloatArray  # (6, nv)
    force: FloatArray  # (6,)
    curvature: FloatArray  # (6, 6): -df/du
    violation: FloatArray  # (6,)
    gradient: FloatArray  # (6,)
    softness: FloatArray  # (6,): of the rows of a connection


def new_footing(n_held: int, nv: int, n_displaced: int) -> Footing:
    """Room for a footing."""
    square, by_row = (nv, nv), (6, nv)
    sizes = (
        square, square, square, (n_held, nv), (nv, n_displaced), (3, 3), 3, (3, 3), 3, (6, 6),
        by_row, by_row, 6, (6, 6), 6, 6, 6,
    )  # fmt: skip
    return Footing(np.zeros(1, dtype=np.int64), *(np.zeros(size) for size in sizes))


def feet_of(model: mujoco.MjModel) -> Feet:
    """The feet of a model, none where contacts are off or inside the stages of RK4."""
    pairs = _touching_pairs(model)
    planes = _planes(model, {plane for plane, _, _ in pairs})
    rows = [
        (int(model.geom_bodyid[geom]), *point, *planes[plane], *shared, (plane, geom))
        for plane, geom, number in pairs
        for shared in [_shared(model, plane, geom) if number < 0 else _told(model, number)]
        for point in _points(model, geom)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in Feet._fields[1:]]
    bodies, count = np.array(columns[0], dtype=np.int64), len(rows)
    return Feet(
        body=bodies,
        local=_floats(columns[1], (count, 3)),
        radius=_floats(columns[2], (count,)),
        axis=_floats(columns[3], (count, 3)),
        axle=_floats(columns[4], (count, 2, 3)),
        rim=_floats(columns[5], (count, 3)),
        point=_floats(columns[6], (count, 3)),
        frame=_floats(columns[7], (count, 3, 3)),
        margin=_floats(columns[8], (count,)),
        friction=_floats(columns[9], (count, 5)),
        dimension=np.array(columns[10], dtype=np.int64),
        solref=_floats(columns[11], (count, 2)),
        solimp=_floats(columns[12], (count, 5)),
        weight=_floats(np.asarray(model.body_invweight0)[bodies, 0], (count,)),
        pair=np.array(columns[13], dtype=np.int64).reshape(count, 2),
        mesh=np.isin([model.geom_type[geom] for _, geom in columns[13]], _MESH),
    )


def no_touches(steps: int) -> Touches:
    """Touches where no mesh presses."""
    return Touches(
        np.zeros(steps + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 3))
    )


def touches_of(model: mujoco.MjModel, feet: Feet, positions: FloatArray) -> Touches:
    """The vertices of meshes among the feet that press, as MuJoCo finds them.

    Args:
      model: All of the model.
      feet: Its own, or those of a part.
      positions: Of all joints before each step, (steps, nq).
    """
    own, number = _meshes_alone(model, feet), {}
    for k in np.flatnonzero(feet.mesh).tolist():
        number[tuple(feet.pair[k].tolist())] = k
    data = mujoco.MjData(own)
    counts, found, points = [0], [], []
    for q in positions:
        data.qpos[:] = q
        mujoco.mj_kinematics(own, data)
        mujoco.mj_collision(own, data)
        contacts = data.contact
        depths, middles = contacts.dist, contacts.pos
        for pair, depth, middle in zip(contacts.geom.tolist(), depths, middles, strict=True):
            k = number.get(tuple(pair))
            if k is not None:
                # MuJoCo's point lies in the middle between the vertex and the plane.
                vertex = middle + 0.5 * depth * feet.frame[k, 0]
                body = model.geom_bodyid[pair[1]]
                found.append(k)
                points.append((vertex - data.xpos[body]) @ data.xmat[body].reshape(3, 3))
        counts.append(len(found))
    return Touches(
        np.array(counts, dtype=np.int64),
        np.array(found, dtype=np.int64),
        _floats(points, (len(found), 3)),
    )


def _meshes_alone(model: mujoco.MjModel, feet: Feet) -> mujoco.MjModel:
    """The model in which only meshes that are feet, and planes, can touch."""
    own = copy.copy(model)
    own.geom_contype[:], own.geom_conaffinity[:] = 0, 0
    own.geom_contype[feet.pair[feet.mesh, 0]] = 1
    own.geom_conaffinity[feet.pair[feet.mesh, 1]] = 1
    return own


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


def _touching_pairs(model: mujoco.MjModel) -> list[tuple[int, int, int]]:
    """Fixed planes with the geoms of moving bodies that may touch them as this module has it.

    And the number of the pair that tells how they touch, -1 where they themselves do.
    """
    disabled, enabled = int(model.opt.disableflags), int(model.opt.enableflags)
    switches = (
        (disabled, mujoco.mjtDisableBit, _WITHOUT),
        (enabled, mujoco.mjtEnableBit, _OTHERWISE),
    )
    for flags, kinds, names in switches:
        if any(flags & int(getattr(kinds, name, 0)) for name in names):
            return []
    if int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
        return []
    fixed = np.asarray(model.body_weldid)[model.geom_bodyid] == 0
    kinds = np.asarray(model.geom_type)
    planes = np.flatnonzero(fixed & (kinds == _PLANE))
    others = np.flatnonzero(~fixed & np.isin(kinds, (_SPHERE, _CAPSULE, _CYLINDER, _BOX, _MESH)))
    both = zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)
    numbers = {frozenset(pair): number for number, pair in enumerate(both)}
    pairs = itertools.product(planes.tolist(), others.tolist())
    told = [(*pair, numbers.get(frozenset(pair), -1)) for pair in pairs]
    return [one for one in told if _may_touch(model, *one)]


def _may_touch(model: mujoco.MjModel, plane: int, geom: int, number: int) -> bool:
    if number >= 0:
        return not any(
            np.any(getattr(model, n, np.zeros(model.npair))[number]) for n in _ELSE_OF_PAIRS
        )
    types, affinities = model.geom_contype, model.geom_conaffinity
    if not (types[plane] & affinities[geom] or types[geom] & affinities[plane]):
        return False
    first, second = sorted(int(model.geom_bodyid[g]) for g in (plane, geom))
    if (first << 16) + second in np.asarray(model.exclude_signature):
        return False
    both = [plane, geom]
    if any(np.any(getattr(model, name, np.zeros(model.ngeom))[both]) for name in _ELSE):
        return False
    # Of two margins MuJoCo 3 takes the larger, MuJoCo 4 the sum.
    return not np.all(model.geom_margin[both])


_Point = tuple[FloatArray, float, FloatArray, FloatArray, FloatArray]


def _points(model: mujoco.MjModel, geom: int) -> list[_Point]:
    """The points of a geom in its body's frame: where, radius, axis, axle and rim."""
    size, center = np.asarray(model.geom_size[geom]), np.array(model.geom_pos[geom])
    kind, none, no_axle = int(model.geom_type[geom]), np.zeros(3), np.zeros((2, 3))
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, model.geom_quat[geom])
    x, _, z = axes = flat.reshape(3, 3).T
    radius, half = float(size[0]), float(size[1])
    if kind == _MESH:
        return [(none, 0.0, none, no_axle, none)]
    if kind == _SPHERE:
        return [(center, radius, none, no_axle, none)]
    if kind == _CAPSULE:
        return [(center + end * z, radius, z, no_axle, none) for end in (half, -half)]
    if kind == _CYLINDER:
        back, aside = -0.5 * radius, math.sqrt(0.75) * radius
        rims = (half, radius, 0.0), (-half, radius, 0.0), (half, back, aside), (half, back, -aside)
        return [(center, 0.0, none, np.stack([z, x]), np.array(rim)) for rim in rims]
    signs = itertools.product((-1.0, 1.0), repeat=3)
    corners = [center + (np.array(each) * size) @ axes for each in signs]
    return [(corner, 0.0, none, no_axle, none) for corner in corners]


def _shared(
    model: mujoco.MjModel, a: int, b: int
) -> tuple[float, FloatArray, int, FloatArray, FloatArray]:
    """Margin, friction, dimension, solref and solimp of a pair of geoms (mj_contactParam)."""
    priorities = int(model.geom_priority[a]), int(model.geom_priority[b])
    names = ("geom_friction", "geom_condim", "geom_solref", "geom_solimp")
    own = [[np.asarray(getattr(model, name))[g] for name in names] for g in (a, b)]
    if priorities[0] != priorities[1]:
        friction, dimension, solref, solimp = own[priorities[1] > priorities[0]]
    else:
        (one, two), mix = own, _mix(*(float(model.geom_solmix[g]) for g in (a, b)))
        friction, dimension = np.maximum(one[0], two[0]), max(one[1], two[1])
        both = one[2][0] > 0.0 and two[2][0] > 0.0
        solref = mix * one[2] + (1.0 - mix) * two[2] if both else np.minimum(one[2], two[2])
        solimp = mix * one[3] + (1.0 - mix) * two[3]
    margin = float(model.geom_margin[a] + model.geom_margin[b])
    each = np.maximum(_MIN_FRICTION, friction)[[0, 0, 1, 2, 2]]
    return margin, each, int(dimension), solref, solimp


def _told(
    model: mujoco.MjModel, number: int
) -> tuple[float, FloatArray, int, FloatArray, FloatArray]:
    """The same of an explicit pair."""
    friction = np.maximum(_MIN_FRICTION, model.pair_friction[number])
    margin, dimension = float(model.pair_margin[number]), int(model.pair_dim[number])
    return margin, friction, dimension, model.pair_solref[number], model.pair_solimp[number]


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
