# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bases that move on a level, and the speeds of wheels that roll while their base moves."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements.joints import FREE, HINGE, SLIDE, bodies_above, joints_above
from sysid_ros.engine.elements.surfaces import surface_points

_UPRIGHT = 0.1  # cosine of the angle between a wheel's axis and the vertical, at most
_ALONG = 0.999  # cosine from which an axis is the world's


@dataclass(frozen=True)
class RollingWheel:
    """A wheel on a floor, where its model begins."""

    radius: float  # m
    weights: FloatArray  # (6,) of its rate, for each of the base's linear and angular velocity


def planar_bases(model: mujoco.MjModel) -> list[tuple[int, dict[str, int]]]:
    """Bodies that all joints above them let slide and turn on a level, and these by their axes."""
    data, found = mujoco.MjData(model), []
    mujoco.mj_kinematics(model, data)
    for body in range(1, model.nbody):
        last = int(model.body_jntadr[body] + model.body_jntnum[body] - 1)
        if not model.body_jntnum[body] or model.jnt_type[last] != HINGE:
            continue
        chain = sorted(joints_above(model, body))
        if len(chain) == 3 and all(model.jnt_type[one] == SLIDE for one in chain[:2]):
            axes = {"xyz"[place]: one for one in chain for place in _along(data.xaxis[one])}
            if axes.keys() == {*"xyz"} and axes["z"] == last:
                found.append((body, axes))
    return found


def _along(axis: FloatArray) -> list[int]:
    """The place of the world's axis that a joint's is; none where it lies across."""
    return [place for place in range(3) if axis[place] > _ALONG]


def rolling_wheel(model: mujoco.MjModel, joint: int) -> RollingWheel | None:
    """Return how fast a wheel turns as its base moves, in the axes of the base.

    The velocity of the base at the point below the wheel's axis, along the wheel, is what the
    wheel's own surface takes back there.

    Returns:
      ``None`` where the joint is no hinge about a horizontal axis, or its body has no geometry.
    """
    body = int(model.jnt_bodyid[joint])
    gravity = np.asarray(model.opt.gravity)
    points = surface_points(model, body) - model.jnt_pos[joint]
    if int(model.jnt_type[joint]) != HINGE or not len(points) or not gravity.any():
        return None
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    own, up = np.asarray(model.jnt_axis[joint]), -gravity / np.linalg.norm(gravity)
    radius = float(np.linalg.norm(points - np.outer(points @ own, own), axis=1).max())
    axis, base = data.xaxis[joint], _base(model, body)
    if abs(axis @ up) > _UPRIGHT or radius < mujoco.mjMINVAL:
        return None
    forward = np.cross(axis, up) / np.linalg.norm(np.cross(axis, up))
    below = data.xanchor[joint] - radius * up - data.xpos[base]
    twist = np.stack([forward, np.cross(below, forward)]) / radius
    return RollingWheel(radius, np.asarray(twist @ data.xmat[base].reshape(3, 3)).ravel())


def _base(model: mujoco.MjModel, body: int) -> int:
    """The body that a wheel is on: what slides and turns on a level, or its tree's first.

    It is the world where that turns on it itself.
    """
    for base, _ in planar_bases(model):
        if base in bodies_above(model, body):
            return base
    root = int(model.body_rootid[body])
    first = int(model.body_jntadr[root])
    return root if first < 0 or int(model.jnt_type[first]) == FREE else 0
