# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A medium that bodies move in, as flat arrays: MuJoCo's boxes with their inertia, and ellipsoids.

Along and about each axis of a body's inertial frame a force or torque -(l + s |u|) u resists the
velocity u relative to the medium. A body with geoms of ``fluidshape="ellipsoid"`` has the forces on
these instead. See MuJoCo's documentation, Computation, "Fluid forces", mj_inertiaBoxFluidModel and
mj_ellipsoidFluidModel.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IntArray

# The first version of MuJoCo whose implicitfast turns free bodies by their next velocity.
TURNS_IMPLICITLY = 3_011_000
_MIN_VALUE = 1e-15  # mjMINVAL
_OTHERS = ((1, 2), (0, 2), (0, 1))  # axes, beside each

# Columns of fluid_fields: what a parameter may change about the medium around one body.
LINEAR, SQUARE, WIND, FRAME = slice(0, 2), slice(2, 8), slice(8, 11), slice(11, 18)
N_FLUID_FIELDS = 18

# Columns of Ellipsoids.coefficients, named in ellipsoid_law.
AREA, DRAG, SLENDER, BLUNT, LIFT, TWIST, MOMENT, MAGNUS, ADDED_MASS, ADDED_INERTIA = (
    0, 3, 4, 5, 6, 7, 8, 11, 12, 15,
)  # fmt: skip
_N_COEFFICIENTS = 18


class Ellipsoids(NamedTuple):
    """The geoms that a medium flows around."""

    body: IntArray  # (k,)
    place: FloatArray  # (k, 3): in the body's frame, m
    frame: FloatArray  # (k, 3, 3): from the geom's frame to the body's
    coefficients: FloatArray  # (k, 18)


def in_fluid(model: mujoco.MjModel) -> bool:
    """Return whether a model's bodies move in a medium."""
    return bool(model.opt.density or model.opt.viscosity)


def flow_alike(base: mujoco.MjModel, moved: mujoco.MjModel) -> bool:
    """Return whether models differ in nothing about a medium but what is in fluid_fields."""
    if in_fluid(base) != in_fluid(moved):
        return False
    pairs = zip(ellipsoids_of(base), ellipsoids_of(moved), strict=True)
    return all(np.array_equal(old, new) for old, new in pairs)


def fluid_fields(model: mujoco.MjModel) -> FloatArray:
    """The medium around the bodies, (nbody, 18), or (nbody, 0) where there is none.

    Linear resistances to motion [N s/m] and turning [N m s], then the square ones along each axis
    [N s^2/m^2] and about it [N m s^2], which are zero of ellipsoids, the wind [m/s], and position
    [m] and orientation of the inertial frame, in which they act.
    """
    if not in_fluid(model):
        return np.zeros((model.nbody, 0))
    result = np.zeros((model.nbody, N_FLUID_FIELDS))
    result[:, WIND] = model.opt.wind
    result[:, FRAME] = np.hstack([model.body_ipos, model.body_iquat])
    shaped = set(_bodies_of_ellipsoids(model).tolist())
    density, viscosity = float(model.opt.density), float(model.opt.viscosity)
    for body in range(1, model.nbody):
        mass, inertia = float(model.body_mass[body]), np.asarray(model.body_inertia[body])
        if mass < _MIN_VALUE or body in shaped:
            continue
        squares = np.maximum(_MIN_VALUE, inertia.sum() - 2.0 * inertia) / mass * 6.0
        box = np.sqrt(squares)
        diameter = float(box.mean())
        result[body, 0] = 3.0 * np.pi * diameter * viscosity
        result[body, 1] = np.pi * diameter**3 * viscosity
        for k, (i, j) in enumerate(_OTHERS):
            result[body, 2 + k] = 0.5 * density * box[i] * box[j]
            result[body, 5 + k] = density * box[k] * (box[i] ** 4 + box[j] ** 4) / 64.0
    return result


def inertial_frames(fields: FloatArray) -> FloatArray:
    """Rotations from inertial frames to the bodies', (nbody, 3, 3); zero without a medium."""
    return _rotations(fields[:, FRAME][:, 3:])


def _rotations(quaternions: FloatArray) -> FloatArray:
    result = np.zeros((len(quaternions), 9))
    for matrix, quaternion in zip(result, quaternions, strict=True):
        if quaternion.size:
            mujoco.mju_quat2Mat(matrix, quaternion)
    return result.reshape(-1, 3, 3)


def _ellipsoids(model: mujoco.MjModel) -> list[int]:
    """The geoms that a medium flows around."""
    if not in_fluid(model):
        return []
    masses = np.asarray(model.body_mass)[np.asarray(model.geom_bodyid)]
    shaped = (np.asarray(model.geom_fluid)[:, 0] != 0.0) & (masses >= _MIN_VALUE)
    return [int(geom) for geom in np.flatnonzero(shaped)]


def _bodies_of_ellipsoids(model: mujoco.MjModel) -> IntArray:
    bodies: IntArray = np.asarray(model.geom_bodyid)[_ellipsoids(model)].astype(np.int64)
    return bodies


def ellipsoids_of(model: mujoco.MjModel) -> Ellipsoids:
    """The ellipsoids of a model."""
    geoms = _ellipsoids(model)
    coefficients = [_coefficients(model, geom) for geom in geoms]
    return Ellipsoids(
        _bodies_of_ellipsoids(model),
        np.array(np.asarray(model.geom_pos)[geoms], dtype=np.float64).reshape(-1, 3),
        _rotations(np.asarray(model.geom_quat)[geoms]),
        np.array(coefficients, dtype=np.float64).reshape(-1, _N_COEFFICIENTS),
    )


def _coefficients(model: mujoco.MjModel, geom: int) -> FloatArray:
    """A geom's resistance to motion; see mj_viscousForces and mj_addedMassForces."""
    density, viscosity = float(model.opt.density), float(model.opt.viscosity)
    size = _semiaxes(model, geom)
    share, blunt, slender, angular, kutta, magnus = np.asarray(model.geom_fluid[geom, :6])
    _, middle, most = np.sort(size)
    diameter = 2.0 / 3.0 * size.sum()
    own = np.array([size[k] * max(size[i], size[j]) ** 4 for k, (i, j) in enumerate(_OTHERS)])
    moments = 8.0 / 15.0 * np.pi * own
    largest = 8.0 / 15.0 * np.pi * middle * most**4
    result = np.zeros(_N_COEFFICIENTS)
    result[DRAG] = viscosity * 3.0 * np.pi * diameter
    result[SLENDER] = density * slender * np.pi * most * middle
    result[BLUNT] = density * (blunt - slender) * np.pi
    result[LIFT] = density * kutta * np.pi
    result[TWIST] = viscosity * np.pi * diameter**3
    result[MOMENT : MOMENT + 3] = density * (angular * moments + slender * (largest - moments))
    result[MAGNUS] = density * magnus * 4.0 / 3.0 * np.pi * size.prod()
    result[ADDED_MASS:] = density * np.asarray(model.geom_fluid[geom, 6:12])
    result *= share
    result[AREA : AREA + 3] = [(size[i] * size[j]) ** 2 for i, j in _OTHERS]
    return result


def _semiaxes(model: mujoco.MjModel, geom: int) -> FloatArray:
    """Half the sizes of a geom's equivalent ellipsoid, (3,), m; see mju_geomSemiAxes."""
    size, kind = np.array(model.geom_size[geom]), mujoco.mjtGeom(int(model.geom_type[geom]))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.full(3, size[0])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return np.array([size[0], size[0], size[1] + size[0]])
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return np.array([size[0], size[0], size[1]])
    return size


def turned_implicitly(model: mujoco.MjModel) -> BoolArray:
    """Mark the degrees of freedom whose Coriolis forces the integrator treats implicitly, (nv,).

    Of ``implicit`` these are all, of ``implicitfast`` since MuJoCo 3.11 those of free bodies that
    carry nothing; see mj_isFreeBody.
    """
    integrator = int(model.opt.integrator)
    if integrator == int(mujoco.mjtIntegrator.mjINT_IMPLICIT):
        return np.ones(model.nv, dtype=bool)
    turned = np.zeros(model.nv, dtype=bool)
    if (
        integrator != int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
        or mujoco.mj_version() < TURNS_IMPLICITLY
    ):
        return turned
    trees = np.asarray(model.dof_treeid)
    for joint in np.flatnonzero(
        np.asarray(model.jnt_type) == int(mujoco.mjtJoint.mjJNT_FREE)
    ).tolist():
        body, dof = int(model.jnt_bodyid[joint]), int(model.jnt_dofadr[joint])
        alone = np.count_nonzero(trees == trees[dof]) == 6
        if alone and model.body_subtreemass[body] == model.body_mass[body]:
            turned[dof : dof + 6] = True
    return turned
