# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of which MuJoCo tells place and frame, of any two geoms.

How these move with the two bodies is differenced of the two geoms alone. Those that have no
derivative are left out: they violate the equation of motion.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.elements import Contacts, Geoms, moved_contacts


class Pairs(NamedTuple):
    """Pairs of geoms, of what MuJoCo's contacts between them are made."""

    body: IntArray  # (k, 2)
    margin: FloatArray  # (k,): the distance from which on they press, m
    friction: FloatArray  # (k, 5): along both tangents, about the normal and both tangents
    dimension: IntArray  # (k,): 1 without friction, 3, 4 with friction about the normal, or 6
    solref: FloatArray  # (k, 2)
    solimp: FloatArray  # (k, 5)
    weight: FloatArray  # (k,): the inverse inertia of both bodies, 1/kg


class Touches(NamedTuple):
    """Contacts before each step of rollouts."""

    first: IntArray  # (steps + 1,): where each step's begin
    pair: IntArray  # (n,)
    depth: FloatArray  # (n,): the distance, m
    place: FloatArray  # (n, 3), m
    frame: FloatArray  # (n, 3, 3): normal and tangents, in rows
    # (n, 7, 6): the twist of the frame, and the distance, by the twist of the second geom's body
    # against the first, all about the world's origin
    follow: FloatArray
    spin: FloatArray  # (n, 3): how the frame turns about the normal as both turn, beyond their turn
    pairs: Pairs


class _Made(NamedTuple):
    """A pair of geoms as MuJoCo's contacts are made of it."""

    margin: float
    friction: FloatArray
    dimension: int
    solref: FloatArray
    solimp: FloatArray
    other: bool  # whether friction has a reference of its own


def no_touches(steps: int) -> Touches:
    """Touches where nothing does."""
    return _no_step()._replace(first=np.zeros(steps + 1, dtype=np.int64))


@cache
def _no_step() -> Touches:
    none = _pairs_of(np.zeros((0, 2), dtype=np.int64), [], np.zeros(0))
    return _told(0, _nothing(), np.zeros(0, dtype=np.int64), np.zeros((0, 7, 6)), none, True)


def touches_of(model: mujoco.MjModel, positions: FloatArray, known: Collection[Geoms]) -> Touches:
    """The contacts of a model, as MuJoCo finds them; none inside the stages of RK4.

    Args:
      model: The model.
      positions: Of all joints before each step, (steps, nq).
      known: Pairs of geoms that are left out.
    """
    steps = len(positions)
    if int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
        return no_touches(steps)
    found, made = _contacts(model, positions, known)
    if not made:
        return no_touches(steps)
    sound, follow = moved_contacts(model, found, {pair: each.margin for pair, each in made.items()})
    sound &= [not made[a, b].other for a, b in found.geom.tolist()]
    found, follow = found.some(sound), follow[sound]
    bodies = np.asarray(model.geom_bodyid)[np.array(list(made))].astype(np.int64)
    weight = np.asarray(model.body_invweight0)[bodies, 0].sum(axis=1)
    number = {pair: k for k, pair in enumerate(made)}
    pair = np.array([number[a, b] for a, b in found.geom.tolist()], dtype=np.int64)
    pairs = _pairs_of(bodies, list(made.values()), weight)
    elliptic = int(model.opt.cone) == int(mujoco.mjtCone.mjCONE_ELLIPTIC)
    return _told(steps, found, pair, follow, pairs, elliptic)


def frame_of(normal: FloatArray) -> FloatArray:
    """The axes of a contact, in rows (mju_makeFrame)."""
    tangent = _anchor(normal)
    tangent -= normal * (normal @ tangent)
    tangent /= np.linalg.norm(tangent)
    return np.stack([normal, tangent, np.cross(normal, tangent)])


def floats(values: object, shape: tuple[int, ...]) -> FloatArray:
    """An array for compiled functions."""
    return np.ascontiguousarray(values, dtype=np.float64).reshape(shape)


def _anchor(normal: FloatArray) -> FloatArray:
    """The axis of the world that MuJoCo lays the first tangent beside, (..., 3)."""
    steep = np.abs(normal[..., 1:2]) >= 0.5
    return np.where(steep, (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))


def _contacts(
    model: mujoco.MjModel, positions: FloatArray, known: Collection[Geoms]
) -> tuple[Contacts, dict[Geoms, _Made]]:
    """All contacts but of known pairs, and what these are made of."""
    data, found = mujoco.MjData(model), [_nothing()]
    for step, q in enumerate(positions):
        _collide(model, data, q)
        if data.ncon:
            each = data.contact
            geom = np.array(each.geom, dtype=np.int64)
            found.append(
                Contacts(
                    np.full(len(geom), step), geom, np.array(each.dist), np.array(each.pos),
                    np.reshape(each.frame, (-1, 3, 3)).copy(), data.geom_xpos[geom],
                    data.geom_xmat[geom],
                )
            )  # fmt: skip
    every = Contacts(*map(np.concatenate, zip(*found, strict=True)))
    pairs, first, which = np.unique(every.geom, axis=0, return_index=True, return_inverse=True)
    own = [tuple(pair) not in known for pair in pairs.tolist()]
    made: dict[Geoms, _Made] = {}
    for (a, b), place in zip(pairs[own].tolist(), first[own].tolist(), strict=True):
        step = int(every.step[place])
        _collide(model, data, positions[step])
        made[a, b] = _made_of(data.contact[place - int(np.searchsorted(every.step, step))])
    return every.some(np.array(own, dtype=bool)[which.reshape(-1)]), made


def _collide(model: mujoco.MjModel, data: mujoco.MjData, q: FloatArray) -> None:
    """Find the contacts at a posture."""
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)


def _made_of(contact: Any) -> _Made:
    return _Made(
        float(contact.includemargin), contact.friction.copy(), int(contact.dim),
        contact.solref.copy(), contact.solimp.copy(), bool(np.any(contact.solreffriction)),
    )  # fmt: skip


def _nothing() -> Contacts:
    shapes = ((0,), (0, 3), (0, 3, 3), (0, 2, 3), (0, 2, 9))
    none = np.zeros((0, 2), dtype=np.int64)
    return Contacts(none[:, 0], none, *map(np.zeros, shapes))


def _pairs_of(bodies: IntArray, made: Sequence[_Made], weight: FloatArray) -> Pairs:
    count = len(made)
    return Pairs(
        np.ascontiguousarray(bodies),
        floats([each.margin for each in made], (count,)),
        floats([each.friction for each in made], (count, 5)),
        np.array([each.dimension for each in made], dtype=np.int64),
        floats([each.solref for each in made], (count, 2)),
        floats([each.solimp for each in made], (count, 5)),
        floats(weight, (count,)),
    )


def _told(
    steps: int, found: Contacts, pair: IntArray, follow: FloatArray, pairs: Pairs, elliptic: bool
) -> Touches:
    """Contacts as compiled functions take them."""
    return Touches(
        np.searchsorted(found.step, np.arange(steps + 1)).astype(np.int64),
        pair,
        np.ascontiguousarray(found.depth),
        np.ascontiguousarray(found.place),
        np.ascontiguousarray(found.frame),
        np.ascontiguousarray(follow),
        _spins(found.frame, pairs.friction[pair], pairs.dimension[pair], elliptic),
        pairs,
    )


def _spins(
    frame: FloatArray, friction: FloatArray, dimension: IntArray, elliptic: bool
) -> FloatArray:
    """Turns of frames about their normals as all turns, beyond its turn, where that matters.

    MuJoCo lays the first tangent beside an axis of the world, unless a geom's own is taken.
    """
    normal = frame[:, 0]
    anchor = _anchor(normal)
    along = np.sum(normal * anchor, axis=1, keepdims=True)
    square = 1.0 - along * along
    laid = np.abs(anchor - along * normal - np.sqrt(square) * frame[:, 1]).max(axis=1) < 1e-9
    alike = (friction[:, 0] == friction[:, 1]) & (friction[:, 3] == friction[:, 4]) & elliptic
    spin: FloatArray = np.where(
        (laid & ~alike & (dimension > 1))[:, np.newaxis], (along * anchor - normal) / square, 0.0
    )
    return spin
