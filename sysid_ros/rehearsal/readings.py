# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From the true state at a topic's instants to its messages, with noise and quantisation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.elements import FREE, SCALAR
from sysid_ros.rehearsal import messages
from sysid_ros.rehearsal.plan import (
    ImuReadings,
    JointStates,
    OdometryReadings,
    Reading,
    Readings,
    RehearsalError,
    StateForm,
    WrenchReadings,
)
from sysid_ros.rehearsal.simulation import Seen

_Row = tuple[Any, ...]  # what makes a message of its stamp and the values that follow


@dataclass(frozen=True)
class Published:
    """One message with its times in ns since the epoch."""

    topic: str
    msgtype: str
    publish_ns: int
    receive_ns: int
    data: bytes


def published(
    model: mujoco.MjModel, sensor: Readings, seen: Seen, start_ns: int, random: np.random.Generator
) -> Iterator[Published]:
    """Measure a simulated robot: a topic's messages of the true state at its instants.

    The recording begins at ``start_ns``; noise and transport are random.

    Raises:
      RehearsalError: The model lacks what the topic has.
    """
    if isinstance(sensor, JointStates):
        msgtype, rows = sensor.form.value, _joint_states(model, sensor, seen, random)
    elif isinstance(sensor, ImuReadings):
        msgtype, rows = "sensor_msgs/msg/Imu", _imu(model, sensor, seen, random)
    elif isinstance(sensor, WrenchReadings):
        msgtype, rows = "geometry_msgs/msg/WrenchStamped", _wrench(model, sensor, seen, random)
    else:
        msgtype, rows = "nav_msgs/msg/Odometry", _odometry(model, sensor, seen, random)
    timing = sensor.timing
    stamps = start_ns + np.rint(1e9 * (seen.times + timing.latency)).astype(np.int64)
    carried = np.rint(1e9 * random.uniform(0.0, timing.transport, len(stamps))).astype(np.int64)
    for stamp, late, row in zip(stamps.tolist(), carried.tolist(), rows, strict=True):
        make, *values = row
        yield Published(sensor.topic, msgtype, stamp, stamp + late, make(stamp, *values))


def measured(values: FloatArray, reading: Reading, random: np.random.Generator) -> FloatArray:
    """Noisy, quantised values of the same shape."""
    noisy = values + reading.noise * random.standard_normal(values.shape)
    if reading.quantum:
        noisy = reading.quantum * np.round(noisy / reading.quantum)
    return np.asarray(noisy)


def _joint_states(
    model: mujoco.MjModel, sensor: JointStates, seen: Seen, random: np.random.Generator
) -> Iterator[_Row]:
    names = sensor.joints or scalar_joints(model)
    numbers = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names]
    if -1 in numbers:
        missing = names[numbers.index(-1)]
        raise RehearsalError(
            f"{sensor.topic}: no joint {missing!r}; there are {', '.join(scalar_joints(model))}"
        )
    places, freedoms = model.jnt_qposadr[numbers], model.jnt_dofadr[numbers]
    late = sensor.dwell * np.arange(len(numbers), dtype=np.float64)
    position = measured(_later(seen, places, freedoms, late), sensor.position, random)
    none = np.empty((len(position), 0))
    velocity = effort = none
    if sensor.velocity is not None:
        velocity = measured(seen.qvel[:, freedoms], sensor.velocity, random)
    if sensor.effort is not None:
        effort = measured(seen.effort[:, freedoms], sensor.effort, random)
    dynamic = sensor.form is StateForm.DYNAMIC
    make = messages.dynamic_joint_state if dynamic else messages.joint_state
    shown = [sensor.prefix + name for name in names]
    for row in zip(position, velocity, effort, strict=True):
        yield make, shown, *row


def _later(seen: Seen, places: IntArray, freedoms: IntArray, late: FloatArray) -> FloatArray:
    """Positions (n, k) of hinges and slides, each so many seconds (k,) after the instants."""
    if not np.any(late):
        return seen.qpos[:, places]
    velocity = seen.qvel[:, freedoms]
    acceleration = np.gradient(velocity, seen.times, axis=0)
    return seen.qpos[:, places] + late * (velocity + 0.5 * late * acceleration)


def scalar_joints(model: mujoco.MjModel) -> tuple[str, ...]:
    """Names of hinges and slides, in the model's order."""
    return tuple(
        str(model.joint(j).name) for j in range(model.njnt) if int(model.jnt_type[j]) in SCALAR
    )


def _imu(
    model: mujoco.MjModel, sensor: ImuReadings, seen: Seen, random: np.random.Generator
) -> Iterator[_Row]:
    rates = measured(_of_sensor(model, sensor.topic, sensor.gyro, seen), sensor.rates, random)
    accelerations = _of_sensor(model, sensor.topic, sensor.accelerometer, seen)
    for row in zip(rates, measured(accelerations, sensor.accelerations, random), strict=True):
        yield messages.imu, *row


def _wrench(
    model: mujoco.MjModel, sensor: WrenchReadings, seen: Seen, random: np.random.Generator
) -> Iterator[_Row]:
    forces = measured(_of_sensor(model, sensor.topic, sensor.force, seen), sensor.forces, random)
    torques = _of_sensor(model, sensor.topic, sensor.torque, seen)
    for row in zip(forces, measured(torques, sensor.torques, random), strict=True):
        yield messages.wrench, *row


def _of_sensor(model: mujoco.MjModel, topic: str, name: str, seen: Seen) -> FloatArray:
    """Values (n, 3) of a named sensor; zeros without one."""
    if not name:
        return np.zeros((len(seen.times), 3))
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
    if number < 0:
        known = ", ".join(str(model.sensor(s).name) for s in range(model.nsensor)) or "none"
        raise RehearsalError(f"{topic}: no sensor {name!r} in the model; there are {known}")
    first = int(model.sensor_adr[number])
    return np.asarray(seen.sensors[:, first : first + 3])


def _odometry(
    model: mujoco.MjModel, sensor: OdometryReadings, seen: Seen, random: np.random.Generator
) -> Iterator[_Row]:
    free = np.flatnonzero(model.jnt_type == FREE)
    if not len(free):
        raise RehearsalError(f"{sensor.topic}: an Odometry needs a free joint; there is none")
    place, freedom = int(model.jnt_qposadr[free[0]]), int(model.jnt_dofadr[free[0]])
    position = measured(seen.qpos[:, place : place + 3], sensor.position, random)
    tilt = measured(np.zeros_like(position), sensor.orientation, random)
    angular = measured(seen.qvel[:, freedom + 3 : freedom + 6], sensor.angular, random)
    linear = np.empty_like(position)
    turned = np.array(seen.qpos[:, place + 3 : place + 7])
    for k, velocity in enumerate(seen.qvel[:, freedom : freedom + 3]):
        back = np.empty(4)
        mujoco.mju_negQuat(back, turned[k])
        mujoco.mju_rotVecQuat(linear[k], velocity, back)
        mujoco.mju_quatIntegrate(turned[k], tilt[k], 1.0)
    linear = measured(linear, sensor.linear, random)
    for row in zip(position, turned, linear, angular, strict=True):
        yield messages.odometry, *row
