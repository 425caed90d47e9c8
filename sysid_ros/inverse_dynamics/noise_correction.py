# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What noise of measured positions does to the normal equations.

The regressor is made of measured motion, so that its noise adds its own second moment to R^T R and
pulls estimates towards zero (errors in variables). The moment is measured: noise as strong as the
positions' own is added once more, with either sign, through the same filters,

    E[R^T R + R^T R of noise] = (G(q + n) + G(q - n)) / 2,

and the difference from G(q) is taken away (simulation extrapolation to zero noise; Cook &
Stefanski, Journal of the American Statistical Association 89, 1994, for one replicate and a
quadratic law).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sysid_ros.inverse_dynamics.evidence import Evidence, sums_by_condition
from sysid_ros.inverse_dynamics.filtering import coordinate_groups, smooth
from sysid_ros.inverse_dynamics.gram import Grams
from sysid_ros.inverse_dynamics.recording import Recording, Stretch
from sysid_ros.inverse_dynamics.regressor import Regressor

FloatArray = npt.NDArray[np.float64]

_SEED = 20260101


def noise_moments(
    regressor: Regressor,
    recordings: Sequence[Recording],
    evidence: Evidence,
    momentum: bool,
) -> dict[str, Grams]:
    """Sums that the noise of positions has added to those of the data, by condition.

    Args:
      regressor: The robot's.
      recordings: What was measured.
      evidence: Its sums, with cut-offs that were chosen from the data.
      momentum: Whether rows are in momentum form.
    """
    rng = np.random.default_rng(_SEED)
    noises = [_noise(regressor, evidence, stretch, rng) for stretch in evidence.stretches]
    sums = []
    for sign in (1.0, -1.0):
        smoothed = []
        for stretch, noise, plain in zip(evidence.stretches, noises, evidence.smooth, strict=True):
            louder = smooth(
                regressor.model, replace(stretch, qpos=stretch.qpos + sign * noise), evidence.filters
            )
            smoothed.append(plain if louder is None else louder)
        sums.append(
            sums_by_condition(
                regressor, recordings, smoothed, evidence.blocks, evidence.filters, momentum
            )
        )
    return {c: _difference(sums[0][c], sums[1][c], plain) for c, plain in evidence.grams.items()}


def without_noise(grams: Mapping[str, Grams], moments: Mapping[str, Grams]) -> dict[str, Grams]:
    """The sums less what noise has added."""
    return {
        c: replace(one, sums=tuple(a - b for a, b in zip(one.sums, moments[c].sums, strict=True)))
        for c, one in grams.items()
    }


def _noise(
    regressor: Regressor, evidence: Evidence, stretch: Stretch, rng: np.random.Generator
) -> FloatArray:
    noise: FloatArray = np.zeros_like(stretch.qpos)
    for group in coordinate_groups(regressor.model):
        for i in group:
            if i in evidence.filters.choices:
                size = evidence.filters.choices[i].noise(1.0 / stretch.step)
                noise[:, i] = size * rng.standard_normal(len(noise))
    return noise


def _difference(plus: Grams, minus: Grams, plain: Grams) -> Grams:
    parts = zip(plus.sums, minus.sums, plain.sums, strict=True)
    return replace(plain, sums=tuple(0.5 * (a + b) - c for a, b, c in parts))
