# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction laws beyond viscous and dry, about which the equations of a fit are linearised.

A law is reached by way of those that it contains: viscous and dry friction first, which need no
start, then with the Stribeck terms, then with load. Each begins where the one before has ended and
explains the torque no worse. Load that is computed from an arm of which little is known would lead
its terms astray, and they all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import pseudo_inertia, theta_from_pseudo
from sysid_ros.engine.friction import MODELS, SHAPE
from sysid_ros.engine.inverse_dynamics import Evidence, Settings, estimate
from sysid_ros.engine.measured_torque.own_friction import end_if_asked
from sysid_ros.engine.measured_torque.rows import (
    Declared,
    TorqueProblem,
    about,
    gains_at,
    key_of,
    ten_of_theta,
    with_own_law,
)
from sysid_ros.engine.measured_torque.settled_sums import settled_sums
from sysid_ros.engine.measured_torque.torque_sums import values_at
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.regressor import LAW_KINDS, row_counts

_ROUNDS = 12  # of linearisation of each law
_HALVES = 4  # of a step, after which what it leads to counts as no better
_GAIN = 1.0  # of twice the log-likelihood, below which a round is the last


def with_settled_laws(
    problem: TorqueProblem, settings: Settings, should_stop: Callable[[], bool] | None = None
) -> tuple[TorqueProblem, FloatArray]:
    """The problem about the friction laws that explain it best, and the parameters there, (n,).

    Friction has the sign of the velocity, or if that explains torque better that of MuJoCo's own
    constraint, which is ahead of it: that of a simulated robot.

    Raises:
      StopRequestedError: ``should_stop``, which is asked before every round, asked for it.
    """
    declared, evidence = problem.declared, None
    if not declared.has_laws:
        return problem, declared.params.as_vector()
    at = declared.params.copy()
    for kinds in _chain(declared):
        params = _with_law(declared.params, kinds)
        part = replace(problem, declared=replace(declared, params=params, point=None, _known={}))
        start = np.concatenate([at[p.name].as_vector() for p in params.free()])
        values, evidence, left = _settled(part, settings, start, evidence, should_stop)
        params.update_from_vector(values)
        for p in params.values():
            at[p.name].value = p.value
    values = at.as_vector()
    own = with_own_law(problem, declared.compiled(values, declared.robots[0]))
    others, _, less = _settled(own, settings, values, evidence, should_stop)
    if less < left:
        problem, values = own, others
    return about(problem, values), values


def _chain(declared: Declared) -> list[set[str]]:
    """Kinds of parameters of laws, each set with all of the one before; the last has every one."""
    wanted = {key_of(p)[1] for p in declared.params.free() if _is_of_law(p)}
    found: list[set[str]] = [set()]
    for members in MODELS.values():
        own = wanted & set(members)
        if found[-1] < own < wanted:
            found.append(own)
    return [*found, wanted] if wanted else found


def _with_law(params: ParameterDict, kinds: Collection[str]) -> ParameterDict:
    """Parameters of which those of other kinds are frozen, where their terms vanish."""
    found = params.copy()
    for p in found.free():
        kind = key_of(p)[1]
        if _is_of_law(p) and kind not in kinds:
            p.value = p.value if kind in SHAPE else np.clip(0.0, *p.get_bounds())
            p.frozen = True
    return found


def _is_of_law(p: Parameter) -> bool:
    return key_of(p)[1] in LAW_KINDS


def _settled(
    problem: TorqueProblem,
    settings: Settings,
    values: FloatArray,
    evidence: Evidence | None,
    should_stop: Callable[[], bool] | None,
) -> tuple[FloatArray, Evidence | None, float]:
    """Values (n,) about which linearised equations explain torque best, the sums, and its misfit.

    Load and the two parameters of shape are taken from the estimate of the round before. A round
    that explains the torque worse than one before it is gone back on by half.
    """
    least, best, back = np.inf, values, 0
    for _ in range(_ROUNDS):
        end_if_asked(should_stop)
        problem = about(problem, values)
        declared = problem.declared
        sums = settled_sums(problem, settings, values, evidence)
        evidence, misfit = sums.evidence, _misfit(declared, sums.evidence, values)
        if misfit > least:
            back += 1
            if back > _HALVES:
                break
            values = _halfway(declared, values, best)
            continue
        gain, least, best, back = least - misfit, misfit, values, 0
        if gain < _GAIN:
            break
        found = estimate(declared.model, sums.free, evidence.grams, settings)
        values = values_at(declared, found.x, found.gains)[0]
    return best, evidence, least


def _halfway(declared: Declared, one: FloatArray, other: FloatArray) -> FloatArray:
    """The mean of two values (n,), of whole inertias in the ten columns that torque is linear in.

    What torque leaves open may differ between them; only there it stays without effect.
    """
    mean = 0.5 * (one + other)
    for p, own in declared.params.places():
        if p.name in declared.whole_bodies:
            ten = 0.5 * (ten_of_theta(one[own]) + ten_of_theta(other[own]))
            mean[own] = theta_from_pseudo(pseudo_inertia(ten))
    return mean


def _misfit(declared: Declared, evidence: Evidence, values: FloatArray) -> float:
    """The badness of laws about themselves, less for what noise makes more likely."""
    gains, grams = gains_at(declared, values), evidence.grams
    squares = sum(
        one.squares(declared.theta(values, condition), gains).sum(axis=0)
        for condition, one in grams.items()
    )
    counts = row_counts(grams)
    used = counts > 0
    return float(np.sum(counts[used] * np.log(np.maximum(squares[used] / counts[used], 1e-18))))
