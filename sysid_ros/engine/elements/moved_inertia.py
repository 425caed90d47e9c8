# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that the joints of a model move, and their inertia."""

from __future__ import annotations

from typing import Any

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


def is_moved(body: Any) -> bool:
    """Return whether a joint moves a body of a specification (an MjsBody)."""
    while body is not None and body.name != "world":
        if body.joints:
            return True
        body = body.parent
    return False
