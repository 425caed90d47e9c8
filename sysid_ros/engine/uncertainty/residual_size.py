# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The size of a fit's residuals, and the number of independent samples they are worth.

Residuals that a missing effect leaves are correlated in time: a thousand samples of a slow error
say as little as a few. With the autocorrelation rho_k at lag k, n samples are worth
``n / (1 + 2 sum_k rho_k)`` (Kass et al. 1998, "Markov Chain Monte Carlo in Practice: A Roundtable
Discussion"), where the sum ends before the first pair of neighbours whose sum is negative (Geyer
1992, "Practical Markov Chain Monte Carlo").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import lagged_products


@dataclass(frozen=True)
class ResidualSize:
    """The residual of one signal at the optimum of a fit."""

    # root mean square in the signal's unit; under a robust loss that of the Gaussian residual with
    # the same cost
    rms: float
    samples: int  # how many
    effective: float  # how many independent ones they are worth, between 1 and ``samples``


def residual_sizes(problem: WindowedProblem, point: Point) -> dict[str, ResidualSize]:
    """The size of every signal's residual.

    Returns:
      Sizes by signal name; without signals that were simulated nowhere.

    Raises:
      StopRequestedError: The problem's rollouts were asked to stop.
    """
    series: dict[str, list[FloatArray]] = {}
    for window, residual in zip(problem.windows, problem.residuals(point), strict=True):
        counted = np.isfinite(window.sigma(problem.noise))
        for i, signal in enumerate(window.sequence.signals):
            chosen = residual[counted & (window.window.samples.signals == i)]
            if chosen.size:
                series.setdefault(signal.name, []).append(chosen)
    sizes = {}
    for name, parts in series.items():
        count, level = sum(part.size for part in parts), problem.noise[name]
        cost = sum(problem.loss.cost(part / level) for part in parts)
        rms = level * float(np.sqrt(2.0 * cost / count))
        sizes[name] = ResidualSize(rms, count, effective_samples(parts))
    added = {} if problem.added is None else problem.added.squares(point.theta)
    for name, (square, count) in added.items():
        sizes[name] = ResidualSize(float(np.sqrt(square / max(count, 1))), count, float(count))
    return sizes


def effective_samples(parts: Sequence[FloatArray]) -> float:
    """Count the independent samples that stretches of a residual are worth.

    Args:
      parts: Uninterrupted stretches at one rate each, (n_i,); those of a diverged simulation count
        as one sample.

    Returns:
      Between 1 and the number of samples.
    """
    count = sum(part.size for part in parts)
    if not all(np.isfinite(part).all() for part in parts):
        return 1.0
    longest = max(part.size for part in parts)
    sums = np.zeros(longest)
    for part in parts:
        sums[: part.size] += lagged_products(part, part.size)
    if sums[0] <= 0.0:
        return float(count)
    correlation = sums[1:] / sums[0]
    pairs = correlation[: correlation.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0.0)
    total = float(pairs[: ends[0] if ends.size else pairs.size].sum())
    return float(np.clip(count / (1.0 + 2.0 * total), 1.0, count))


def misfit(sizes: Mapping[str, ResidualSize], effective: Mapping[str, float]) -> float:
    """Twice the negative logarithm of the likelihood of Gaussian residuals, up to a constant.

    Args:
      sizes: Residuals by signal.
      effective: What each signal's samples are worth; the same for all fits that are compared.
    """
    return sum(
        float(effective[name] * np.log(size.rms**2)) if size.rms > 0.0 else -np.inf
        for name, size in sizes.items()
    )
