# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint torque that the springs of a model take, of its joints and its tendons."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray


def spring_torques(model: mujoco.MjModel, qpos: FloatArray) -> FloatArray:
    """Joint torque against all springs of a model as it is.

    Args:
      model: The model.
      qpos: (n, nq).

    Returns:
      (n, nv, 1); (n, nv, 0) of a model without springs.
    """
    if not (np.any(model.jnt_stiffness) or np.any(model.tendon_stiffness)):
        return np.zeros((len(qpos), model.nv, 0))
    data, found = mujoco.MjData(model), np.empty((len(qpos), model.nv, 1))
    for place, posture in enumerate(qpos):
        data.qpos[:] = posture
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        found[place, :, 0] = -data.qfrc_spring
    return found
