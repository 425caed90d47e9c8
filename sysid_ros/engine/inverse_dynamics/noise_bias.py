# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimates without what noise of measured positions has added to them.

The regressor is made of measured motion, so that its noise adds its own second moment to R^T R and
pulls estimates towards zero (errors in variables). The moment is measured: noise as strong as the
positions' own is added once more, with either sign, through the same filters,

    E[R^T R + R^T R of noise] = (G(q + n) + G(q - n)) / 2,

which is what the noise that is there has done to the sums (simulation extrapolation; Cook &
Stefanski, Journal of the American Statistical Association 89, 1994). With M and m what it has added
to H = R^T W R and g = R^T W tau, and the prior's curvature P, an estimate x is off by

    d = (H - M + P)^-1 (m - M x)

(Fuller, Measurement Error Models, Wiley 1987). Where that is next to nothing beside the standard
errors of all parameters, it is told and left; otherwise M and m are measured with more noise, and
taken away, if that noise is white (of another only its size is known). Errors of the estimate grow
by (H - M + P)^-1 (H + P), by those of the mean of what was drawn, and by a share of d: the noise's
size is an estimate, too, and its higher orders are not in M.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.base_parameters import BaseParameters
from sysid_ros.engine.inverse_dynamics.estimate import Estimate
from sysid_ros.engine.inverse_dynamics.evidence import Evidence, equations, sums_by_condition
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import inverse_root, least_squares
from sysid_ros.engine.inverse_dynamics.program import solve
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.regressor import (
    Grams,
    Recording,
    Regressor,
    Stretch,
    coordinate_groups,
    delay_nodes,
    smooth,
)

_SEED = 20260101
_PIECE = 12.0  # reaches of the filters, that a piece of it is long
_GLANCE = 0.25  # of long stretches, that a first look takes
_DRAWS = 4  # of noise, where it matters
_ENOUGH = 15_000  # instants, that each of them takes at the most
_LOUD = 0.1  # of a standard error
_UNSURE = 0.2  # of what is taken away
_MOST = 0.6  # of the information in any direction, that noise may have added
_SEEN = 1e-9  # of the largest eigenvalue: directions that data tell of


@dataclass(frozen=True)
class NoiseEffect:
    """The part of normal equations of parameters and gains that noise of positions has added."""

    hessians: FloatArray  # M of every draw, (draws, k, k)
    gradients: FloatArray  # M of every draw, (draws, k)
    loud: bool  # whether it is to be taken away


class _Shift(NamedTuple):
    """The part of an estimate (k,) that is taken away."""

    hessian: FloatArray  # M, no more than a share of the data's
    score: FloatArray  # m - M x, mean of the draws
    bias: FloatArray
    spread: FloatArray  # (k, k), of the errors that the estimate had
    added: FloatArray  # (k, k), covariance


def noise_effect(
    regressor: Regressor,
    recordings: Sequence[Recording],
    evidence: Evidence,
    settings: Settings,
    free: FreeParameters,
    final: Estimate,
    gain_dofs: IndexArray,
) -> NoiseEffect:
    """Measure what noise of positions has done.

    Args:
      regressor: The robot's.
      recordings: What was measured.
      evidence: Its sums.
      settings: Form of the rows.
      free: The estimated parameters.
      final: The estimate from these sums.
      gain_dofs: Degrees of freedom whose gain is estimated.
    """

    def drawn(share: float, draws: int, loud: bool) -> NoiseEffect:
        moments = _moments(regressor, recordings, evidence, settings, share=share, draws=draws)
        return _effect(moments, free, final, gain_dofs, loud)

    glance = drawn(_GLANCE, 1, False)
    bias = noise_bias(final, glance)
    known = final.uncertainty.information > 0.5
    loud = np.abs(bias) > _LOUD * final.uncertainty.standard_errors
    white = all(one.white for one in evidence.filters.choices.values())
    seen = white and bool(np.any(loud & known & (bias != 0.0)))
    share = min(1.0, _ENOUGH / sum(len(one.times) for one in recordings))
    return drawn(share, _DRAWS, True) if seen else glance


def noise_bias(final: Estimate, effect: NoiseEffect) -> FloatArray:
    """The shift of each parameter and gain by noise of positions, (k,)."""
    return _shift_of(final, effect).bias


def without_noise(final: Estimate, effect: NoiseEffect, gain_dofs: IndexArray) -> Estimate:
    """The estimate that the sums without noise lead to.

    Args:
      final: That from all that is in the sums.
      effect: Of the noise.
      gain_dofs: Degrees of freedom whose gain is estimated.
    """
    x = final.solution.x
    shift = _shift_of(final, effect)
    system = final.equations
    solution = solve(
        system.hessians.sum(axis=0) - shift.hessian,
        system.gradients.sum(axis=0) - shift.score - shift.hessian @ x,
        final.prior,
        final.limits,
        x,
    )
    k = len(final.x)
    gains = final.gains.copy()
    gains[gain_dofs] = solution.x[k:]
    covariance = shift.spread @ final.uncertainty.covariance @ shift.spread.T + shift.added
    uncertainty = replace(final.uncertainty, covariance=covariance)
    return replace(final, x=solution.x[:k], gains=gains, solution=solution, uncertainty=uncertainty)


def base_without_noise(
    base: BaseParameters, final: Estimate, effect: NoiseEffect
) -> BaseParameters:
    """Base parameters that the sums without noise lead to.

    Args:
      base: From all that is in the sums.
      final: The estimate of all parameters from the same sums, with its gains.
      effect: Of the noise.
    """
    k, r = len(final.x), len(base.kept)
    both = np.append(base.kept, np.arange(k, len(final.solution.x)))
    data = final.equations.hessians.sum(axis=0)[np.ix_(both, both)]
    prior = np.diag(np.append(np.zeros(r), final.prior.precision[k:]))
    x = np.append(base.values, final.solution.x[k:])
    own = NoiseEffect(effect.hessians[:, both][:, :, both], effect.gradients[:, both], effect.loud)
    shift = _shift(data, prior, x, own, np.ones(len(both), dtype=np.bool_))
    whole = np.zeros((len(both), len(both)))
    known = np.where(np.isfinite(base.uncertainty.covariance), base.uncertainty.covariance, 0.0)
    whole[:r, :r] = known
    moved = (shift.spread @ whole @ shift.spread.T + shift.added)[:r, :r]
    covariance = np.where(np.isfinite(base.uncertainty.covariance), moved, np.inf)
    return replace(
        base,
        values=base.values - shift.bias[:r],
        uncertainty=replace(base.uncertainty, covariance=covariance),
    )


def _effect(
    moments: Sequence[Mapping[str, Grams]],
    free: FreeParameters,
    final: Estimate,
    gain_dofs: IndexArray,
    loud: bool,
) -> NoiseEffect:
    found = [
        equations(one, free, final.weights, final.gains, gain_dofs, final.x, together=True)
        for one in moments
    ]
    return NoiseEffect(
        np.stack([one.hessians[0] for one in found]),
        np.stack([one.gradients[0] for one in found]),
        loud,
    )


def _shift_of(final: Estimate, effect: NoiseEffect) -> _Shift:
    solution = final.solution
    _, curvature = final.prior.derivatives(solution.x)
    data = final.equations.hessians.sum(axis=0)
    return _shift(data, curvature, solution.x, effect, ~solution.at_bound)


def _shift(
    data: FloatArray, prior: FloatArray, x: FloatArray, effect: NoiseEffect, go: BoolArray
) -> _Shift:
    """The part to take away from the solution x of H x + P (x - ..) = g, where nothing holds it."""
    k, draws = len(x), len(effect.gradients)
    scores = effect.gradients - effect.hessians @ x
    added = _limited(effect.hessians.mean(axis=0), data)
    free = np.ix_(go, go)
    whole = (data + prior)[free]
    moved = np.zeros((draws, k))
    moved[:, go] = least_squares(whole - added[free], scores[:, go])
    bias = moved.mean(axis=0)
    spread = np.eye(k)
    spread[free] = least_squares(whole - added[free], whole).T
    strayed = (moved - bias) / np.sqrt(max(draws * (draws - 1), 1))
    covariance = strayed.T @ strayed + np.diag((_UNSURE * bias) ** 2)
    return _Shift(added, scores.mean(axis=0), bias, spread, covariance)


def _limited(noise: FloatArray, data: FloatArray) -> FloatArray:
    """The part of noise's moment that is no more than a share of the data's in any direction."""
    scale = inverse_root(np.diag(data))
    sizes, axes = np.linalg.eigh(data * np.outer(scale, scale))
    seen = sizes > _SEEN * sizes.max(initial=0.0)
    root = np.sqrt(sizes[seen])
    inner = (axes[:, seen] / root).T * scale
    parts, turns = np.linalg.eigh(inner @ noise @ inner.T)
    back = np.where(scale > 0.0, 1.0 / np.where(scale > 0.0, scale, 1.0), 0.0)
    outer = back[:, None] * (axes[:, seen] * root) @ turns
    return np.asarray((outer * np.clip(parts, -_MOST, _MOST)) @ outer.T)


def _moments(
    regressor: Regressor,
    recordings: Sequence[Recording],
    evidence: Evidence,
    settings: Settings,
    *,
    share: float,
    draws: int,
) -> list[dict[str, Grams]]:
    """Sums that noise of positions has added to those of the data, by condition; of one block.

    Args:
      regressor: The robot's.
      recordings: What was measured.
      evidence: Its sums, with cut-offs that were chosen from the data.
      settings: Form of the rows.
      share: Of a long stretch, that noise is added to.
      draws: Of noise.
    """
    length = _PIECE * evidence.filters.reach
    pieces = [p for s in evidence.stretches for p in s.pieces(length, share)]
    plain, found = _sums(regressor, recordings, pieces, evidence, settings), []
    for draw in range(draws):
        rng = np.random.default_rng(_SEED + draw)
        noises = [_noise(regressor, evidence, piece, rng) for piece in pieces]
        plus, minus = (
            _sums(
                regressor,
                recordings,
                [
                    replace(piece, qpos=piece.qpos + sign * noise)
                    for piece, noise in zip(pieces, noises, strict=True)
                ],
                evidence,
                settings,
            )
            for sign in (1.0, -1.0)
        )
        found.append(
            {
                condition: _moment(one, plus[condition], minus[condition], plain[condition])
                for condition, one in evidence.grams.items()
                if condition in plain
            }
        )
    return found


def _noise(
    regressor: Regressor, evidence: Evidence, stretch: Stretch, rng: np.random.Generator
) -> FloatArray:
    noise: FloatArray = np.zeros_like(stretch.qpos)
    choices, rate = evidence.filters.choices, 1.0 / stretch.step
    for group in coordinate_groups(regressor.model):
        # Noise of a rotation moves its quaternion in three of four directions; what is added along
        # the fourth is taken away when its length is made one.
        seen = len(group) - (len(group) > 1)
        size = np.sqrt(sum(choices[i].noise(rate) ** 2 for i in group) / seen)
        noise[:, group] = size * rng.standard_normal((len(noise), len(group)))
    return noise


def _sums(
    regressor: Regressor,
    recordings: Sequence[Recording],
    pieces: Sequence[Stretch],
    evidence: Evidence,
    settings: Settings,
) -> dict[str, Grams]:
    filters, (around, *_) = evidence.filters, [one.around for one in evidence.shifted.values()]
    shifts = around[:, None] + delay_nodes(filters, regressor)
    smoothed = [
        smooth(regressor.model, piece, filters, shifts)
        for piece in pieces
        if np.isfinite(piece.torque).any()  # what is held out
    ]
    kept = [one for one in smoothed if one is not None]
    if not kept:
        return {}
    blocks = [np.zeros(len(one.times), dtype=np.intp) for one in kept]
    found = sums_by_condition(regressor, recordings, kept, blocks, filters, settings, around)
    return {condition: one.at(evidence.delays[condition]) for condition, one in found.items()}


def _moment(one: Grams, plus: Grams, minus: Grams, plain: Grams) -> Grams:
    """The mean moment of a row, times the rows of the data."""
    rows, sampled = one.counts.sum(axis=0), np.maximum(plain.counts.sum(axis=0), 1)
    sums = tuple(
        (share * (0.5 * (a + b) - c)).sum(axis=0, keepdims=True)
        for share, a, b, c in zip(rows / sampled, plus.sums, minus.sums, plain.sums, strict=True)
    )
    return replace(one, sums=sums, counts=rows[None])
