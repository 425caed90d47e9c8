# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""All that is known of a point, and residuals at a time step of zero from those at two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.simulation import BatchRollout, Candidate, RunJacobian, run_slices
from sysid_ros.engine.windows import WindowBatch, WindowGroup, error_in_shifts

Residuals = Iterator[tuple[WindowBatch, FloatArray]]
Jacobians = Iterator[tuple[WindowBatch, FloatArray, RunJacobian]]


@dataclass
class Visit:
    """All that is known of the latest point, so that a step that is taken is simulated once."""

    point: Point
    candidates: list[Candidate]  # of every group
    # of every group's batches, once they are simulated
    rollouts: list[list[BatchRollout]] | None = None
    derivatives: list[RunJacobian] | None = None  # of all batches, once they are known

    def is_at(self, point: Point) -> bool:
        """Return whether this is the point."""
        return self.point is point or (
            np.array_equal(self.point.theta, point.theta)
            and all(map(np.array_equal, self.point.starts, point.starts))
        )


def extrapolated_residuals(coarse: Residuals, finer: Residuals) -> Residuals:
    """Residuals at a time step of zero, as those at one and at half of it tell (Richardson 1911).

    Args:
      coarse: Batches with residuals, (m,).
      finer: Those of the same windows at half the time step, in whatever batches.
    """
    windows = (part for batch, residual in finer for part in batch.parts(residual))
    for batch, residual in coarse:
        other = np.concatenate([next(windows) for _ in batch.windows])
        yield batch, residual + _order(batch) * (other - residual)


def extrapolated_jacobians(coarse: Jacobians, finer: Jacobians) -> Jacobians:
    """The same of residuals with their derivatives."""
    windows = (
        (found.residual[own], found.jacobian[own])
        for batch, _, found in finer
        for own in run_slices(batch.samples)
    )
    for batch, starts, found in coarse:
        residual, jacobian = zip(*(next(windows) for _ in batch.windows), strict=True)
        order = _order(batch)
        yield (
            batch,
            starts,
            RunJacobian(
                found.residual + order * (np.concatenate(residual) - found.residual),
                _extrapolated(found.jacobian, np.concatenate(jacobian), order),
            ),
        )


def _extrapolated(coarse: FloatArray, finer: FloatArray, order: float) -> FloatArray:
    """``coarse + order * (finer - coarse)``, in the place of the second, which may be large."""
    finer -= coarse
    finer *= order
    finer += coarse
    return finer


def _order(batch: WindowBatch) -> float:
    return error_in_shifts(int(batch.model.opt.integrator))


def bytes_at_a_point(group: WindowGroup, parameters: int) -> int:
    """Size of the rollouts, residuals and Jacobians of a group."""
    model = group.batches[0].model
    per_step = 1 + model.nq + model.nv + model.na + model.nsensordata
    return sum(
        8 * int(b.steps.sum() * per_step + b.samples.sum() * (parameters + b.n_start + 1))
        for b in group.batches
    )
