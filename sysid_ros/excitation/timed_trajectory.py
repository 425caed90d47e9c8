# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion as a controller is given it whole: points in time, and the curve through them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.path import ExcitationPath

_DIFFERENCE = 1e-4  # s, from which velocities and accelerations of a path are taken


@dataclass(frozen=True)
class TimedTrajectory:
    """Points of ``n`` joints, which a joint_trajectory_controller joins by quintic polynomials."""

    joints: tuple[str, ...]
    times: FloatArray  # (m,) s, increasing
    positions: FloatArray  # (m, n) rad or m
    velocities: FloatArray  # (m, n) per second
    accelerations: FloatArray  # (m, n) per second squared

    @property
    def rest(self) -> FloatArray:
        """Positions (n,) at its beginning."""
        return np.asarray(self.positions[0])

    @property
    def duration(self) -> float:
        """Time of its last point, s."""
        return float(self.times[-1])

    def commands(self, times: FloatArray) -> FloatArray:
        """Positions (m, n) at ``times`` (m,) in seconds; it stays at its ends."""
        return np.asarray(self._curves[0](np.clip(times, self.times[0], self.times[-1])))

    def states(self, times: FloatArray) -> FloatArray:
        """Positions, velocities and accelerations (3, m, n) at ``times`` (m,) in seconds."""
        inside = (times >= self.times[0]) & (times <= self.times[-1])
        clipped = np.clip(times, self.times[0], self.times[-1])
        moving = inside[:, None]
        return np.array(
            [
                self._curves[0](clipped),
                np.where(moving, self._curves[1](clipped), 0.0),
                np.where(moving, self._curves[2](clipped), 0.0),
            ]
        )

    @cached_property
    def _curves(self) -> tuple[scipy.interpolate.PPoly, ...]:
        curve = scipy.interpolate.PPoly(self._coefficients(), self.times)
        return curve, curve.derivative(), curve.derivative(2)

    def _coefficients(self) -> FloatArray:
        """Of the quintics (6, m - 1, n) with position, velocity and acceleration of both ends."""
        h = np.diff(self.times)[:, None]
        way = np.diff(self.positions, axis=0)
        v0, v1 = self.velocities[:-1] * h, self.velocities[1:] * h
        a0, a1 = self.accelerations[:-1] * h**2, self.accelerations[1:] * h**2
        scaled = (
            6.0 * way - 3.0 * (v0 + v1) - 0.5 * (a0 - a1),
            -15.0 * way + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
            10.0 * way - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
            0.5 * a0,
            v0,
        )
        powers = [row / h ** (5 - i) for i, row in enumerate(scaled)]
        return np.array([*powers, self.positions[:-1]])


def timed_path(path: ExcitationPath, period: float) -> TimedTrajectory:
    """A whole path, from rest to rest, with a point every ``period`` seconds."""
    times = np.append(np.arange(0.0, path.duration - 0.5 * period, period), path.duration)
    before, here, after = (path.commands(times + shift * _DIFFERENCE) for shift in (-1, 0, 1))
    velocities = (after - before) / (2.0 * _DIFFERENCE)
    accelerations = (after - 2.0 * here + before) / _DIFFERENCE**2
    velocities[[0, -1]] = accelerations[[0, -1]] = 0.0
    return TimedTrajectory(path.joints, times, here, velocities, accelerations)


def b_spline(commands: FloatArray, period: float) -> FloatArray:
    """States (3, m, n) of the cubic B-spline of control points (m, n), ``period`` s apart.

    Its acceleration runs straight from one second difference of the commands to the next, so it
    keeps the limits that they keep. The first and last commands stay where they are, at rest.
    """
    states: FloatArray = np.zeros((3, *commands.shape))
    turns = np.diff(commands, n=2, axis=0)
    states[0] = commands
    states[0, 1:-1] += turns / 6.0
    states[1, 1:-1] = (commands[2:] - commands[:-2]) / (2.0 * period)
    states[2, 1:-1] = turns / period**2
    return states
