# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Demands on a motion: limits of joints, torque, clearance; and the robot that is to move."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import places_in_qpos
from sysid_ros.excitation import ExcitationError, MotionLimits

# Of the limits of effort, what the model's torque may need; the rest is for what it does not know.
_TORQUE_SHARE = 0.85


@dataclass(frozen=True, kw_only=True)
class Demands:
    """Demands on a motion of n joints."""

    limits: MotionLimits  # of position, velocity, acceleration and effort
    jerk: FloatArray  # (n,) rad/s^3 or m/s^3, infinite where there is no limit
    clearance: float = 0.02  # m that geoms keep from each other
    # share of the robot's own limits of position (about their middle), velocity and acceleration
    # that ``limits`` are; the rest is for what servos do
    fill: float = 1.0

    def __post_init__(self) -> None:
        bounded = (self.limits.lower, self.limits.upper, self.limits.velocity)
        if not all(np.all(np.isfinite(values)) for values in bounded):
            raise ExcitationError(
                "a design needs finite limits of position and velocity for every joint; give them "
                "in joint_limits.yaml, the URDF or the parameter limits"
            )
        if not np.all(np.isfinite(self.limits.acceleration)):
            raise ExcitationError(
                "a design needs limits of acceleration for every joint (limits.acceleration, or "
                "max_acceleration in joint_limits.yaml): they decide how fast motion may turn"
            )
        if not np.all(self.jerk > 0.0):
            raise ExcitationError(f"jerk {self.jerk} must be positive")
        if not 0.0 < self.fill <= 1.0:
            raise ExcitationError(f"fill is {self.fill:g}; it must be above 0 and at most 1")
        if self.clearance < 0.0:
            raise ExcitationError(f"clearance is {self.clearance} m; it cannot be negative")

    @property
    def robot(self) -> MotionLimits:
        """The robot's own limits."""
        return filled(self.limits, 1.0 / self.fill)

    @property
    def effort(self) -> FloatArray:
        """Magnitudes (n,) that the model's torque may have."""
        return np.asarray(_TORQUE_SHARE * self.limits.effort)


@dataclass(frozen=True)
class MovingRobot:
    """A robot of which some joints are to move."""

    model: mujoco.MjModel  # compiled, with obstacles as geoms of its world body
    joints: tuple[str, ...]  # n hinges or slides that move; the others stand still
    demands: Demands  # what a motion must keep
    home: FloatArray  # posture of the whole model (nq,) at both ends

    @property
    def start(self) -> FloatArray:
        """The places of its joints at both ends, (n,)."""
        return np.asarray(self.home[places_in_qpos(self.model, self.joints)])


def filled(limits: MotionLimits, fill: float) -> MotionLimits:
    """A share of limits: of ranges about their middle, of velocities and accelerations."""
    middle, half = 0.5 * (limits.lower + limits.upper), 0.5 * (limits.upper - limits.lower)
    return MotionLimits(
        lower=middle - fill * half, upper=middle + fill * half, velocity=fill * limits.velocity,
        acceleration=fill * limits.acceleration, effort=limits.effort,
    )  # fmt: skip
