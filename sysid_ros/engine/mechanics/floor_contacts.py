# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of spheres, capsules, cylinders, ellipsoids and boxes with fixed planes: feet.

At a given acceleration the force of a contact follows from MuJoCo's dual problem: with the rows J
of the normal and both tangents, and of rotations about them where these have friction, its
violation u = J qacc + B J v + (K r depth, 0, ...) has the force f(u) / R, quadratic in pieces,
where the regularization R and the impedance r depend on the depth. Its derivative at a fixed
acceleration has three parts: J moves along with the bodies, the depth changes, and so do the
velocity and the acceleration of one body against the other. The rest, -J^T (df/du) J dqacc, is a
stiffness as that of a joint's rows. How place, frame and depth move with both bodies is written
here for feet; of all other contacts MuJoCo tells it (:mod:`.general_contacts`). Tangents are those
of the plane, but turn with a capsule's axis. The points of a cylinder and an ellipsoid are not
fixed to them: the lowest of each rim, and two more on the lower one, go around as the axis tilts,
and the lowest of an ellipsoid as it turns. See MuJoCo's documentation, Computation, "Constraint
model", and mj_instantiateContact, mj_makeImpedance, mj_constraintUpdate, mjc_PlaneCylinder and
mjc_PlaneConvex for the formulas.

What presses otherwise violates the equation of motion, which is checked at every step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray, zeros
from sysid_ros.engine.mechanics.general_contacts import Pairs, floats, frame_of

_GEOM = mujoco.mjtGeom
_PLANE, _SPHERE, _CAPSULE, _CYLINDER, _ELLIPSOID, _BOX = (
    int(getattr(_GEOM, f"mjGEOM_{n}"))
    for n in ("PLANE", "SPHERE", "CAPSULE", "CYLINDER", "ELLIPSOID", "BOX")
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
    """Points of a model that planes may press against, each with its plane."""

    local: FloatArray  # (k, 3): in the body's frame, m
    radius: FloatArray  # (k,), m
    axis: FloatArray  # (k, 3): of a capsule, in the body's frame; else zero
    # (k, 3, 3): of an ellipsoid its half axes, of a cylinder its axis, one across it and none,
    # likewise; else zero
    axes: FloatArray
    # (k, 3): from a cylinder's centre along the axis, down across it, and along both's cross; zero
    # of an ellipsoid
    rim: FloatArray
    point: FloatArray  # (k, 3): of the plane
    frame: FloatArray  # (k, 3, 3): its normal and two tangents, in rows
    pairs: Pairs  # the world and the foot's body


class Footing(NamedTuple):
    """Contacts and connections that press at one instant: derivatives of forces, and scratch."""

    pressed: IntArray  # (1,): how many do
    stiffness: FloatArray  # (nv, nv): minus the derivative in the acceleration
    by_position: FloatArray  # (nv, nv)
    by_velocity: FloatArray  # (nv, nv)
    by_weight: FloatArray  # (nbody, 2, nv): by inverse inertia, straight and turning
    by_displacement: FloatArray  # (nv, n_displaced)
    dofs: IntArray  # (nv,): those that move the bodies of a contact
    side: IntArray  # (nv,): -1 where one moves the first body, 1 the second, 0 both
    rate: FloatArray  # (nv,): acceleration and, times the contact's damping, velocity
    place: FloatArray  # (3,): of a contact
    frame: FloatArray  # (3, 3): its normal and tangents, in rows
    follow: FloatArray  # (7, 6): the twist of its frame, and its depth, by the bodies' own against
    spin: FloatArray  # (3,): how it turns about the normal as both bodies turn, beyond their turn
    reach: FloatArray  # (3,): from the centre of a cylinder or ellipsoid to the point; else zero
    roll: FloatArray  # (3, 3): its derivative by the body's rotation; else zero
    step: FloatArray  # (3,): by how much the point of a foot moves
    turn: FloatArray  # (3,): how the tangents turn about the normal with the body's rotation
    wrench: FloatArray  # (6, 6): forces along them through the place, and torques about them
    rows: FloatArray  # (6, nv)
    slope: FloatArray  # (6, nv)
    force: FloatArray  # (6,)
    curvature: FloatArray  # (6, 6): -df/du
    violation: FloatArray  # (6,)
    gradient: FloatArray  # (6,)
    softness: FloatArray  # (6,): of the rows of a connection


def new_footing(nbody: int, nv: int, n_displaced: int) -> Footing:
    """Room for a footing."""
    square, by_row, of_dofs = (nv, nv), (6, nv), np.zeros(nv, dtype=np.int64)
    before = square, square, square, (nbody, 2, nv), (nv, n_displaced)
    behind = (
        nv, 3, (3, 3), (7, 6), 3, 3, (3, 3), 3, 3, (6, 6), by_row, by_row, 6, (6, 6), 6, 6, 6,
    )  # fmt: skip
    counts: list[Any] = [np.zeros(1, dtype=np.int64), *zeros(*before), of_dofs, of_dofs.copy()]
    return Footing(*counts, *zeros(*behind))


def feet_of(model: mujoco.MjModel) -> Feet:
    """The feet of a model, none where contacts are off or inside the stages of RK4."""
    touching = _touching_pairs(model)
    planes = _planes(model, {plane for plane, _, _ in touching})
    rows = [
        (*point, *planes[plane], *shared, int(model.geom_bodyid[geom]))
        for plane, geom, number in touching
        for shared in [_shared(model, plane, geom) if number < 0 else _told(model, number)]
        for point in _points(model, geom)
    ]
    names = (*Feet._fields[:-1], *Pairs._fields)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names[1:]]
    count = len(rows)
    *geometry, margin, friction, dimension, solref, solimp, body = columns
    bodies = np.stack([np.zeros(count), body], axis=1).astype(np.int64)
    shapes = ((3,), (), (3,), (3, 3), (3,), (3,), (3, 3))
    tables: list[Any] = [
        floats(one, (count, *shape)) for one, shape in zip(geometry, shapes, strict=True)
    ]
    pairs = Pairs(
        bodies,
        floats(margin, (count,)),
        floats(friction, (count, 5)),
        np.array(dimension, dtype=np.int64),
        floats(solref, (count, 2)),
        floats(solimp, (count, 5)),
        floats(np.asarray(model.body_invweight0)[bodies[:, 1], 0], (count,)),
    )
    return Feet(*[*tables, pairs])


def has_feet(model: mujoco.MjModel) -> bool:
    """Return whether a model has any."""
    return bool(_touching_pairs(model))


def feet_pairs(model: mujoco.MjModel) -> set[tuple[int, int]]:
    """The planes and geoms of which this module has the contacts."""
    return {(plane, geom) for plane, geom, _ in _touching_pairs(model)}


def stand_alike(one: mujoco.MjModel, other: mujoco.MjModel, touching: bool) -> bool:
    """Return whether contacts of two models of equal sizes are the same, weights aside.

    What places bodies and geoms apart from :data:`_SHAPING` is for others to compare.

    Args:
      one: A model.
      other: Another.
      touching: Whether more may touch than feet and planes.
    """
    if all(np.array_equal(getattr(one, n, 0), getattr(other, n, 0)) for n in _SHAPING) and all(
        getattr(one.opt, n) == getattr(other.opt, n) for n in _OPTIONS
    ):
        return True
    return not (touching or has_feet(one) or has_feet(other))


def _planes(
    model: mujoco.MjModel, planes: Collection[int]
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """A point of each plane, and its axes."""
    if not planes:
        return {}
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return {k: (data.geom_xpos[k].copy(), frame_of(data.geom_xmat[k][2::3])) for k in planes}


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
    others = np.flatnonzero(
        ~fixed & np.isin(kinds, (_SPHERE, _CAPSULE, _CYLINDER, _ELLIPSOID, _BOX))
    )
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
    """The points of a geom in its body's frame: where, radius, axis, axes and rim."""
    size, center = np.asarray(model.geom_size[geom]), np.array(model.geom_pos[geom])
    kind, none, no_axes = int(model.geom_type[geom]), np.zeros(3), np.zeros((3, 3))
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, model.geom_quat[geom])
    x, _, z = axes = flat.reshape(3, 3).T
    radius, half = float(size[0]), float(size[1])
    if kind == _SPHERE:
        return [(center, radius, none, no_axes, none)]
    if kind == _CAPSULE:
        return [(center + end * z, radius, z, no_axes, none) for end in (half, -half)]
    if kind == _CYLINDER:
        back, aside = -0.5 * radius, math.sqrt(0.75) * radius
        rims = (half, radius, 0.0), (-half, radius, 0.0), (half, back, aside), (half, back, -aside)
        return [(center, 0.0, none, np.stack([z, x, none]), np.array(rim)) for rim in rims]
    if kind == _ELLIPSOID:
        return [(center, 0.0, none, size[:, np.newaxis] * axes, none)]
    signs = itertools.product((-1.0, 1.0), repeat=3)
    corners = [center + (np.array(each) * size) @ axes for each in signs]
    return [(corner, 0.0, none, no_axes, none) for corner in corners]


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
