# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction laws beyond viscous and dry, about which the equations of a fit are linearised."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.inverse_dynamics import (
    Evidence,
    Settings,
    estimate,
    estimated_gains,
)
from sysid_ros.engine.measured_torque.declared_columns import Declared
from sysid_ros.engine.measured_torque.parameter_kinds import key_of
from sysid_ros.engine.measured_torque.settled_sums import settled_sums
from sysid_ros.engine.measured_torque.torque_problem import TorqueProblem, about, gains_at
from sysid_ros.engine.measured_torque.torque_sums import values_at
from sysid_ros.engine.regressor import LAW_KINDS

_ROUNDS = 10  # of linearisation
_SETTLED, _SMALL = 0.01, 0.02  # relative change of laws below which they have, and of what is small


def with_settled_laws(
    problem: TorqueProblem, settings: Settings
) -> tuple[TorqueProblem, FloatArray]:
    """The problem about the friction laws that explain it best, and the parameters there, (n,).

    Load and the two parameters of shape are taken from the estimate of the round before. A round
    that explains the torque worse than one before it is gone back on by half.
    """
    values = problem.declared.params.as_vector()
    if not problem.declared.has_laws:
        return problem, values
    least, best = np.inf, values
    for _ in range(_ROUNDS):
        problem = about(problem, values)
        declared = problem.declared
        sums = settled_sums(problem, settings, values)
        misfit = _misfit(declared, sums.evidence, values)
        if misfit > least:
            values = 0.5 * (values + best)
            continue
        least, best = misfit, values
        dofs, spread = estimated_gains(declared.model, settings)
        found = estimate(declared.model, sums.free, sums.evidence.grams, settings, dofs, spread)
        before, values = values, values_at(declared, found.x, found.gains)[0]
        change = np.abs(values - before) / np.maximum(np.abs(before), _SMALL)
        if change[_of_laws(declared)].max(initial=0.0) < _SETTLED:
            return about(problem, values), values
    return about(problem, best), best


def _misfit(declared: Declared, evidence: Evidence, values: FloatArray) -> float:
    """The badness of laws about themselves, less for what noise makes more likely."""
    gains, grams = gains_at(declared, values), evidence.grams
    squares = sum(
        one.squares(declared.theta(values, condition), gains).sum(axis=0)
        for condition, one in grams.items()
    )
    counts = sum(one.counts.sum(axis=0) for one in grams.values())
    used = counts > 0
    return float(np.sum(counts[used] * np.log(np.maximum(squares[used] / counts[used], 1e-18))))


def _of_laws(declared: Declared) -> BoolArray:
    """The free scalars that belong to friction laws, (n,)."""
    return np.concatenate(
        [np.full(p.size, key_of(p)[1] in LAW_KINDS) for p in declared.params.free()]
    )
