# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Readings of the sensors of a robot that moves smoothly."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.diagnosis.evidence import Samples


def measured(xml: str, seed: int, turning: float = 1.0, noise: float = 1e-3) -> dict[str, Samples]:
    """Readings of the sensors of a robot on a smooth random motion, with noise.

    ``turning`` is the size of what follows the first three velocities.
    """
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    frequency, phase = rng.uniform(0.2, 1.0, model.nv), rng.uniform(0.0, 6.0, model.nv)
    times = np.arange(0.0, 10.0, 0.005)
    pulse = 2.0 * np.pi * frequency
    size = np.where(np.arange(model.nv) < 3, 1.0, turning)
    readings = np.empty((len(times), model.nsensordata))
    for i, t in enumerate(times):
        if i:
            mujoco.mj_integratePos(model, data.qpos, data.qvel, 0.005)
        else:
            data.qpos[:] = model.qpos0
        at = t + 0.0025  # between two positions
        data.qvel[:] = size * np.cos(pulse * t + phase)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        data.qacc[:] = -size * pulse * np.sin(pulse * t + phase)
        mujoco.mj_sensorPos(model, data)
        mujoco.mj_sensorVel(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_sensorAcc(model, data)
        readings[i] = data.sensordata
        data.qvel[:] = size * np.cos(pulse * at + phase)
    readings += noise * rng.standard_normal(readings.shape)
    return {
        str(model.sensor(k).name): Samples(
            times, readings[:, a : a + d] if d > 1 else readings[:, a]
        )
        for k in range(model.nsensor)
        for a, d in [(int(model.sensor_adr[k]), int(model.sensor_dim[k]))]
    }
