# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The contents of the residuals: their distribution, memory and frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import density, lagged_products
from sysid_ros.judgement.outcome import SequenceFit, SignalFit

_BINS = 41
_MAX_LAGS = 4000
_MAX_SEGMENT = 8192  # samples per segment of the spectrum
_POINTS = 200  # per curve


@dataclass(frozen=True)
class ResidualDiagnostics:
    """One signal's residual (measured minus fitted) over several sequences."""

    signal: str
    unit: str
    count: int
    mean: float
    std: float
    bin_edges: FloatArray  # (bins + 1,) in the signal's unit
    density: FloatArray  # (bins,) of the residual
    density_initial: FloatArray  # (bins,) with the initial parameters, what falls in these bins
    quantiles: FloatArray  # (m,) of a standard normal distribution
    residual_quantiles: FloatArray  # (m,) of the standardised residual
    lags: FloatArray  # (k,) s
    autocorrelation: FloatArray  # (k,)
    white_limit: float  # 95 % of a white residual's autocorrelation lies within +- this
    frequencies: FloatArray  # (f,) Hz
    spectrum: FloatArray  # (f,) power density, unit^2 / Hz


def residual_diagnostics(sequences: Sequence[SequenceFit]) -> list[ResidualDiagnostics]:
    """Diagnose every signal that occurs in ``sequences``.

    Args:
      sequences: Those whose residuals are pooled, usually the held-out ones.

    Returns:
      One entry per signal name that has at least eight residuals, in order of appearance.
    """
    by_name: dict[str, list[SignalFit]] = {}
    for sequence in sequences:
        for signal in sequence.signals:
            by_name.setdefault(signal.name, []).append(signal)
    entries = (_diagnose(signals) for signals in by_name.values())
    return [entry for entry in entries if entry is not None]


def _diagnose(signals: list[SignalFit]) -> ResidualDiagnostics | None:
    parts = [signal.measured - signal.fitted for signal in signals]
    pooled = _finite(np.concatenate(parts))
    if pooled.size < 8 or np.ptp(pooled) == 0.0:
        return None
    initial = _finite(np.concatenate([signal.measured - signal.initial for signal in signals]))
    limit = float(np.quantile(np.abs(pooled), 0.999))
    edges = np.linspace(-limit, limit, _BINS + 1)
    quantiles, ordered = _normal_plot(pooled)
    longest = max(range(len(parts)), key=lambda i: parts[i].size)
    times = signals[longest].times
    step = float(np.median(np.diff(times))) if times.size > 1 else 1.0
    lags, correlation = _autocorrelation(parts)
    frequencies, spectrum = _spectrum(parts[longest], step)
    return ResidualDiagnostics(
        signal=signals[0].name,
        unit=signals[0].unit,
        count=pooled.size,
        mean=float(pooled.mean()),
        std=float(pooled.std()),
        bin_edges=edges,
        density=_density(pooled, edges),
        density_initial=_density(initial, edges),
        quantiles=quantiles,
        residual_quantiles=ordered,
        lags=lags * step,
        autocorrelation=correlation,
        white_limit=1.96 / float(np.sqrt(pooled.size)),
        frequencies=frequencies,
        spectrum=spectrum,
    )


def _finite(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]


def _density(values: FloatArray, edges: FloatArray) -> FloatArray:
    """Share of ``values`` per unit; unlike numpy's, values outside the bins count too."""
    counts, _ = np.histogram(values, bins=edges)
    return counts / (max(values.size, 1) * np.diff(edges))


def _normal_plot(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standardised quantiles against those of a normal distribution."""
    levels = np.linspace(0.0, 1.0, 82)[1:-1]
    standardised = (np.quantile(values, levels) - values.mean()) / values.std()
    normal = NormalDist()
    return np.array([normal.inv_cdf(level) for level in levels]), standardised


def _autocorrelation(parts: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Lags in samples and the autocorrelation there, pairs with a missing value left out.

    By sums of products over FFTs of the residual and of its mask, so that gaps cost nothing and
    no pair spans two sequences.
    """
    longest = max(part.size for part in parts)
    count = min(_MAX_LAGS, max(longest // 4, 2))
    products = np.zeros(count)
    pairs = np.zeros(count)
    mean = float(np.nanmean(np.concatenate(parts)))
    for part in parts:
        known = np.isfinite(part)
        centred = np.where(known, part - mean, 0.0)
        products += lagged_products(centred, count)
        pairs += lagged_products(known.astype(np.float64), count)
    average = products / np.maximum(np.round(pairs), 1.0)
    chosen = np.unique(np.linspace(0, count - 1, _POINTS).astype(np.int64))
    return chosen.astype(np.float64), (average / average[0])[chosen]


def _spectrum(part: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Welch's power density of one sequence, gaps filled with the mean, averaged for drawing."""
    filled = np.where(np.isfinite(part), part, np.nanmean(part))
    length = min(filled.size, _MAX_SEGMENT)
    frequencies, power = density(filled, 1.0 / step, length)
    frequencies, power = frequencies[1:], power[1:]
    edges = np.geomspace(frequencies[0], frequencies[-1] * 1.0001, _POINTS + 1)
    starts = np.unique(np.searchsorted(frequencies, edges[:-1]))
    counts = np.diff(np.append(starts, frequencies.size))
    return (np.add.reduceat(frequencies, starts) / counts, np.add.reduceat(power, starts) / counts)
