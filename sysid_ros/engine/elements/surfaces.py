# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points on the surfaces of bodies."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements.inertia import rotation_matrix

_TURN = np.linspace(0.0, 2.0 * np.pi, 33)
_SPHERE: FloatArray = np.array(
    [(np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b))
     for a in _TURN[:-1] for b in np.linspace(-0.5, 0.5, 9) * np.pi]
)  # fmt: skip
_UP: FloatArray = np.array([0.0, 0.0, 1.0])
_NO_BODY = {int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD)}


def surface_points(model: mujoco.MjModel, body: int) -> FloatArray:
    """Points on the surfaces of a body's geoms, whose convex hull is about theirs.

    Returns:
      (n, 3) m in the body's frame; none of a body without geometry.
    """
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    geoms = [g for g in range(first, first + count) if int(model.geom_type[g]) not in _NO_BODY]
    return np.concatenate([np.zeros((0, 3)), *(_points(model, geom) for geom in geoms)])


def _points(model: mujoco.MjModel, geom: int) -> FloatArray:
    """Points (n, 3) m on the surface of a geom, in its body's frame."""
    size, kind = np.asarray(model.geom_size[geom]), int(model.geom_type[geom])
    if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
        mesh = int(model.geom_dataid[geom])
        first = int(model.mesh_vertadr[mesh])
        points = np.asarray(model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])])
    elif kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        points = size[0] * _SPHERE
    elif kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        points = size * _SPHERE
    elif kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        points = size[0] * _SPHERE + size[1] * np.sign(_SPHERE) * _UP
    elif kind == int(mujoco.mjtGeom.mjGEOM_CYLINDER):
        circle = np.stack([size[0] * np.cos(_TURN), size[0] * np.sin(_TURN), 0.0 * _TURN], axis=1)
        points = np.concatenate([circle - size[1] * _UP, circle + size[1] * _UP])
    else:
        box = np.asarray(model.geom_aabb[geom])
        corners = np.stack(np.meshgrid(*[(-1.0, 1.0)] * 3), axis=-1).reshape(-1, 3)
        points = box[:3] + corners * box[3:]
    turned = points @ rotation_matrix(model.geom_quat[geom]).T
    return np.asarray(turned + model.geom_pos[geom], dtype=np.float64)
