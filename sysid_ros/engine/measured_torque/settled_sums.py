# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The sums of a problem's recordings, about the delays of torque that explain them best."""

from __future__ import annotations

from dataclasses import dataclass

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import (
    Evidence,
    FreeParameters,
    Settings,
    gather,
    summed_again,
    with_settled_delays,
)
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.measured_torque.rows import TorqueProblem
from sysid_ros.engine.measured_torque.torque_sums import linearised, still_joints
from sysid_ros.errors import DataError


@dataclass(frozen=True)
class SettledSums:
    """Sums of recordings."""

    evidence: Evidence  # the sums
    free: FreeParameters  # what is estimated from them
    still: tuple[int, ...]  # joints that do not move
    status: FitStatus = FitStatus.CONVERGED  # whether what is not linear in torque has settled


def settled_sums(
    problem: TorqueProblem, settings: Settings, values: FloatArray, before: Evidence | None = None
) -> SettledSums:
    """Sum recordings; what is not linear in torque stays linearised about values, (n,).

    Args:
      problem: The recordings.
      settings: Of the regression.
      values: Of the declared parameters.
      before: The same recordings with another law of friction, which saves filtering them.

    Raises:
      DataError: No torque is known, or stretches are too short.
    """
    robot, recordings, declared = problem.regressor, problem.recordings, problem.declared
    if before is None:
        evidence = gather(robot, recordings, settings)
    else:
        evidence = summed_again(robot, recordings, settings, before)
    if not any(one.counts.any() for one in evidence.grams.values()):
        raise DataError("no torque was measured, or none outside contacts and gaps")
    still = still_joints(declared, evidence.filters)
    free = declared.free(values, still)
    evidence = with_settled_delays(robot, recordings, free, settings, evidence)
    return SettledSums(evidence, free, tuple(still))


def linearised_sums(
    problem: TorqueProblem, settings: Settings, values: FloatArray, before: Evidence | None
) -> SettledSums:
    """Sum recordings; what is not linear in torque is linearised until it settles.

    Takes and raises what :func:`settled_sums` raises.
    """
    robot, recordings, declared = problem.regressor, problem.recordings, problem.declared
    sums = settled_sums(problem, settings, values, before)
    if not declared.curved:
        return sums
    still = sums.still
    values, status = linearised(declared, sums.evidence.grams, settings, still, values)
    free = declared.free(values, still)
    evidence = with_settled_delays(robot, recordings, free, settings, sums.evidence)
    return SettledSums(evidence, free, still, status)
