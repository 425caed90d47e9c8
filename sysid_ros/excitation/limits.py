# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of joints, and of the commands for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.reference import ExcitationError

VELOCITY_RISE = 0.5  # s to the velocity limit, where no limit of acceleration is known
_EFFORT_RISE = 0.05  # s from no effort to the limit of effort


@dataclass(frozen=True)
class CommandLimits:
    """Limits of the commands of ``n`` joints; infinities where there is no limit."""

    lower: FloatArray  # (n,)
    upper: FloatArray  # (n,)
    rate: FloatArray  # (n,) per second, magnitude
    acceleration: FloatArray  # (n,) per second squared, magnitude


@dataclass(frozen=True, kw_only=True)
class MotionLimits:
    """Limits of the motion of ``n`` joints; infinities where there is no limit."""

    lower: FloatArray  # (n,) rad or m
    upper: FloatArray  # (n,) rad or m
    velocity: FloatArray  # (n,) rad/s or m/s, magnitude
    acceleration: FloatArray  # (n,) rad/s2 or m/s2, magnitude
    effort: FloatArray  # (n,) N m or N, magnitude

    def __post_init__(self) -> None:
        magnitudes = {name: getattr(self, name) for name in ("velocity", "acceleration", "effort")}
        sizes = {len(values) for values in (self.lower, self.upper, *magnitudes.values())}
        if len(sizes) != 1:
            raise ExcitationError(f"limits are given for different numbers of joints: {sizes}")
        if not np.all(self.lower < self.upper):
            raise ExcitationError(f"lower limits {self.lower} are not below upper {self.upper}")
        for name, values in magnitudes.items():
            if not np.all(values > 0):
                raise ExcitationError(f"limits on {name} must be positive, given {values.tolist()}")

    def of_positions(self) -> CommandLimits:
        """The limits of commands that are positions."""
        return CommandLimits(self.lower, self.upper, self.velocity, self.acceleration)

    def of_efforts(self) -> CommandLimits:
        """The limits of commands that are efforts; how they rise is bounded, too."""
        rise = np.full(len(self.effort), np.inf)
        return CommandLimits(-self.effort, self.effort, self.effort / _EFFORT_RISE, rise)
