# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals, masses and factors of torque that measured torque contradicts, of a fit or before any.

Constants of motors, efficiencies of gears and scales of drives are often guessed. The robot's own
weight, where it is known, tells the factor of each torque beside a payload, friction and offsets.
Where the factor is taken for known instead, the payload has to make up for it, and its interval
knows nothing of that. What is told is a ratio: known masses that are wrong look the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.inverse_dynamics import (
    Evidence,
    FreeParameters,
    Settings,
    Suspects,
    WrongMass,
    changed_load,
    clauses_of,
    contradicting_joint,
    doubtful_estimate,
    gather,
    one_thread,
    settled_estimate,
    with_settled_delays,
    wrong_masses,
)
from sysid_ros.engine.measured_torque.rows import TorqueProblem, regression_settings
from sysid_ros.engine.measured_torque.smoothed_torque import SmoothedTorque, smoothed_torque
from sysid_ros.engine.uncertainty import ChangedLoad


@dataclass(frozen=True)
class OddTorque:
    """A signal of torque, and which share of the others' error is left without it."""

    signal: str
    left: float

    @property
    def clause(self) -> str:
        """The words for it, without a full stop."""
        return (
            f"no robot has the torque of {self.signal!r} beside that of the other joints, whose "
            f"error is {100 * (1 - self.left):.0f} % smaller without it; leave it out"
        )


@dataclass(frozen=True)
class Contradictions:
    """Signals and masses that measured torque contradicts."""

    smoothed: SmoothedTorque | None = None  # what passed a low-pass; ``None`` where nothing did
    # the signal that no robot explains; ``None`` without any, and behind a low-pass
    odd: OddTorque | None = None
    # what is carried in a part of a recording only; ``None`` where nothing is, and beside an odd
    # signal, for which others pay
    load: ChangedLoad | None = None
    # of the model; none beside an odd signal or a load that changes
    masses: tuple[WrongMass, ...] = ()

    @property
    def clauses(self) -> tuple[str, ...]:
        """The words for it, without full stops."""
        one = self.smoothed or self.odd or self.load
        return (one.clause,) if one else clauses_of(self.masses)


def contradictions(
    problem: TorqueProblem,
    evidence: Evidence,
    free: FreeParameters,
    x: FloatArray,
    gains: FloatArray,
    settings: Settings,
) -> Contradictions:
    """Find what sums of recordings contradict; no mass where factors of torque are estimated.

    Args:
      problem: What is fitted.
      evidence: Sums of its recordings.
      free: What is estimated.
      x: An estimate of it, (k,).
      gains: Of factors of measured torque, (nv,).
      settings: With which recordings are summed.
    """
    own = {one.dof: float(gains[one.dof]) for one in problem.declared.gains.values()}
    known, first = problem.sources.known, evidence
    if not own:  # a low-pass of all makes one of them odd, and no odd one makes a low-pass of all
        if any(np.any(one.around) for one in evidence.shifted.values()):
            first = gather(problem.regressor, problem.recordings, settings)
        if smoothed := smoothed_torque(evidence, first, free, x, known):
            return Contradictions(smoothed=smoothed)
    found = contradicting_joint(evidence.grams, free, x, own)
    if found is not None and found.dof in known:
        return Contradictions(odd=OddTorque(known[found.dof], found.left))
    if own:  # a mass of the model and a factor of torque are told by the same
        return Contradictions()
    model = problem.declared.model
    load = changed_load(model, problem.recordings, evidence, free, x)
    if load is not None:
        return Contradictions(load=load)
    return Contradictions(masses=wrong_masses(model, evidence.grams, free, Suspects.of(free), x))


def found_contradictions(problem: TorqueProblem, settings: TorqueSettings) -> Contradictions:
    """The same before any fit.

    Args:
      problem: What would be fitted.
      settings: As for :func:`~sysid_ros.engine.measured_torque.fit_torque.fit_torque`.

    Raises:
      SysidError: No stretch without a gap is long enough.
    """
    with one_thread():
        own, declared = regression_settings(problem.declared, settings), problem.declared
        evidence = gather(problem.regressor, problem.recordings, own)
        free = declared.free(declared.params.as_vector())
        evidence = with_settled_delays(problem.regressor, problem.recordings, free, own, evidence)
        model, gains = problem.regressor.model, np.ones(problem.regressor.model.nv)
        if declared.gains:
            found = doubtful_estimate(model, free, own, evidence)
            return contradictions(problem, evidence, free, found.x, found.gains, own)
        x = settled_estimate(model, free, evidence, own)
        return contradictions(problem, evidence, free, x, gains, own)
