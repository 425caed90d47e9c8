# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The effect of noise of measured positions on the normal equations.

The regressor is made of measured motion, so that its noise adds its own second moment to R^T R and
pulls estimates towards zero (errors in variables). The moment is measured: noise as strong as the
positions' own is added once more, with either sign, through the same filters,

    E[R^T R + R^T R of noise] = (G(q + n) + G(q - n)) / 2,

and its effect on the estimates, to first order, is what the noise that is there has done to them
(simulation extrapolation; Cook & Stefanski, Journal of the American Statistical Association 89,
1994). It is named rather than taken away: the moment of one draw is itself uncertain, and the
filters leave a bias that is small beside the standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics.evidence import Evidence, sums_by_condition
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
_SHARE = 0.25  # of a long stretch
_PIECE = 12.0  # reaches of the filters, that a piece of it is long


def noise_moments(
    regressor: Regressor,
    recordings: Sequence[Recording],
    evidence: Evidence,
    settings: Settings,
) -> dict[str, Grams]:
    """Sums that noise of positions has added to those of the data, by condition; of one block.

    Args:
      regressor: The robot's.
      recordings: What was measured.
      evidence: Its sums, with cut-offs that were chosen from the data.
      settings: Form of the rows.
    """
    rng = np.random.default_rng(_SEED)
    length = _PIECE * evidence.filters.reach
    pieces = [p for s in evidence.stretches for p in s.pieces(length, _SHARE)]
    noises = [_noise(regressor, evidence, piece, rng) for piece in pieces]
    plus, minus, plain = (
        _sums(regressor, recordings, pieces, noises, sign, evidence, settings)
        for sign in (1.0, -1.0, 0.0)
    )
    return {
        condition: _moment(one, plus[condition], minus[condition], plain[condition])
        for condition, one in evidence.grams.items()
        if condition in plain
    }


def _noise(
    regressor: Regressor, evidence: Evidence, stretch: Stretch, rng: np.random.Generator
) -> FloatArray:
    noise: FloatArray = np.zeros_like(stretch.qpos)
    for group in coordinate_groups(regressor.model):
        for i in group:
            size = evidence.filters.choices[i].noise(1.0 / stretch.step)
            noise[:, i] = size * rng.standard_normal(len(noise))
    return noise


def _sums(
    regressor: Regressor,
    recordings: Sequence[Recording],
    pieces: Sequence[Stretch],
    noises: Sequence[FloatArray],
    sign: float,
    evidence: Evidence,
    settings: Settings,
) -> dict[str, Grams]:
    filters, (around, *_) = evidence.filters, [one.around for one in evidence.shifted.values()]
    shifts = around[:, None] + delay_nodes(filters, regressor)
    louder = [
        smooth(regressor.model, replace(piece, qpos=piece.qpos + sign * noise), filters, shifts)
        for piece, noise in zip(pieces, noises, strict=True)
        if np.isfinite(piece.torque).any()  # what is held out
    ]
    kept = [one for one in louder if one is not None]
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
