# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Servos that integrate a commanded velocity: the place that they hold when a window starts.

Nothing measures that place, and commands tell its changes only. It starts where the servo exerts no
force, given the measured motion of what it drives, or at an end of its range; what gravity and
friction ask for besides is estimated with the start.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import is_velocity_servo, takes_velocity


class IntegratedInputs:
    """The activations of a model's servos that integrate their command, where windows start."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._actuators = np.array(
            [
                actuator
                for actuator in range(len(model.actuator_trntype))
                if takes_velocity(model, actuator)
                and not is_velocity_servo(model, actuator)
                and model.actuator_gainprm[actuator, 0] != 0.0
            ],
            dtype=np.intp,
        )

    def write(self, states: FloatArray) -> None:
        """Write the activations into ``mjSTATE_FULLPHYSICS`` vectors (w, nstate), in place."""
        own, model = self._actuators, self._model
        if not own.size:
            return
        data, first = mujoco.MjData(model), 1 + model.nq + model.nv
        gain, bias = model.actuator_gainprm[own, 0], model.actuator_biasprm[own]
        limited = np.asarray(model.actuator_actlimited[own], dtype=bool)
        ends = np.where(limited, model.actuator_actrange[own].T, [[-np.inf], [np.inf]])
        for state in states:
            data.qpos[:], data.qvel[:] = state[1 : 1 + model.nq], state[1 + model.nq : first]
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            force = bias[:, 0] + bias[:, 1] * data.actuator_length[own]
            force += bias[:, 2] * data.actuator_velocity[own]
            state[first + model.actuator_actadr[own]] = np.clip(-force / gain, *ends)
