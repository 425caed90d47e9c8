# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces of a medium on bodies, by MuJoCo's model of boxes with the bodies' inertia.

Along and about each axis of a body's inertial frame a force or torque -(l + s |u|) u resists the
velocity u. So its derivative in the body's velocity, as the body sees it, is symmetric: the sum of
F F^T over the unit forces F along the axes, times l + 2 s |u|. See MuJoCo's documentation,
Computation, "Fluid forces", and mj_inertiaBoxFluidModel.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import compiled
from sysid_ros.engine.mechanics.spatial import (
    Six,
    add,
    couple,
    dot,
    force_at,
    load,
    rotated,
    scale,
    store,
)

_MIN_VALUE = 1e-15  # mjMINVAL
_OTHERS = ((1, 2), (0, 2), (0, 1))  # axes, beside each


def in_fluid(model: mujoco.MjModel) -> bool:
    """Return whether a model's bodies move in a medium."""
    return bool(model.opt.density or model.opt.viscosity)


def unsupported_fluid(model: mujoco.MjModel) -> str | None:
    """Return why the pass does not know the forces of a medium, ``None`` where it does."""
    if not in_fluid(model):
        return None
    if int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST):
        return "implicitfast treats the forces of a fluid implicitly"
    if np.any(model.opt.wind):
        return "the model moves in wind"
    if np.any(model.geom_fluid):
        return "geoms have fluid forces of their own"
    return None


def fluid_fields(model: mujoco.MjModel) -> FloatArray:
    """Resistances of the bodies, (nbody, 8), or (nbody, 0) where there is no medium.

    Linear ones to motion [N s/m] and turning [N m s], then the square ones along each axis
    [N s^2/m^2] and about it [N m s^2].
    """
    if not in_fluid(model):
        return np.zeros((model.nbody, 0))
    result = np.zeros((model.nbody, 8))
    for body in range(1, model.nbody):
        mass, inertia = float(model.body_mass[body]), np.asarray(model.body_inertia[body])
        if mass < _MIN_VALUE:
            continue
        squares = np.maximum(_MIN_VALUE, inertia.sum() - 2.0 * inertia) / mass * 6.0
        box, density = np.sqrt(squares), float(model.opt.density)
        diameter, viscosity = float(box.mean()), float(model.opt.viscosity)
        result[body, 0] = 3.0 * np.pi * diameter * viscosity
        result[body, 1] = np.pi * diameter**3 * viscosity
        for k, (i, j) in enumerate(_OTHERS):
            result[body, 2 + k] = 0.5 * density * box[i] * box[j]
            result[body, 5 + k] = density * box[k] * (box[i] ** 4 + box[j] ** 4) / 64.0
    return result


def inertial_frames(model: mujoco.MjModel) -> FloatArray:
    """Rotations from the bodies' inertial frames to the bodies', (nbody, 3, 3)."""
    result = np.zeros((model.nbody, 9))
    for body in range(model.nbody):
        mujoco.mju_quat2Mat(result[body], model.body_iquat[body])
    return result.reshape(-1, 3, 3)


@compiled
def resist(
    velocity: Six,
    rotation: FloatArray,
    position: FloatArray,
    center: FloatArray,
    frame: FloatArray,
    fields: FloatArray,
    force: FloatArray,
    slope: FloatArray,
) -> None:
    """Add what moves a body against the medium, and its derivative in the velocity.

    Args:
      velocity: Of the body, about the fixed point.
      rotation: From the body's frame to the world, (3, 3).
      position: Of its frame, (3,), m.
      center: Of mass in the body's frame, (3,), m.
      frame: As of :func:`inertial_frames`, (3, 3).
      fields: As of :func:`fluid_fields`, (8,).
      force: Added to, (6,).
      slope: Added to, row by row, (36,).
    """
    for k in range(6):
        along = unit_force(rotation, position, center, frame, k)
        speed = dot(velocity, along)
        linear, square = (fields[0] if k < 3 else fields[1]), fields[2 + k]
        store(add(load(force), scale(along, (linear + square * abs(speed)) * speed)), force)
        steep = linear + 2.0 * square * abs(speed)
        for i in range(6):
            for j in range(6):
                slope[6 * i + j] += steep * along[i] * along[j]


@compiled
def unit_force(
    rotation: FloatArray, position: FloatArray, center: FloatArray, frame: FloatArray, k: int
) -> Six:
    """A unit force along axis ``k`` of an inertial frame, or from 3 on a torque about it."""
    e = rotated(rotation, frame[:, k % 3])
    if k >= 3:
        return couple(e)
    x, y, z = rotated(rotation, center)
    return force_at((position[0] + x, position[1] + y, position[2] + z), e)
