# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals, masses and factors of torque that measured torque contradicts, of a fit or before any.

Constants of motors, efficiencies of gears and scales of drives are often guessed. The robot's own
weight, where it is known, tells the factor of each torque beside a payload, friction and offsets.
Where the factor is taken for known instead, the payload has to make up for it, and its interval
knows nothing of that. What is told is a ratio: known masses that are wrong look the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.inverse_dynamics import (
    Evidence,
    FreeParameters,
    InverseDynamicsFit,
    Settings,
    Suspects,
    WrongMass,
    contradicting_joint,
    estimate,
    gather,
    one_thread,
    settled_estimate,
    with_settled_delays,
    wrong_masses,
)
from sysid_ros.engine.measured_torque.torque_problem import (
    TorqueProblem,
    regression_settings,
    torque_problem,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.uncertainty import student_quantile
from sysid_ros.errors import listed

_SPREAD = 0.5  # of factors beforehand
_KNOWN = 0.5  # of the moving mass, that has to be known for its weight to tell a factor
_OFF = 0.02  # by which a factor differs from one at the least
_SURE = 0.999  # level of the interval that excludes one
_DETERMINED = 0.9  # of a factor's variance beforehand, that data take away
_LEFT = 0.9  # of a joint's squared residual, that is left with its own factor


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
    """Signals and masses that measured torque contradicts.

    Attributes:
      odd: The signal that no robot explains; ``None`` without any.
      masses: Of the model; none beside an odd signal, for which others pay.
    """

    odd: OddTorque | None = None
    masses: tuple[WrongMass, ...] = ()

    @property
    def clauses(self) -> tuple[str, ...]:
        """The words for it, without full stops."""
        return (self.odd.clause,) if self.odd else tuple(one.clause for one in self.masses)


def contradictions(
    problem: TorqueProblem, evidence: Evidence, free: FreeParameters, x: FloatArray
) -> Contradictions:
    """Find what sums of recordings contradict; nothing where torque has factors that are estimated.

    Args:
      problem: What is fitted.
      evidence: Sums of its recordings.
      free: What is estimated.
      x: An estimate of it, (k,).
    """
    if problem.declared.gains:
        return Contradictions()
    found = contradicting_joint(evidence.grams, free, x)
    if found is not None and found.dof in problem.sources.known:
        return Contradictions(OddTorque(problem.sources.known[found.dof], found.left))
    model, suspects = problem.declared.model, Suspects.of(free)
    return Contradictions(None, wrong_masses(model, evidence.grams, free, suspects, x))


def found_contradictions(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: TorqueSettings,
    silent: Collection[int] = (),
) -> Contradictions:
    """The same before any fit.

    Args:
      models_sequences: As for :func:`~sysid_ros.engine.measured_torque.fit_torque.fit_torque`.
      params: Likewise.
      settings: Likewise.
      silent: Joints whose torque says nothing, by their numbers in the model.

    Raises:
      SysidError: Torque or positions are missing, or a parameter cannot be fitted in this way.
    """
    with one_thread():
        problem = torque_problem(models_sequences, params, {}).without(silent)
        own, declared = regression_settings(problem.declared, settings), problem.declared
        evidence = gather(problem.regressor, problem.recordings, own)
        free = declared.free(declared.params.as_vector())
        evidence = with_settled_delays(problem.regressor, problem.recordings, free, own, evidence)
        x = settled_estimate(problem.regressor.model, free, evidence, own)
        return contradictions(problem, evidence, free, x)


@dataclass(frozen=True)
class TorqueFactor:
    """The ratio of the torque that a signal shows to what there was, with a 95 % interval."""

    signal: str
    value: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """The signal with its factor."""
        return f"{self.signal!r} {self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


def contradicted_gains(
    problem: TorqueProblem,
    evidence: Evidence,
    fit: InverseDynamicsFit,
    settings: Settings,
) -> tuple[TorqueFactor, ...]:
    """Find signals of torque that are another multiple of the torque than was taken for known.

    Args:
      problem: What was fitted.
      evidence: Sums of its recordings.
      fit: What was found with the factors as they were given.
      settings: Of the regression.

    Returns:
      None where factors are estimated, or most of what moves is.
    """
    grams, known = evidence.grams, problem.sources.known
    rows = np.sum([one.counts.sum(axis=0) for one in grams.values()], axis=0)
    measured = np.unique(next(iter(grams.values())).dofs[rows > 0])
    dofs = np.array([dof for dof in measured if dof in known], dtype=np.intp)
    if settings.gains or not dofs.size or _known_share(problem, fit.free) < _KNOWN:
        return ()
    spread, model = np.full(len(dofs), _SPREAD), problem.declared.model
    found = estimate(model, fit.free, grams, settings, dofs, spread)
    k, uncertainty = len(fit.x), found.uncertainty
    before = _squares(evidence, fit.free, fit.x, np.ones(model.nv))
    after = _squares(evidence, fit.free, found.x, found.gains)
    usual, sure = (
        student_quantile(max(uncertainty.blocks - 1, 1), 0.5 + level / 2.0)
        for level in (0.95, _SURE)
    )
    factors = []
    for place, dof in enumerate(dofs.tolist(), k):
        value, error = float(found.gains[dof]), float(uncertainty.standard_errors[place])
        off = abs(value - 1.0) > max(_OFF, sure * error)
        told = uncertainty.information[place] > _DETERMINED
        if off and told and after[dof] < _LEFT * before[dof]:
            reach = usual * error
            factors.append(TorqueFactor(known[dof], value, value - reach, value + reach))
    return tuple(factors)


def contradicted_clause(factors: tuple[TorqueFactor, ...]) -> str:
    """The words for them, without a full stop."""
    told = listed([one.words for one in factors], 3)
    return (
        "the masses that are taken for known ask for another torque than was measured, which is "
        f"so many times theirs: {told}. What is estimated makes up for that, and its intervals "
        "do not know of it; free the gains of these signals, with a prior, or the masses"
    )


def _known_share(problem: TorqueProblem, free: FreeParameters) -> float:
    """The share of the moving mass of which nothing is estimated."""
    model, columns = problem.declared.model, free.columns
    open_ = np.any([np.any(one != 0.0, axis=1) for one in free.matrix.values()], axis=0)
    moving = [body for body in range(1, model.nbody) if model.body_weldid[body]]
    estimated = {body for body in columns.bodies if np.any(open_[columns.of_body(body)])}
    known = sum(float(model.body_mass[body]) for body in moving if body not in estimated)
    return known / max(sum(float(model.body_mass[body]) for body in moving), 1e-300)


def _squares(
    evidence: Evidence, free: FreeParameters, x: FloatArray, gains: FloatArray
) -> FloatArray:
    """Squared residuals of each degree of freedom, (nv,)."""
    found = np.zeros(len(gains))
    for condition, one in evidence.grams.items():
        left = one.squares(free.theta(x, condition), gains).sum(axis=0)
        found += np.bincount(one.dofs, left, len(gains))
    return found


def torque_doubts(
    problem: TorqueProblem, evidence: Evidence, fit: InverseDynamicsFit, settings: Settings
) -> tuple[str, ...]:
    """Clauses on what puts the torque that was fitted in question.

    Takes what :func:`contradicted_gains` takes. Masses come first, as a few explain what many
    factors would; where a factor explains more than any mass, those of all joints are told.
    """
    found = contradictions(problem, evidence, fit.free, fit.x)
    if found.odd is not None or (found.masses and all(one.body for one in found.masses)):
        return found.clauses
    factors = contradicted_gains(problem, evidence, fit, settings)
    return (contradicted_clause(factors),) if factors else found.clauses
