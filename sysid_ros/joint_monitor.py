# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Watches measured joints against limits while a robot moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import ExcitationError


@dataclass(frozen=True)
class MotionLimits:
    """Limits of each of ``n`` joints; infinities where there is no limit."""

    lower: FloatArray  # (n,) rad or m
    upper: FloatArray  # (n,) rad or m
    velocity: FloatArray  # (n,) rad/s or m/s, magnitude
    effort: FloatArray  # (n,) N m or N, magnitude

    def __post_init__(self) -> None:
        sizes = {len(self.lower), len(self.upper), len(self.velocity), len(self.effort)}
        if len(sizes) != 1:
            raise ExcitationError(f"limits are given for different numbers of joints: {sizes}")
        if not np.all(self.lower < self.upper):
            raise ExcitationError(f"lower limits {self.lower} are not below upper {self.upper}")
        if not (np.all(self.velocity > 0) and np.all(self.effort > 0)):
            raise ExcitationError("limits on velocity and effort must be positive")


class JointMonitor:
    """Watches measured joints while a motion plays and says why it must stop."""

    def __init__(self, joints: tuple[str, ...], limits: MotionLimits, *, timeout: float) -> None:
        """Watch ``joints`` against ``limits``.

        Args:
          joints: Names of the ``n`` joints, in the order of the limits.
          limits: What they may do.
          timeout: Seconds without joint states after which the motion must stop.
        """
        self._joints = joints
        self._limits = limits
        self._timeout = timeout
        self._last: float | None = None
        self._fault: str | None = None

    def observe(
        self, now: float, position: FloatArray, velocity: FloatArray, effort: FloatArray
    ) -> None:
        """Take one measurement, (n,) each; NaN where velocity or effort is not measured."""
        self._last = now
        limits = self._limits
        checks = (
            (np.isnan(position), position, limits.lower, "position", "which says nothing about"),
            (position < limits.lower, position, limits.lower, "position", "below"),
            (position > limits.upper, position, limits.upper, "position", "above"),
            (np.abs(velocity) > limits.velocity, velocity, limits.velocity, "velocity", "beyond"),
            (np.abs(effort) > limits.effort, effort, limits.effort, "effort", "beyond"),
        )
        for broken, value, limit, what, side in checks:
            if self._fault is None and np.any(broken):
                i = int(np.argmax(broken))
                self._fault = (
                    f"{what} of joint {self._joints[i]!r} is {value[i]:.4g}, "
                    f"{side} its limit {limit[i]:.4g}"
                )

    def fault(self, now: float) -> str | None:
        """Return the reason to stop the motion at ``now``, or ``None``."""
        if self._fault is None and self._last is None:
            return "no joint states have arrived"
        if self._fault is None and self._last is not None and now - self._last > self._timeout:
            return f"no joint states for {now - self._last:.2f} s"
        return self._fault

    def clear(self) -> None:
        """Forget faults; joint states must still be arriving."""
        self._fault = None
