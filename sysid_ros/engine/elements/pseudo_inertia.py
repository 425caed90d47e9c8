# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ten inertial parameters of a body and the matrix in which they are physical.

With mass m, first moment h = m c and rotational inertia I about the origin of the body's frame, the
pseudo-inertia

    J = [[Sigma, h], [h^T, m]],   Sigma = tr(I)/2 * 1 - I,

is linear in the ten parameters (m, h, I), and a body of positive density has them if and only if J
is positive definite (Wensing, Kim & Slotine, Linear matrix inequalities for physically consistent
inertial parameter identification, IEEE RA-L 3, 2018, eq. 12).
"""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements.inertia import BodyInertia, quaternion_of, rotation_matrix

INERTIAL = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def inertial_parameters(model: mujoco.MjModel) -> FloatArray:
    """Ten parameters of every body about its frame's origin, (nbody, 10): kg, kg m, kg m^2."""
    mass, centre = np.asarray(model.body_mass), np.asarray(model.body_ipos)
    axes = rotation_matrix(model.body_iquat)
    tensor = np.einsum("bij,bj,bkj->bik", axes, np.asarray(model.body_inertia), axes)
    square = np.einsum("bi,bi->b", centre, centre)
    tensor += mass[:, None, None] * (
        square[:, None, None] * np.eye(3) - np.einsum("bi,bk->bik", centre, centre)
    )
    off = tensor[:, [0, 0, 1], [1, 2, 2]]
    return np.column_stack([mass, mass[:, None] * centre, tensor[:, [0, 1, 2], [0, 1, 2]], off])


def pseudo_inertia(parameters: npt.ArrayLike) -> FloatArray:
    """The matrix J (4, 4) of ten parameters: kg m^2, kg m and kg."""
    m, x, y, z, xx, yy, zz, xy, xz, yz = np.asarray(parameters, dtype=np.float64)
    return np.array(
        [
            [(yy + zz - xx) / 2, -xy, -xz, x],
            [-xy, (xx + zz - yy) / 2, -yz, y],
            [-xz, -yz, (xx + yy - zz) / 2, z],
            [x, y, z, m],
        ]
    )


def parameters_of(pseudo: FloatArray) -> FloatArray:
    """Ten parameters of a pseudo-inertia J (4, 4)."""
    second, trace = pseudo[:3, :3], float(np.trace(pseudo[:3, :3]))
    tensor = trace * np.eye(3) - second
    return np.array(
        [pseudo[3, 3], *pseudo[:3, 3], *np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    )


def central(parameters: npt.ArrayLike) -> tuple[float, FloatArray, FloatArray]:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2]."""
    values = np.asarray(parameters, dtype=np.float64)
    mass = float(values[0])
    centre = values[1:4] / mass
    xx, yy, zz, xy, xz, yz = values[4:]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, centre, tensor - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))


def body_of(parameters: npt.ArrayLike) -> BodyInertia:
    """The body, of some mass, that has ten parameters."""
    mass, centre, tensor = central(parameters)
    moments, axes = np.linalg.eigh(tensor)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    return BodyInertia(mass, centre, quaternion_of(axes), moments)


# J = sum of a parameter times its matrix, (10, 4, 4).
BASIS: FloatArray = np.stack([pseudo_inertia(unit) for unit in np.eye(10)])
