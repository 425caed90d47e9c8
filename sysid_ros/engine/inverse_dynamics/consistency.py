# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The inertial parameters that a body can have, as constraints of a convex program.

J >= margin * J_0, with J_0 the pseudo-inertia of the model's own body: the margin is relative to
the body, in every direction of space, and keeps what MuJoCo refuses (a moment of inertia equal to
the sum of the two others) away from the estimate. The centre of mass stays within a polytope
around the body's geometry: half-spaces normal to 26 directions that touch it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import BASIS, central, inertial_parameters, rotation_matrix

MARGIN = 1e-3  # of the model's own pseudo-inertia
_SMALLEST_REACH = 2e-3  # m, radius of gyration that a body without extent is given
_LEAST_MASS = 1e-3  # kg, of a body that the model makes massless
_ROOM = 0.01  # m that a centre of mass may lie outside the geometry, whose shape is approximate

DIRECTIONS: FloatArray = np.array(
    [
        np.array([x, y, z]) / np.linalg.norm([x, y, z])
        for x in (-1, 0, 1)
        for y in (-1, 0, 1)
        for z in (-1, 0, 1)
        if (x, y, z) != (0, 0, 0)
    ]
)


@dataclass(frozen=True)
class BodyScale:
    """A body's own pseudo-inertia J_0 = L L^T, by which its parameters are measured."""

    lower: FloatArray  # L (4, 4)
    scaled: FloatArray  # for each of the ten parameters L^-1 B_i L^-T, (10, 4, 4)

    def relative(self, parameters: FloatArray) -> FloatArray:
        """L^-1 J L^-T (4, 4) of ten parameters: the identity for the model's own."""
        return np.asarray(np.einsum("i,ijk->jk", parameters, self.scaled))


def body_scale(parameters: FloatArray) -> BodyScale:
    """Scale of a body with ten parameters; flat or massless ones are given a small extent."""
    mass = max(float(parameters[0]), _LEAST_MASS)
    filled = parameters.copy()
    filled[0] = mass
    _, centre, tensor = central(filled)
    values, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    floor = max(mass * _SMALLEST_REACH**2, 1e-3 * float(values.max()))
    second = axes @ np.diag(np.maximum(values, floor)) @ axes.T
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = second + mass * np.outer(centre, centre)
    pseudo[:3, 3] = pseudo[3, :3] = mass * centre
    pseudo[3, 3] = mass
    lower: FloatArray = np.linalg.cholesky(pseudo).astype(np.float64)
    inverse = np.linalg.inv(lower)
    return BodyScale(lower, np.einsum("ij,njk,lk->nil", inverse, BASIS, inverse))


def body_scales(model: mujoco.MjModel, bodies: Iterable[int]) -> dict[int, BodyScale]:
    """Scales of some bodies."""
    parameters = inertial_parameters(model)
    return {body: body_scale(parameters[body]) for body in bodies}


def reach(model: mujoco.MjModel, body: int) -> FloatArray | None:
    """Extent of a body's geometry in each of the directions, (26,) m; ``None`` without any.

    Taken from the oriented boxes of its own geoms, which enclose them.
    """
    found = []
    for geom in range(model.ngeom):
        if int(model.geom_bodyid[geom]) != body:
            continue
        if int(model.geom_type[geom]) in (
            int(mujoco.mjtGeom.mjGEOM_PLANE),
            int(mujoco.mjtGeom.mjGEOM_HFIELD),
        ):
            continue
        rotation = rotation_matrix(model.geom_quat[geom])
        box = np.asarray(model.geom_aabb[geom])
        centre = model.geom_pos[geom] + rotation @ box[:3]
        found.append(DIRECTIONS @ centre + np.abs(DIRECTIONS @ rotation) @ box[3:])
    return np.max(found, axis=0) + _ROOM if found else None
