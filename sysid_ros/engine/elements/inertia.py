# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ten inertial parameters of a rigid body, and coordinates in which every value is physical.

Rucker & Wensing (RA-L 2022, "Smooth parameterization of rigid-body inertia", eq. 14) write the
pseudo-inertia (:mod:`.pseudo_inertia`) as J = U U^T with

    U = exp(alpha) [[exp(d1), s12,     s13,     t1],
                    [0,       exp(d2), s23,     t2],
                    [0,       0,       exp(d3), t3],
                    [0,       0,       0,       1 ]]

so that every theta = (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3) is physically consistent.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray


class InertiaType(Enum):
    """The parts of a body's inertia that can be identified."""

    Mass = 0  # mass
    MassIpos = 1  # mass and centre of mass: (m, x, y, z)
    Pseudo = 2  # everything, as the ten theta of this module


@dataclass(frozen=True)
class BodyInertia:
    """A body's inertial properties, as MuJoCo stores them."""

    mass: float  # kg
    ipos: FloatArray  # centre of mass in the body frame, (3,) m
    # orientation of the principal axes in the body frame, (4,) unit quaternion w x y z
    iquat: FloatArray
    inertia: FloatArray  # principal moments about the centre of mass, (3,) kg m^2


def theta_from_inertia(body: BodyInertia) -> FloatArray:
    """The coordinates theta, shape (10,), of a body's inertia.

    Raises:
      ValueError: The inertia is not that of a body with positive density everywhere (the
        triangle inequality of its moments holds with equality or not at all, or mass is zero).
    """
    try:
        return theta_from_pseudo(pseudo_of(body))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"mass {body.mass:g} kg with principal moments {body.inertia.tolist()} kg m^2 is not "
            "the inertia of a body with volume (each moment must be below the sum of the others)"
        ) from error


def pseudo_of(body: BodyInertia) -> FloatArray:
    """The pseudo-inertia J, shape (4, 4), of a body."""
    # Principal second moments: Sigma = diag about the centre of mass, s_i = tr(I)/2 - I_i.
    second_moments = 0.5 * np.sum(body.inertia) - body.inertia
    axes = rotation_matrix(body.iquat)
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = (axes * second_moments) @ axes.T + body.mass * np.outer(body.ipos, body.ipos)
    pseudo[:3, 3] = pseudo[3, :3] = body.mass * body.ipos
    pseudo[3, 3] = body.mass
    return pseudo


def theta_from_pseudo(pseudo: FloatArray) -> FloatArray:
    """The coordinates theta, shape (10,), of a pseudo-inertia J, shape (4, 4).

    Raises:
      LinAlgError: It is not positive definite.
    """
    # An upper factor: reverse rows and columns, take the lower one, reverse again.
    upper = np.linalg.cholesky(pseudo[::-1, ::-1])[::-1, ::-1]
    scale = upper[3, 3]
    unit = upper / scale
    return np.array(
        [
            np.log(scale),
            *np.log(np.diag(unit)[:3]),
            unit[0, 1],
            unit[1, 2],
            unit[0, 2],
            *unit[:3, 3],
        ]
    )


def inertia_from_theta(theta: npt.ArrayLike) -> BodyInertia:
    """The inertia that coordinates theta, shape (10,), stand for; physical for every theta.

    The second moments about the centre of mass are eigenvalues of S S^T with S the upper left
    block of U, since h h^T / m cancels the last column; no difference of large numbers is taken.

    Returns:
      The inertia; its arrays are read-only.

    Raises:
      ValueError: ``theta`` does not have ten elements.
    """
    flat = np.asarray(theta, dtype=np.float64).ravel()
    if flat.size != 10:
        raise ValueError(f"theta must be a 10-element array, got {flat.size}.")
    return _inertia(tuple(flat.tolist()))


@functools.lru_cache(maxsize=256)  # a Jacobian asks for the same inertia for nearly every column
def _inertia(theta: tuple[float, ...]) -> BodyInertia:
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    stretch = np.exp(alpha) * np.array(
        [[np.exp(d1), s12, s13], [0.0, np.exp(d2), s23], [0.0, 0.0, np.exp(d3)]]
    )
    axes, singular, _ = np.linalg.svd(stretch)
    moments = singular**2
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] = -axes[:, 2]
    body = BodyInertia(
        mass=float(np.exp(2.0 * alpha)),
        ipos=np.array([t1, t2, t3]),
        iquat=quaternion_of(axes),
        inertia=np.array(
            [moments[1] + moments[2], moments[0] + moments[2], moments[0] + moments[1]]
        ),
    )
    for array in (body.ipos, body.iquat, body.inertia):
        array.flags.writeable = False
    return body


def full_inertia(body: BodyInertia) -> FloatArray:
    """The rotational inertia about the centre of mass in body axes, (3, 3) kg m^2."""
    axes = rotation_matrix(body.iquat)
    full: FloatArray = (axes * body.inertia) @ axes.T
    return full


def rotation_matrix(quaternions: npt.ArrayLike) -> FloatArray:
    """Rotation matrices (..., 3, 3) of quaternions w x y z of any length, (..., 4)."""
    given = np.asarray(quaternions, dtype=np.float64)
    w, x, y, z = np.moveaxis(given / np.linalg.norm(given, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([one for row in rows for one in row], axis=-1).reshape(*given.shape[:-1], 3, 3)


def quaternion_of(axes: FloatArray) -> FloatArray:
    """Unit quaternion w x y z of a rotation matrix (3, 3)."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ravel(axes))
    return quaternion
