# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of floating bodies take velocities from what measures them best."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.signals import SignalType, TimeSeries
from sysid_ros.engine.windows.starts import StartReader

SENSORS = {
    "place": '<framepos objtype="xbody" objname="hull" name="place"/>',
    "turn": '<framequat objtype="xbody" objname="hull" name="turn"/>',
    "drift": '<velocimeter site="origin" name="drift"/>',
    "spin": '<gyro site="imu" name="spin"/>',
}
MODEL = f"""<mujoco><worldbody><body name="hull"><freejoint/><geom size=".1"/>
  <site name="origin" euler="0 0 90"/><site name="imu" pos=".1 0 0" euler="180 0 0"/>
  </body></worldbody><sensor>{"".join(SENSORS.values())}</sensor></mujoco>"""
SPEED, TURNING = np.array([0.4, -0.2, 0.1]), 0.3  # m/s in the world, rad/s about z
TIMES = np.arange(0.0, 4.0, 0.01)


def recorded(model: mujoco.MjModel, *, pose_noise: float, rate_noise: float) -> TimeSeries:
    """A body that moves and turns steadily, as its four sensors show it."""
    random = np.random.default_rng(1)
    data, rows = mujoco.MjData(model), []
    for time in TIMES:
        half = 0.5 * TURNING * time
        data.qpos[:3], data.qpos[3:] = SPEED * time, [np.cos(half), 0.0, 0.0, np.sin(half)]
        data.qvel[:3], data.qvel[3:] = SPEED, [0.0, 0.0, TURNING]
        mujoco.mj_forward(model, data)
        rows.append(np.array(data.sensordata))
    values = np.array(rows)
    values[:, :7] += pose_noise * random.standard_normal((len(TIMES), 7))
    values[:, 7:] += rate_noise * random.standard_normal((len(TIMES), 6))
    columns, first = {}, 0
    for name, width in zip(SENSORS, (3, 4, 3, 3), strict=True):
        columns[name] = (SignalType.MjSensor, np.arange(first, first + width))
        first += width
    return TimeSeries(TIMES, values, columns)


@pytest.mark.parametrize(
    ("pose_noise", "rate_noise", "error"),
    [(1e-3, 1e-2, 2e-2), (1e-5, 1.0, 5e-3)],  # odometry; motion capture beside a poor estimate
)
def test_velocities_come_from_twists_where_these_are_better(
    pose_noise: float, rate_noise: float, error: float
) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    measured = recorded(model, pose_noise=pose_noise, rate_noise=rate_noise)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    reader = StartReader(model, measured, np.zeros(size), velocity_filter=30.0)
    instants = np.arange(0.5, 3.5, 0.1)
    states = reader.states(instants, 0.0, {})
    rates = states[:, 1 + model.nq :]
    off = rates - np.concatenate([SPEED, [0.0, 0.0, TURNING]])
    assert np.sqrt(np.mean(off[:, :3] ** 2)) < error
    assert np.sqrt(np.mean(off[:, 3:] ** 2)) < error
