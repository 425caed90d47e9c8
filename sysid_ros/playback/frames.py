# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The places of a robot's bodies, as frames of ROS."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray


@dataclass(frozen=True)
class Frame:
    """One body with respect to its parent."""

    parent: str  # the parent body's name; ``world`` at the root
    child: str  # the body's name
    position: FloatArray  # (3,) m
    quaternion: FloatArray  # (4,) w, x, y, z


def body_names(model: mujoco.MjModel) -> list[str]:
    """The bodies' names, by number; those without one are called ``body_<number>``."""
    names = [model.body(i).name or f"body_{i}" for i in range(model.nbody)]
    return ["world", *names[1:]]


def frames_of(model: mujoco.MjModel, qpos: FloatArray) -> tuple[Frame, ...]:
    """The frames of all bodies at a position, (nq,), parents first."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    names = body_names(model)
    found = []
    for body in range(1, model.nbody):
        parent = int(model.body_parentid[body])
        inverse, position, quaternion = np.empty(4), np.empty(3), np.empty(4)
        mujoco.mju_negQuat(inverse, data.xquat[parent])
        mujoco.mju_rotVecQuat(position, data.xpos[body] - data.xpos[parent], inverse)
        mujoco.mju_mulQuat(quaternion, inverse, data.xquat[body])
        found.append(Frame(names[parent], names[body], position, quaternion))
    return tuple(found)
