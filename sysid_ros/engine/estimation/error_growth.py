# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows longer than a simulation can follow: what balances, or moves chaotically.

There an error of a window's start grows exponentially until the simulation has nothing to do with
the recording any more, whatever the parameters are. The derivatives by the starts, which a fit has
anyway, say how fast. What drifts has errors that grow like a power of time, for a free body by the
third at most: those never grow tenfold twice in stretches of one length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.simulation import run_slices
from sysid_ros.engine.windows import WindowSimulation

STRETCHES = 64  # of a window, in which derivatives are pooled
LOST = 0.5  # of a signal's variation in a recording, that the residual is
ABOVE_NOISE = 3.0  # times as large as its differences from sample to sample, which noise makes


@dataclass(frozen=True)
class GrowingErrors:
    """The growth of errors along windows at whose ends nothing is left of the recording."""

    tenfold: float  # s in which an error of the start grows tenfold; the median of such signals
    length: float  # s of the longest window


def growing_errors(problem: WindowedProblem, point: Point) -> GrowingErrors | None:
    """The growth by which the simulation leaves the recordings; ``None`` where it does not.

    Raises:
      StopRequestedError: The problem's rollouts were asked to stop.
    """
    windows = problem.windows
    if not windows or not any(problem.start_sizes):
        return None
    length = max(window.window.steps * float(window.model.opt.timestep) for window in windows)
    lost = _lost(problem, point)
    if not lost:
        return None
    growth: dict[str, list[FloatArray]] = {name: [] for name in lost}
    for batch, _, found in problem.derivatives(point):
        for window, own in zip(batch.windows, run_slices(batch.samples), strict=True):
            by_start = found.jacobian[own, problem.lower.size :] * window.spread
            size = np.sqrt(np.einsum("ij,ij->i", by_start, by_start))
            for name, pooled in _pooled(window, size, length).items():
                if name in lost:
                    growth[name].append(pooled)
    times = np.array([tenfold(np.array(each)) for each in growth.values()])
    times = times[np.isfinite(times)]
    return GrowingErrors(float(np.median(times)) * length, length) if times.size else None


def tenfold(sizes: FloatArray) -> float:
    """The share of a window in which errors grow tenfold, and tenfold again after as long.

    Args:
      sizes: Of errors by window and stretch of it, (w, n); NaN where nothing is known.

    Returns:
      Infinity where they do not.
    """
    # Beyond 1e154 squares of derivatives overflow: nothing is known of what has grown so far.
    logs = np.log10(np.where((sizes > 0.0) & np.isfinite(sizes), sizes, np.nan))
    known = np.flatnonzero(np.isfinite(logs).any(axis=0))
    if known.size < 3:
        return np.inf
    stretches = int(logs.shape[1])
    size = np.interp(np.arange(stretches), known, np.nanmedian(logs[:, known], axis=0))
    for step in range(1, stretches // 2):
        rise = size[step:] - size[:-step]
        if np.any(np.minimum(rise[:-step], rise[step:]) >= 1.0):
            return step / stretches
    return np.inf


def _lost(problem: WindowedProblem, point: Point) -> set[str]:
    """The signals of which little is followed, and not for noise."""
    spreads, sums = problem.spreads, dict.fromkeys(problem.noise, (0.0, 0.0, 0))
    for window, residual in zip(problem.windows, problem.residuals(point), strict=True):
        for i, signal in enumerate(window.sequence.signals):
            own = residual[window.window.samples.signals == i]
            square, rough, count = sums[signal.name]
            square, rough = square + np.sum(own**2), rough + 0.5 * np.sum(np.diff(own) ** 2)
            sums[signal.name] = square, rough, count + own.size
    return {
        name
        for name, (square, rough, count) in sums.items()
        if count and not square <= max(count * (LOST * spreads[name]) ** 2, ABOVE_NOISE**2 * rough)
    }


def _pooled(window: WindowSimulation, values: FloatArray, length: float) -> dict[str, FloatArray]:
    """Root mean squares by signal and stretch, (stretches,); NaN where there are no samples."""
    samples = window.window.samples
    place = np.minimum((samples.times * (STRETCHES / length)).astype(np.intp), STRETCHES - 1)
    pooled = {}
    for i, signal in enumerate(window.sequence.signals):
        own = samples.signals == i
        counts = np.bincount(place[own], minlength=STRETCHES)
        sums = np.bincount(place[own], values[own] ** 2, STRETCHES)
        with np.errstate(invalid="ignore"):
            pooled[signal.name] = np.sqrt(sums / counts)
    return pooled
