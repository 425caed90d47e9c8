# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cubic splines that begin and end at rest, and what bounds them at all times.

A cubic spline has a piecewise constant jerk and a piecewise linear acceleration, so that bounds on
both at the knots hold in between; a controller that interpolates position, velocity and
acceleration with quintics (as joint_trajectory_controller does) follows it exactly from knot to
knot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray

_DEGREE = 3
_HELD = 3  # control points at each end that are the posture there: no velocity, no acceleration
_PER_PIECE = 6  # parts of a piece on which position and velocity are bounded


class MotionFamily(Protocol):
    """Motions of one joint, linear in k coefficients: ``posture + B(t) c``."""

    @property
    def duration(self) -> float:
        """Length in s."""

    @property
    def free(self) -> int:
        """The number k of coefficients."""

    def basis(self, times: FloatArray, derivative: int = 0) -> FloatArray:
        """B (m, k), or its derivative with respect to time, at ``times`` (m,) in s."""

    def bounded(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Rows (., k) whose products with c bound position, velocity, acceleration and jerk."""

    def peaks(self, c: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(2, n) extremes of position relative to rest, then peaks (n,) of its derivatives."""


@dataclass(frozen=True)
class RestSpline:
    """A family of motions of one joint: ``posture + B(t) c`` with free control points c (k,)."""

    duration: float  # s
    intervals: int  # number of polynomial pieces, all equally long

    @property
    def free(self) -> int:
        """The number k of control points that can be chosen."""
        return self.intervals + _DEGREE - 2 * _HELD

    @property
    def knots(self) -> FloatArray:
        """Instants (intervals + 1,) in s at which pieces meet, ends included."""
        return np.linspace(0.0, self.duration, self.intervals + 1)

    def basis(self, times: FloatArray, derivative: int = 0) -> FloatArray:
        """B (m, k), or its derivative with respect to time, at ``times`` (m,) in s."""
        ends = np.full(_DEGREE, self.duration)
        knots = np.concatenate((np.zeros(_DEGREE), self.knots, ends))
        spline = scipy.interpolate.BSpline(knots, np.eye(self.intervals + _DEGREE), _DEGREE)
        if derivative:
            spline = spline.derivative(derivative)
        values: FloatArray = spline(np.clip(times, 0.0, self.duration))
        return values[:, _HELD:-_HELD]

    def bounded(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Rows (., k) whose products with c bound position, velocity, acceleration and jerk.

        Position and velocity are bounded by their Bernstein coefficients on parts of the pieces,
        whose hull contains the curve (Farin, Curves and Surfaces for CAGD, 2002, section 4.3), so
        that limits that hold for all rows hold at all times.
        """
        knots = self.knots
        fine = np.linspace(0.0, self.duration, _PER_PIECE * self.intervals + 1)
        part = self.duration / (_PER_PIECE * self.intervals)
        q, v, a = (self.basis(fine, order) for order in range(3))
        position = np.concatenate((q, q[:-1] + part / 3.0 * v[:-1], q[1:] - part / 3.0 * v[1:]))
        velocity = np.concatenate((v, v[:-1] + 0.5 * part * a[:-1]))
        middles = 0.5 * (knots[1:] + knots[:-1])
        return position, velocity, self.basis(knots, 2), self.basis(middles, 3)

    def peaks(self, c: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Extremes over all time of n motions with control points c (k, n), relative to rest.

        Returns:
          (2, n) lowest and highest position, then the greatest magnitudes (n,) of velocity,
          acceleration and jerk.
        """
        knots, step = self.knots[:-1], self.duration / self.intervals
        q, v, a = (self.basis(knots, order) @ c for order in range(3))
        j = self.basis(knots + 0.5 * step, 3) @ c
        acceleration = np.abs(self.basis(self.knots, 2) @ c).max(axis=0)
        stands = -a / np.where(j == 0.0, 1.0, j)
        inside = (j != 0.0) & (stands > 0.0) & (stands < step)
        turning = np.where(inside, v + 0.5 * a * stands, 0.0)
        speed = np.maximum(np.abs(v).max(axis=0), np.abs(turning).max(axis=0))
        highest, lowest = q.max(axis=0), q.min(axis=0)
        for root in _roots(v, a, 0.5 * j):
            here = (root > 0.0) & (root < step)
            at = np.where(here, root, 0.0)
            value = q + at * (v + at * (0.5 * a + at * j / 6.0))
            highest = np.maximum(highest, value.max(axis=0))
            lowest = np.minimum(lowest, value.min(axis=0))
        return np.array([lowest, highest]), speed, acceleration, np.abs(j).max(axis=0)


def _roots(
    constant: FloatArray, linear: FloatArray, square: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The two real roots of quadratics, element by element; nan where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(linear**2 - 4.0 * square * constant)
        large = -0.5 * (linear + np.copysign(root, linear))
        return large / square, constant / large
