# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion that was designed: a reference to play, with what it promises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.design.rest_spline import RestSpline
from sysid_ros.excitation.design.torque_information import JointMotion


@dataclass(frozen=True)
class DesignedMotion:
    """A motion of n joints that starts and ends at rest in the same posture."""

    joints: tuple[str, ...]  # names
    start: FloatArray  # posture (n,) at both ends, rad or m
    spline: RestSpline  # the family of motions
    control: FloatArray  # control points (k, n) relative to the posture
    names: tuple[str, ...]  # of the p identifiable parameters
    nominal: FloatArray  # the model's values of them, (p,)
    standard_errors: FloatArray  # predicted, (p,)
    # condition number of the information's square root, columns scaled to length 1
    condition: float
    cost: float  # the criterion, see :mod:`.criterion`
    steps: int  # steps of the search
    told_by: str  # where the errors would come from
    information: FloatArray  # of one recording, (p, p), without what is known before it
    # standard errors (p,) of the fit that the motion was designed after
    errors_before: FloatArray | None = None

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.spline.duration

    @property
    def relative_errors(self) -> FloatArray:
        """Standard errors as shares of the model's values, infinite where these are zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.standard_errors / np.abs(self.nominal))

    @property
    def vaguest_first(self) -> list[int]:
        """Parameters by their relative errors, the largest first, those of value zero last."""
        shares = np.where(self.nominal == 0.0, -1.0, self.relative_errors)
        return [int(i) for i in np.argsort(-shares, kind="stable")]

    @property
    def knots(self) -> FloatArray:
        """Instants in s between which the motion is one polynomial."""
        return self.spline.knots

    @property
    def table(self) -> FloatArray:
        """Positions (m, n) at the knots, which say all of the motion."""
        return self.values(self.knots)

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""
        return np.asarray(self.start + self.spline.basis(times) @ self.control)

    def motion(self, times: FloatArray) -> JointMotion:
        """Positions, velocities and accelerations, each (m, n), at ``times`` (m,) in seconds."""
        velocity, acceleration = (self.spline.basis(times, k) @ self.control for k in (1, 2))
        return JointMotion(self.values(times), velocity, acceleration)
