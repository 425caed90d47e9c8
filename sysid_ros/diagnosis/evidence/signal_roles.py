# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parts that signals have in a robot, by their names in its model."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

import mujoco

from sysid_ros.engine.elements import (
    FREE,
    SCALAR,
    bodies_above,
    is_effort,
    is_servo,
    is_velocity_servo,
    joint_of,
    joints_of_tendon,
)


class Role(Enum):
    """The part that a signal has in a robot."""

    POSITION = "position"
    VELOCITY = "velocity"
    EFFORT = "effort"
    SERVO = "servo"
    OTHER = "other"


def part_of(model: mujoco.MjModel, label: str, torques: Collection[str]) -> tuple[Role, int] | None:
    """A signal's role, with the number of its joint or actuator; ``None`` where it has none."""
    if label in torques:
        return Role.EFFORT, model.actuator(label).id
    sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, label)
    if sensor >= 0:
        role = _OF_SENSOR.get(int(model.sensor_type[sensor]))
        return None if role is None else (role, int(model.sensor_objid[sensor]))
    actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, label)
    role = None if actuator < 0 else _role_of(model, actuator)
    return None if role is None else (role, actuator)


def _role_of(model: mujoco.MjModel, actuator: int) -> Role | None:
    """The role of what an actuator is told."""
    if not _drives_one_joint(model, actuator):
        if arms(model, actuator) and is_servo(model, actuator):
            return Role.OTHER
        pushes = is_effort(model, actuator) and _is_on_free(model, actuator)
        return Role.EFFORT if pushes else None
    if is_effort(model, actuator):
        return Role.EFFORT
    if is_servo(model, actuator):
        return Role.SERVO
    return Role.OTHER if is_velocity_servo(model, actuator) else None


_OF_SENSOR = {
    int(mujoco.mjtSensor.mjSENS_JOINTPOS): Role.POSITION,
    int(mujoco.mjtSensor.mjSENS_JOINTVEL): Role.VELOCITY,
}


def joint_of_site(model: mujoco.MjModel, actuator: int) -> int:
    """The last joint that moves the site which an actuator acts on; -1 where there is none."""
    if int(model.actuator_trntype[actuator]) != int(mujoco.mjtTrn.mjTRN_SITE):
        return -1
    body = int(model.site_bodyid[model.actuator_trnid[actuator, 0]])
    moved = (b for b in bodies_above(model, body) if model.body_jntnum[b] > 0)
    return next((int(model.body_jntadr[b] + model.body_jntnum[b]) - 1 for b in moved), -1)


def _is_on_free(model: mujoco.MjModel, actuator: int) -> bool:
    """Return whether an actuator pushes a site of a free body."""
    joint = joint_of_site(model, actuator)
    return joint >= 0 and int(model.jnt_type[joint]) == FREE


def arms(model: mujoco.MjModel, actuator: int) -> dict[int, float]:
    """The joints that an actuator moves, with what it moves for each of their units."""
    joint = joint_of(model, actuator)
    if joint is not None:
        return {joint: 1.0}
    if int(model.actuator_trntype[actuator]) != int(mujoco.mjtTrn.mjTRN_TENDON):
        return {}
    return joints_of_tendon(model, int(model.actuator_trnid[actuator, 0]))


def _drives_one_joint(model: mujoco.MjModel, actuator: int) -> bool:
    joint = joint_of(model, actuator)
    return joint is not None and int(model.jnt_type[joint]) in SCALAR
