# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot's looks in the shapes that viewers of ROS draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.playback.frames import body_names

_G = mujoco.mjtGeom
_SHOWN_GROUPS = 3  # the groups 0 to 2, which MuJoCo's viewers draw by default


class ShapeKind(str, Enum):
    """The shapes there are; each fills a box of the size ``scale``."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"  # along z
    TRIANGLES = "triangles"


@dataclass(frozen=True)
class Shape:
    """A part of a body."""

    body: str  # the body's name
    kind: ShapeKind  # what it is
    position: FloatArray  # of its centre in the body's frame, (3,) m
    quaternion: FloatArray  # its orientation there, (4,) w, x, y, z
    scale: FloatArray  # its extent along its axes, (3,) m; one for triangles
    rgba: FloatArray  # red, green, blue and opacity, (4,) 0 to 1
    corners: FloatArray  # of triangles, three rows for each, (3 n, 3) m; none for other kinds


def shapes_of(model: mujoco.MjModel) -> tuple[Shape, ...]:
    """The visible geoms of all bodies that can move or be moved.

    What belongs to the world is left out, and so are planes, height fields and what MuJoCo's
    viewers hide.
    """
    names = body_names(model)
    return tuple(
        shape
        for geom in range(model.ngeom)
        if model.geom_bodyid[geom] > 0 and model.geom_group[geom] < _SHOWN_GROUPS
        for shape in _shapes(model, geom, names[int(model.geom_bodyid[geom])])
        if shape.rgba[3] > 0.0
    )


def _shapes(model: mujoco.MjModel, geom: int, body: str) -> Iterator[Shape]:
    """One shape, or three for a capsule: two spheres and what is between them."""
    kind, size = int(model.geom_type[geom]), np.array(model.geom_size[geom])
    position, quaternion = np.array(model.geom_pos[geom]), np.array(model.geom_quat[geom])
    material = int(model.geom_matid[geom])
    colour = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]

    def shape(
        kind: ShapeKind,
        scale: npt.ArrayLike,
        at: FloatArray = position,
        corners: FloatArray | None = None,
    ) -> Shape:
        known = np.zeros((0, 3)) if corners is None else corners
        extent = np.array(scale, dtype=np.float64)
        return Shape(body, kind, at, quaternion, extent, np.array(colour, np.float64), known)

    if kind == int(_G.mjGEOM_BOX):
        yield shape(ShapeKind.BOX, 2.0 * size)
    elif kind == int(_G.mjGEOM_SPHERE):
        yield shape(ShapeKind.SPHERE, np.full(3, 2.0 * size[0]))
    elif kind == int(_G.mjGEOM_ELLIPSOID):
        yield shape(ShapeKind.SPHERE, 2.0 * size)
    elif kind in (int(_G.mjGEOM_CYLINDER), int(_G.mjGEOM_CAPSULE)):
        yield shape(ShapeKind.CYLINDER, 2.0 * size[[0, 0, 1]])
        if kind == int(_G.mjGEOM_CAPSULE):
            axis = np.empty(3)
            mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, size[1]]), quaternion)
            for end in (position - axis, position + axis):
                yield shape(ShapeKind.SPHERE, np.full(3, 2.0 * size[0]), end)
    elif kind == int(_G.mjGEOM_MESH):
        corners = _corners(model, int(model.geom_dataid[geom]))
        yield shape(ShapeKind.TRIANGLES, np.ones(3), corners=corners)


def _corners(model: mujoco.MjModel, mesh: int) -> FloatArray:
    """The corners of a mesh's triangles, three rows each."""
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    vertices = np.asarray(model.mesh_vert[first : first + count], dtype=np.float64)
    return np.asarray(vertices[model.mesh_face[face : face + faces].ravel()])
