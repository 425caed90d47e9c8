# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Paths of lines through space: spatial tendons from site to site, and rods of slider-cranks.

A path is a list of segments. The length of each is a function of one or two points as a body sees
them, the frame: the distance from it of a site, the length around one of its geoms between two
sites, or the place that a rod pushes its slider to. See MuJoCo's mj_tendon, mju_wrap and
mj_transmission.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray, floats, integers
from sysid_ros.engine.elements import n_actuators

STRAIGHT, AROUND_SPHERE, AROUND_CYLINDER, ROD = 0, 1, 2, 3  # kinds of segments
FIRST, SECOND, FRAME = 0, 1, 2  # the bodies of a segment

_WRAP = mujoco.mjtWrap
_JOINT, _PULLEY = int(_WRAP.mjWRAP_JOINT), int(_WRAP.mjWRAP_PULLEY)
_AROUND = {
    int(_WRAP.mjWRAP_SPHERE): AROUND_SPHERE,
    int(_WRAP.mjWRAP_CYLINDER): AROUND_CYLINDER,
}
_CRANK = int(mujoco.mjtTrn.mjTRN_SLIDERCRANK)
_WRAPPED = ("geom_pos", "geom_quat", "geom_size")
_GOES_AROUND = 4_000_000  # the first version in which a tendon across from its side goes around


class Paths(NamedTuple):
    """The paths of all lines; those of lines that are linear in joint positions are empty."""

    first: IntArray  # (n_line + 1,): where the segments of each begin
    kind: IntArray  # (segments,)
    share: FloatArray  # (segments,): of the line's length, by the pulleys before it
    body: IntArray  # (segments, 3): that of the first point, of the second and of the frame
    point: FloatArray  # (segments, 2, 3): the points in their bodies' frames, m
    centre: FloatArray  # (segments, 3): of the geom or the slider, in the frame, m
    axis: FloatArray  # (segments, 3): likewise
    size: FloatArray  # (segments,): a geom's radius, or a rod's length, m
    side: FloatArray  # (segments, 3): a point on the side that is gone around, in the frame, m
    sided: IntArray  # (segments,): 1 where there is one
    carried: IntArray  # (segments, 3, width): 1 where an entry of the line moves the body


class Segment(NamedTuple):
    """One segment, with bodies and places as in :class:`Paths`."""

    kind: int
    share: float
    body: tuple[int, int, int]
    point: tuple[FloatArray, FloatArray]
    centre: FloatArray = np.zeros(3)
    axis: FloatArray = np.zeros(3)
    size: float = 0.0
    side: FloatArray | None = None


def segments_of_tendon(model: mujoco.MjModel, tendon: int) -> list[Segment]:
    """The segments of a tendon, none of a fixed one."""
    first = int(model.tendon_adr[tendon])
    kinds, objects, numbers = (
        np.asarray(array)[first : first + int(model.tendon_num[tendon])].tolist()
        for array in (model.wrap_type, model.wrap_objid, model.wrap_prm)
    )
    if kinds[0] == _JOINT:
        return []
    segments, share, k = [], 1.0, 0
    while k < len(kinds) - 1:
        if kinds[k] == _PULLEY:
            share = 1.0 / numbers[k]
        if _PULLEY in kinds[k : k + 2]:
            k += 1
        elif kinds[k + 1] in _AROUND:
            sites = objects[k], objects[k + 2]
            around = int(objects[k + 1]), round(numbers[k + 1])
            segments.append(_around(model, sites, around, _AROUND[kinds[k + 1]], share))
            k += 2
        else:
            segments.append(_straight(model, objects[k], objects[k + 1], share))
            k += 1
    return segments


def segment_of_crank(model: mujoco.MjModel, actuator: int) -> Segment:
    """The rod of a slider-crank, whose length is the place of the slider along its axis."""
    pin, slider = (int(site) for site in model.actuator_trnid[actuator])
    body, point, _ = _place(model, model.site_bodyid[pin], model.site_pos[pin])
    frame, centre, turned = _place(
        model, model.site_bodyid[slider], model.site_pos[slider], model.site_quat[slider]
    )
    length = float(np.ravel(model.actuator_cranklength)[actuator])
    return Segment(
        ROD, 1.0, (body, frame, frame), (point, centre), centre, _rotated(turned, _UPWARD), length
    )


def crank_actuators(model: mujoco.MjModel) -> list[int]:
    """The actuators that act on slider-cranks."""
    return [u for u in range(n_actuators(model)) if int(model.actuator_trntype[u]) == _CRANK]


def moved_by(model: mujoco.MjModel, segments: list[Segment]) -> list[int]:
    """The degrees of freedom that move the bodies of segments relative to each other, ascending."""
    found: set[int] = set()
    for segment in segments:
        one, two, frame = (set(_chain(model, body)) for body in segment.body)
        found |= (one | two | frame) - (one & two & frame)
    return sorted(found)


def paths_of(model: mujoco.MjModel, lines: list[list[Segment]], dofs: list[list[int]]) -> Paths:
    """The paths of lines, each by its segments and the degrees of freedom of its entries."""
    width = max((len(own) for own, path in zip(dofs, lines, strict=True) if path), default=0)
    every = [one for path in lines for one in path]
    carried = np.zeros((len(every), 3, width))
    place = 0
    for path, own in zip(lines, dofs, strict=True):
        for segment in path:
            for k, body in enumerate(segment.body):
                carried[place, k, : len(own)] = np.isin(own, _chain(model, body))
            place += 1
    sides = [np.zeros(3) if one.side is None else one.side for one in every]
    return Paths(
        first=integers(np.cumsum([0] + [len(path) for path in lines])),
        kind=integers([one.kind for one in every]),
        share=floats([one.share for one in every]),
        body=integers([one.body for one in every]).reshape(-1, 3),
        point=floats([one.point for one in every]).reshape(-1, 2, 3),
        centre=floats([one.centre for one in every]).reshape(-1, 3),
        axis=floats([one.axis for one in every]).reshape(-1, 3),
        size=floats([one.size for one in every]),
        side=floats(sides).reshape(-1, 3),
        sided=integers([one.side is not None for one in every]),
        carried=integers(carried),
    )


def unsupported_paths(model: mujoco.MjModel) -> str | None:
    """Return why a path is not known, ``None`` if all are."""
    for tendon in range(model.ntendon):
        path = segments_of_tendon(model, tendon)
        if path and model.tendon_armature[tendon]:
            return "a spatial tendon has armature"
        for one in path:
            if one.side is not None and mujoco.mj_version() < _GOES_AROUND:
                return "a tendon goes around a geom by its side, by rules of MuJoCo before 4"
            if one.side is not None and _goes_inside(one):
                return "a tendon goes through the inside of a geom"
    for k in range(len(model.wrap_type)):
        if int(model.wrap_type[k]) in _AROUND and round(model.wrap_prm[k]) >= 0:
            geom, site = int(model.wrap_objid[k]), round(model.wrap_prm[k])
            bodies = model.geom_bodyid[geom], model.site_bodyid[site]
            if model.body_weldid[bodies[0]] != model.body_weldid[bodies[1]]:
                return "a tendon's side site moves about the geom"
    return None


def unfollowed_path(model: mujoco.MjModel, other: mujoco.MjModel) -> str | None:
    """Return what another model of the same size has of a path that would not be noticed."""
    geoms = np.asarray(model.wrap_objid)[np.isin(np.asarray(model.wrap_type), list(_AROUND))]
    for name in _WRAPPED:
        if np.any(np.asarray(getattr(model, name))[geoms] != getattr(other, name)[geoms]):
            return "what a tendon goes around"
    fixed = np.asarray(model.wrap_type)[np.asarray(model.tendon_adr)] == _JOINT
    if np.any(np.asarray(model.tendon_armature != other.tendon_armature)[~fixed]):
        return "tendon_armature of a spatial tendon"
    return None


_UPWARD, _UNTURNED = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0])


def _straight(model: mujoco.MjModel, one: int, other: int, share: float) -> Segment:
    """From site to site, as the second one's body sees it."""
    body, point, _ = _place(model, model.site_bodyid[one], model.site_pos[one])
    frame, centre, _ = _place(model, model.site_bodyid[other], model.site_pos[other])
    return Segment(STRAIGHT, share, (body, frame, frame), (point, centre))


def _around(
    model: mujoco.MjModel, sites: Any, around: tuple[int, int], kind: int, share: float
) -> Segment:
    """From site to site around a geom, if it is in the way."""
    geom, side_site = around
    ends = [_place(model, model.site_bodyid[site], model.site_pos[site]) for site in sites]
    frame, centre, turned = _place(
        model, model.geom_bodyid[geom], model.geom_pos[geom], model.geom_quat[geom]
    )
    side = None
    if side_site >= 0:
        _, side, _ = _place(model, model.site_bodyid[side_site], model.site_pos[side_site])
    return Segment(
        kind, share, (ends[0][0], ends[1][0], frame), (ends[0][1], ends[1][1]), centre,
        _rotated(turned, _UPWARD), float(model.geom_size[geom, 0]), side,
    )  # fmt: skip


def _goes_inside(segment: Segment) -> bool:
    """Return whether the side is within the geom."""
    away = np.asarray(segment.side) - segment.centre
    if segment.kind == AROUND_CYLINDER:
        away = away - segment.axis * (segment.axis @ away)
    return bool(np.linalg.norm(away) < segment.size)


def _place(
    model: mujoco.MjModel, body: Any, position: Any, quaternion: Any = _UNTURNED
) -> tuple[int, FloatArray, FloatArray]:
    """A place fixed to a body, as the body sees it that moves it: number, position, quaternion.

    What no joint moves is fixed to the world, body 0, which every part of a model has.
    """
    number, place, turned = int(body), np.array(position), np.array(quaternion)
    moving = int(model.body_weldid[number])
    while number != moving:
        place = np.asarray(model.body_pos[number]) + _rotated(model.body_quat[number], place)
        before = turned.copy()
        mujoco.mju_mulQuat(turned, model.body_quat[number], before)
        number = int(model.body_parentid[number])
    return number, place, turned


def _chain(model: mujoco.MjModel, body: int) -> list[int]:
    """The degrees of freedom that move a body with joints, or the world."""
    dof = int(model.body_dofadr[body]) + int(model.body_dofnum[body]) - 1 if body else -1
    chain = []
    while dof >= 0:
        chain.append(dof)
        dof = int(model.dof_parentid[dof])
    return chain


def _rotated(quaternion: Any, vector: FloatArray) -> FloatArray:
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, vector, np.asarray(quaternion, dtype=np.float64))
    return turned
