# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One design problem: control points to motion, criterion, and linear bounds around it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.excitation.design.clearance import Clearance
from sysid_ros.excitation.design.criterion import CriterionName, criterion
from sysid_ros.excitation.design.demands import Demands
from sysid_ros.excitation.design.rest_spline import MotionFamily
from sysid_ros.excitation.design.torque_information import JointMotion, TorqueInformation

_NEAR = 0.05  # m beyond the clearance within which distances bound a step
_HALF = 0.5  # of a limit of torque, above which it bounds a step
_ROUNDING = 1e-6  # relative excess of a limit that is rounding


@dataclass(frozen=True)
class Goal:
    """The number that is to be small."""

    criterion: CriterionName  # one of ``CRITERIA``
    scale: FloatArray  # sizes (p,) in which errors of the parameters are counted
    interest: IndexArray | None  # which parameters count; all if None
    prior: FloatArray  # information (p, p) that is there already, of recordings or beliefs


class Worth(Protocol):
    """The information of recordings of motions c (k, n)."""

    def data(self, c: FloatArray) -> FloatArray:
        """Information (p, p)."""

    def slope(self, c: FloatArray, weight: FloatArray) -> FloatArray:
        """The slope (k, n) of tr(W data)."""


@dataclass(frozen=True)
class Linearization:
    """A design problem around a motion, in changes d (k n,) of its control points."""

    slope: FloatArray  # the criterion's gradient (k n,)
    matrix: scipy.sparse.csr_matrix  # rows G with G d <= room, sparse
    room: FloatArray  # right-hand sides


class DesignTask:
    """Motions of n joints as control points c (k, n) about a posture.

    Attributes:
      times: Instants (m,) in s at which torque and distance are looked at.
    """

    def __init__(
        self,
        spline: MotionFamily,
        information: TorqueInformation,
        clearance: Clearance,
        demands: Demands,
        goal: Goal,
        start: FloatArray,
        *,
        samples: int,
        share: float,
        worth: Worth | None = None,
    ) -> None:
        """Prepare what does not change from step to step.

        Args:
          spline: The family of motions.
          information: Of measured torque.
          clearance: Of geoms.
          demands: What motions must keep.
          goal: What is to be small.
          start: Posture (n,) at both ends.
          samples: Instants m at which torque and distance are looked at.
          share: How many samples of torque each instant stands for.
          worth: Of a recording, where it is not that of measured torque.
        """
        self.spline, self.information, self.clearance = spline, information, clearance
        self.demands, self.goal, self.start = demands, goal, start
        self._share, self._worth = share, worth
        self.times = (np.arange(samples) + 0.5) * spline.duration / samples
        self._basis = [spline.basis(self.times, order) for order in range(3)]
        self._bounded = spline.bounded()

    def valued(self, goal: Goal, worth: Worth) -> DesignTask:
        """The same demands on motions that are worth something else."""
        other = copy.copy(self)
        other.goal, other._worth = goal, worth
        return other

    def finer(self, factor: int) -> DesignTask:
        """The same problem, looked at ``factor`` times as many instants."""
        return DesignTask(
            self.spline, self.information, self.clearance, self.demands, self.goal, self.start,
            samples=factor * len(self.times), share=self._share / factor, worth=self._worth,
        )  # fmt: skip

    def motion(self, c: FloatArray) -> JointMotion:
        """The motion at the instants that are looked at, each (m, n)."""
        q, v, a = (basis @ c for basis in self._basis)
        return JointMotion(self.start + q, v, a)

    def cost(self, c: FloatArray) -> float:
        """The criterion."""
        return self._criterion(self.data(c))[0]

    def keeps(self, c: FloatArray) -> bool:
        """True if a motion meets all demands, those of torque and distance at the instants."""
        return self.share_used(c) <= 1.0 + _ROUNDING and self._apart(c) >= -_ROUNDING

    def share_used(self, c: FloatArray) -> float:
        """The largest share of a limit that a motion takes; above 1 where it exceeds one."""
        (lowest, highest), *peaks = self.spline.peaks(c)
        limits = self.demands.limits
        room_down, room_up = self.start - limits.lower, limits.upper - self.start
        magnitudes = (limits.velocity, limits.acceleration, self.demands.jerk)
        shares = [
            np.max(-lowest / np.maximum(room_down, 1e-12)),
            np.max(highest / np.maximum(room_up, 1e-12)),
            *(np.max(peak / limit) for peak, limit in zip(peaks, magnitudes, strict=True)),
        ]
        torque = np.abs(self.information.torque(self.motion(c)))
        return float(max(*shares, np.max(torque / self.demands.effort)))

    def linearized(self, c: FloatArray) -> Linearization:
        """The problem around a motion."""
        motion = self.motion(c)
        _, weight = self._criterion(self.data(c))
        if self._worth is None:
            slopes, torques = self.information.slopes(motion, weight, self._share)
            gradient = sum(b.T @ s for b, s in zip(self._basis, slopes, strict=True))
        else:
            gradient = self._worth.slope(c, weight)
            torque, effort = self.information.torque(motion), self.demands.effort
            near = np.any(np.abs(torque) > _HALF * effort, axis=1)
            torques = self.information.torque_slopes(motion, np.asarray(near))
        rows, room = zip(
            *self._joint_rows(c), *self._torque_rows(motion, torques), *self._distance_rows(motion),
            strict=True,
        )  # fmt: skip
        stacked = scipy.sparse.vstack(rows, format="csr")
        return Linearization(np.ravel(gradient), stacked, np.concatenate(room))

    def data(self, c: FloatArray) -> FloatArray:
        """Information (p, p) of a recording of the motion."""
        if self._worth is not None:
            return self._worth.data(c)
        return self.information.information(self.motion(c), self._share)

    def _criterion(self, data: FloatArray) -> tuple[float, FloatArray]:
        goal = self.goal
        return criterion(goal.criterion, goal.prior + data, goal.scale, goal.interest)

    def _apart(self, c: FloatArray) -> float:
        near = self.clearance.near(self.motion(c).position, 0.0)
        return float(near.distance.min(initial=np.inf)) - self.clearance.least

    def _joint_rows(self, c: FloatArray):  # type: ignore[no-untyped-def]
        limits = self.demands.limits
        position, velocity, acceleration, jerk = self._bounded
        ranges = (
            (position, limits.lower - self.start, limits.upper - self.start),
            (velocity, -limits.velocity, limits.velocity),
            (acceleration, -limits.acceleration, limits.acceleration),
            (jerk, -self.demands.jerk, self.demands.jerk),
        )
        eye = scipy.sparse.identity(len(self.start), format="csr")
        for basis, lower, upper in ranges:
            now = basis @ c
            matrix = scipy.sparse.kron(scipy.sparse.csr_matrix(basis), eye, format="csr")
            for sign, bound in ((1.0, upper), (-1.0, -lower)):
                room = np.ravel(bound - sign * now)
                finite = np.isfinite(room)
                yield sign * matrix[finite], np.maximum(room[finite], 0.0)

    def _torque_rows(self, motion: JointMotion, slopes: tuple[FloatArray, ...]):  # type: ignore[no-untyped-def]
        torque, effort = self.information.torque(motion), self.demands.effort
        for joint in range(len(self.start)):
            if not np.isfinite(effort[joint]):
                continue
            near = np.abs(torque[:, joint]) > _HALF * effort[joint]
            matrix = self._chained([slope[near, joint] for slope in slopes], near)
            for sign in (1.0, -1.0):
                yield sign * matrix, np.maximum(effort[joint] - sign * torque[near, joint], 0.0)

    def _distance_rows(self, motion: JointMotion):  # type: ignore[no-untyped-def]
        near = self.clearance.near(motion.position, _NEAR)
        matrix = self._chained([near.slope], near.sample)
        yield -matrix, np.maximum(near.distance - self.clearance.least, 0.0)

    def _chained(self, slopes: list[FloatArray], samples: np.ndarray) -> scipy.sparse.csr_matrix:
        """Rows in the control points from slopes (r, n) in position, velocity, acceleration."""
        dense = np.zeros((len(slopes[0]), self.spline.free, len(self.start)))
        for basis, slope in zip(self._basis, slopes, strict=False):
            dense += basis[samples][:, :, None] * slope[:, None, :]
        return scipy.sparse.csr_matrix(
            dense.reshape(len(dense), self.spline.free * len(self.start))
        )
