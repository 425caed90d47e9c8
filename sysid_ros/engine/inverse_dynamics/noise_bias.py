# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What noise of measured positions adds to the normal equations.

The regressor is made of measured motion, so that its noise adds its own second moment to R^T R and
pulls estimates towards zero (errors in variables). The moment is measured: noise as strong as the
positions' own is added once more, with either sign, through the same filters,

    E[R^T R + R^T R of noise] = (G(q + n) + G(q - n)) / 2,

which is what the noise that is there has done to the sums (simulation extrapolation; Cook &
Stefanski, Journal of the American Statistical Association 89, 1994).
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
_PIECE = 12.0  # reaches of the filters, that a piece of it is long


def noise_moments(
    regressor: Regressor,
    recordings: Sequence[Recording],
    evidence: Evidence,
    settings: Settings,
    *,
    share: float,
    draw: int = 0,
) -> dict[str, Grams]:
    """Sums that noise of positions has added to those of the data, by condition; of one block.

    Args:
      regressor: The robot's.
      recordings: What was measured.
      evidence: Its sums, with cut-offs that were chosen from the data.
      settings: Form of the rows.
      share: Of a long stretch, that noise is added to.
      draw: The number of the noise.
    """
    rng = np.random.default_rng(_SEED + draw)
    length = _PIECE * evidence.filters.reach
    pieces = [p for s in evidence.stretches for p in s.pieces(length, share)]
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
