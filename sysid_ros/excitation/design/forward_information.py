# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The information that a fit by simulation gets out of a motion under the robot's own servos."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import eliminate_starts
from sysid_ros.excitation.design.planned_recording import PlannedRecording, Response
from sysid_ros.excitation.design.rest_spline import MotionFamily


class ForwardInformation:
    """Information of recordings of motions with control points c (k, n) about a posture.

    It is the Gauss-Newton matrix of the fit's own windows, starts eliminated, by the derivatives
    that the fit uses.
    """

    def __init__(self, planned: PlannedRecording, spline: MotionFamily, start: FloatArray) -> None:
        """Prepare what does not change from motion to motion about a posture (n,)."""
        self._planned, self._spline, self._start = planned, spline, start
        self._basis = spline.basis(planned.instants)

    def __call__(self, c: FloatArray) -> FloatArray:
        """The information (p, p) of a recording of a motion, without priors."""
        sequences = self._planned.recorded(self._start + self._basis @ c)
        problem, point = self._planned.problem(sequences)
        system = eliminate_starts(problem.linearize(point))
        return np.asarray(system.window_hessians.sum(axis=0))

    def response(self, c: FloatArray) -> Response:
        """The effect of the parameters on a recording of a motion."""
        return self._planned.response(self._start + self._basis @ c)
