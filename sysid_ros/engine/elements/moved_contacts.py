# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of two geoms, and how they move as one geom moves against the other.

MuJoCo's own collision detection is asked again for these two geoms alone, with the second moved to
both sides along each axis and about it. That is a matter of microseconds, where all ways to move a
model's state take milliseconds, and hundreds of such pairs are one call. Where contacts come or go
within the difference, or both sides differ (a corner that slides over an edge), there is no
derivative.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IntArray
from sysid_ros.engine.elements.inertia import rotation_matrix

_MESH, _FIELD = int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_HFIELD)
# m and rad: small against the roundness of what touches; the longer ones are for two curved shapes,
# whose contacts MuJoCo finds to a micrometre at best.
_STEPS = (1e-6, 1e-5, 1e-4, 3e-4)
# Steps by which contacts may be further apart, if they have no derivative otherwise: geoms that
# only just touch still do so then to all sides.
_APART = (0.0, 2.0)
# Relative: where a contact moves otherwise to one side than to the other, it has no derivative.
_ROUGH = 0.01
# m, and steps: how exactly convex shapes meet in differences.
COLLIDED = 1e-14, 200
# m: how exactly they do in MuJoCo's steps: a micrometre of depth is as much as half a millimetre of
# place beside a round shape.
_COARSE, _COARSE_PLACE = 1e-5, 1e-3
_SIDES = 13  # of a pair: where it is, and moved to both sides in six ways
_AT_ONCE = 64  # pairs
_KEPT = 1024  # pairs whose contacts to all sides are kept, of 1.5 kB each
# Bytes for their contacts: MuJoCo leaves out those that it has no room for, and has 13 MiB by
# default; a box on a height field has up to 50.
_ROOM = 1 << 26
_OF_GEOMS = ("geom_type", "geom_size", "geom_rbound", "geom_aabb")

_TURN = threading.Lock()  # models are kept from call to call, and written

Geoms = tuple[int, int]


class Contacts(NamedTuple):
    """Contacts as MuJoCo has them, those of a pair at an instant behind each other."""

    step: IntArray  # (n,)
    geom: IntArray  # (n, 2)
    depth: FloatArray  # (n,)
    place: FloatArray  # (n, 3)
    frame: FloatArray  # (n, 3, 3)
    position: FloatArray  # (n, 2, 3): of both geoms
    rotation: FloatArray  # (n, 2, 9)

    def some(self, chosen: BoolArray | IntArray | slice) -> Contacts:
        """Some of them."""
        tables: list[Any] = [table[chosen] for table in self]
        return Contacts(*tables)


def moved_contacts(
    model: mujoco.MjModel, contacts: Contacts, margins: Mapping[Geoms, float]
) -> tuple[BoolArray, FloatArray]:
    """Derivatives of contacts by how their second geoms move against the first.

    Args:
      model: The model.
      contacts: Its contacts.
      margins: By pair, the distance from which on it is in contact, m.

    Returns:
      Which contacts have derivatives, (n,), and these, (n, 7, 6): of the twist of the frame and of
      the distance by a twist of the second geom, all about the origin of the world.
    """
    count = len(contacts.step)
    sound, follow = np.zeros(count, dtype=bool), np.zeros((count, 7, 6))
    change = np.diff(np.column_stack([contacts.step, contacts.geom]), axis=0, prepend=-1) != 0
    begins = np.flatnonzero(change.any(axis=1))
    sizes = np.diff(begins, append=count)
    left = np.arange(len(begins))  # the pairs of which some contact has none yet
    with _TURN:
        twin = _Twin(model, margins)
        for step, apart in itertools.product(_STEPS, _APART):
            for first in range(0, len(left), _KEPT):
                some = left[first : first + _KEPT]
                rows = np.flatnonzero(np.repeat(np.isin(np.arange(len(begins)), some), sizes))
                smooth, found = twin.differenced(
                    contacts.some(rows), sizes[some], step, apart * step
                )
                better = smooth & ~sound[rows]
                follow[rows[better]], sound[rows[better]] = found[better], True
            if left.size:
                left = left[~np.logical_and.reduceat(sound, begins)[left]]
    return sound, follow


class _Twin:
    """Pairs of a model's geoms, alone in a model of their own."""

    def __init__(self, model: mujoco.MjModel, margins: Mapping[Geoms, float]) -> None:
        self._model, self._margins = model, margins
        geoms = np.unique(list(margins))
        kinds, assets = np.asarray(model.geom_type), np.asarray(model.geom_dataid)
        meshes, fields = (
            np.unique(assets[geoms[kinds[geoms] == kind]]).tolist() for kind in (_MESH, _FIELD)
        )
        vertices = tuple(_vertices(model, k) for k in meshes)
        twin, self._data = _alone(vertices, tuple(_heights(model, k) for k in fields))
        for name in ("disableflags", "enableflags"):
            setattr(twin.opt, name, getattr(model.opt, name))
        twin.opt.ccd_tolerance, twin.opt.ccd_iterations = COLLIDED
        self._twin = twin
        self._asset = np.full(model.ngeom, -1)
        # What the compiler moves a mesh by on its geom.
        self._shift = np.zeros((model.ngeom, 3))
        self._turn = np.tile(np.eye(3), (model.ngeom, 1, 1))
        for kind, own in ((_MESH, meshes), (_FIELD, fields)):
            for number, asset in enumerate(own):
                its = (kinds == kind) & (assets == asset)
                self._asset[its] = number
                if kind == _MESH:
                    self._shift[its] = twin.mesh_pos[number]
                    self._turn[its] = rotation_matrix(twin.mesh_quat[number])

    def differenced(
        self, contacts: Contacts, sizes: IntArray, step: float, apart: float
    ) -> tuple[BoolArray, FloatArray]:
        """Marks of contacts that have derivatives, (n,), and these, (n, 7, 6).

        Args:
          contacts: Those of a pair behind each other.
          sizes: How many each pair has.
          step: How far the second geom is moved, m and rad.
          apart: How much further apart than pairs touch contacts may be, m.
        """
        begins = np.cumsum(sizes) - sizes
        parts = []
        for first in range(0, len(sizes), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            self._place(contacts.some(begins[some]), step, apart)
            mujoco.mj_collision(self._twin, self._data)
            parts.append(self._found(sizes[some]))
        sound, depth, place, frame = (np.concatenate(each) for each in zip(*parts, strict=True))
        own = contacts.some(sound)
        near = np.abs(depth[:, 0] - own.depth) < _COARSE
        near &= np.abs(place[:, 0] - own.place).max(axis=1, initial=0.0) < _COARSE_PLACE
        smooth, follow = _quotients(depth, place, frame, step)
        result = np.zeros((len(sound), 7, 6))
        result[sound] = _about_origin(follow, own)
        sound[sound] = near & smooth
        return sound, result

    def _found(self, sizes: IntArray) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
        """Marks of the contacts of which each side has one, and these: depth, place and frame.

        Args:
          sizes: How many contacts each pair has that is in place.
        """
        again = self._data.contact
        slots = np.asarray(again.geom)[:, 0]
        number = np.bincount(slots, minlength=_AT_ONCE * _SIDES)
        kept = number[: _SIDES * len(sizes)].reshape(-1, _SIDES) == sizes[:, np.newaxis]
        pair = np.repeat(np.arange(len(sizes)), sizes)
        inner = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        sound = kept.all(axis=1)[pair]
        slot = _SIDES * pair[sound, np.newaxis] + np.arange(_SIDES)
        begins = np.cumsum(number) - number
        rows = np.argsort(slots, kind="stable")[begins[slot] + inner[sound, np.newaxis]]
        frame = np.asarray(again.frame)[rows].reshape(*rows.shape, 3, 3)
        return sound, again.dist[rows], again.pos[rows], frame

    def _place(self, pairs: Contacts, step: float, apart: float) -> None:
        """Put pairs in place, each moved to all sides, and all others out of the way."""
        twin, data, n = self._twin, self._data, _SIDES * len(pairs.geom)
        total = _AT_ONCE * _SIDES
        data.geom_xpos[:total], data.geom_xpos[total:] = 0.0, 1e6
        margins = [self._margins[a, b] + apart for a, b in pairs.geom.tolist()]
        twin.pair_margin[:n] = np.repeat(margins, _SIDES)
        for side in range(2):
            own = slice(side * total, side * total + n)
            geom = pairs.geom[:, side]
            for name in _OF_GEOMS:
                values = np.asarray(getattr(self._model, name))[geom]
                getattr(twin, name)[own] = np.repeat(values, _SIDES, axis=0)
            twin.geom_dataid[own] = np.repeat(self._asset[geom], _SIDES)
            rotation = pairs.rotation[:, side].reshape(-1, 1, 3, 3)
            position = pairs.position[:, side, np.newaxis]
            if side:
                turns, shifts = _ways(step)
                rotation, position = turns @ rotation, position + shifts
            position = position + np.einsum("kvij,kj->kvi", rotation, self._shift[geom])
            rotation = rotation @ self._turn[geom, np.newaxis]
            data.geom_xpos[own] = np.broadcast_to(position, (len(geom), _SIDES, 3)).reshape(n, 3)
            data.geom_xmat[own] = np.broadcast_to(rotation, (len(geom), _SIDES, 3, 3)).reshape(n, 9)


@cache
def _ways(step: float) -> tuple[FloatArray, FloatArray]:
    """Turns (_SIDES, 3, 3) and shifts (_SIDES, 3) of a geom, to both sides in each way."""
    turns, shifts = np.tile(np.eye(3), (_SIDES, 1, 1)), np.zeros((_SIDES, 3))
    for way in range(3):
        for side, to in ((1, step), (2, -step)):
            turns[2 * way + side] = rotation_matrix([1.0, *(0.5 * to * np.eye(3)[way])])
            shifts[6 + 2 * way + side, way] = to
    return turns, shifts


def _quotients(
    depth: FloatArray, place: FloatArray, frame: FloatArray, step: float
) -> tuple[BoolArray, FloatArray]:
    """Marks of contacts that move alike to both sides, (n,), and slopes, (n, 7, 6).

    Args:
      depth: Where they are, and moved to all sides, (n, _SIDES).
      place: Likewise, (n, _SIDES, 3).
      frame: Likewise, (n, _SIDES, 3, 3).
      step: How far they are moved.
    """
    turned = (frame - frame[:, :1]).swapaxes(2, 3) @ frame[:, :1]
    turn = np.stack([turned[..., (k + 2) % 3, (k + 1) % 3] for k in range(3)], axis=2)
    every = np.concatenate([turn, place, depth[..., np.newaxis]], axis=2).swapaxes(1, 2)
    here = every[..., :1]
    forth, back = (every[..., 1::2] - here) / step, (here - every[..., 2::2]) / step
    follow = 0.5 * (forth + back)
    smooth = np.ones(len(follow), dtype=bool)
    for own in (slice(0, 3), slice(3, 6), slice(6, 7)):
        size, rough = (np.linalg.norm(each[:, own], axis=(1, 2)) for each in (follow, forth - back))
        smooth &= rough <= _ROUGH * (1.0 + size)
    return smooth, follow


def _about_origin(follow: FloatArray, contacts: Contacts) -> FloatArray:
    """Derivatives by turns about the second geom's middle as those by twists about the origin."""
    middle = contacts.position[:, 1, :, np.newaxis]
    result: FloatArray = follow.copy()
    result[:, :, :3] += follow[:, :, 3:] @ np.cross(np.eye(3), middle, axis=1)
    result[:, 3:6] -= np.cross(result[:, :3], contacts.place[:, :, np.newaxis], axis=1)
    return result


_Heights = tuple[int, int, bytes, bytes]


@lru_cache(maxsize=4)
def _alone(
    meshes: tuple[bytes, ...], fields: tuple[_Heights, ...]
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A model of pairs of spheres that may become pairs of other geoms."""
    spec = mujoco.MjSpec()
    spec.memory = _ROOM
    bodies = [spec.worldbody.add_body() for _ in range(2)]
    for k in range(_AT_ONCE * _SIDES):
        for side, body in enumerate(bodies):
            body.add_geom(name=f"{side}/{k}", size=[1.0] * 3, contype=0, conaffinity=0)
        spec.add_pair(geomname1=f"0/{k}", geomname2=f"1/{k}", condim=1)
    for k, vertices in enumerate(meshes):
        spec.add_mesh(name=f"{k}", uservert=np.frombuffer(vertices, dtype=np.float32))
    for k, (rows, columns, size, heights) in enumerate(fields):
        spec.add_hfield(
            name=f"{k}", nrow=rows, ncol=columns, size=np.frombuffer(size),
            userdata=np.frombuffer(heights, dtype=np.float32),
        )  # fmt: skip
    model = spec.compile()
    return model, mujoco.MjData(model)


def _vertices(model: mujoco.MjModel, mesh: int) -> bytes:
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    return np.asarray(model.mesh_vert[first : first + count]).tobytes()


def _heights(model: mujoco.MjModel, field: int) -> _Heights:
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    first = int(model.hfield_adr[field])
    heights = np.asarray(model.hfield_data[first : first + rows * columns])
    return rows, columns, np.asarray(model.hfield_size[field]).tobytes(), heights.tobytes()
