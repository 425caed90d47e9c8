# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The inertia that the joints of a compiled model move."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray


def moved_inertia(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    """The diagonal of the mass matrix without armature, (nv,).

    Args:
      model: The compiled model.
      data: In a pose of which MuJoCo has computed what depends on positions.
    """
    diagonal, product = np.zeros(model.nv), np.zeros(model.nv)
    for dof, unit in enumerate(np.eye(model.nv)):  # mj_fullM takes others in MuJoCo 3
        mujoco.mj_mulM(model, data, product, unit)
        diagonal[dof] = product[dof]
    return np.asarray(diagonal - model.dof_armature)
