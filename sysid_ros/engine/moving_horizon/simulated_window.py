# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A window of the horizon with its Gauss-Newton model where it was simulated last."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import (
    Linearization,
    Point,
    eliminate_starts,
    loss_named,
    start_solutions,
)
from sysid_ros.engine.moving_horizon.arrival_cost import Share
from sysid_ros.engine.moving_horizon.growing_windows import Cut
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.simulation import CandidateBuilder, RolloutPool
from sysid_ros.engine.uncertainty import block_numbers, first_noise
from sysid_ros.engine.windows import WindowGroup, WindowSimulation


@dataclass(frozen=True)
class SimulatedWindow:
    """One window at the point where it was simulated.

    The sums are kept signal by signal, so that noise levels can change without a simulation.
    """

    window: WindowSimulation
    end: float  # its last instant, s
    theta: FloatArray  # the parameters, (p,)
    start: FloatArray  # the deviation of its start, (n_start,)
    # by block of time and signal ``A^T A`` with ``A = [J_theta J_start r]`` in the signal's unit,
    # (blocks, k, n, n)
    parts: FloatArray
    counts: FloatArray  # samples of each signal, (k,)
    residuals: FloatArray  # simulated less measured of every sample, in the signal's unit, (m,)
    _shares: dict[tuple[float, ...], Share] = field(default_factory=dict, repr=False)

    @functools.cached_property
    def grams(self) -> FloatArray:
        """The parts of all blocks together, (k, n, n)."""
        return np.asarray(self.parts.sum(axis=0))

    @property
    def begin(self) -> float:
        """Its first instant, s."""
        return self.window.window.start

    @property
    def names(self) -> list[str]:
        """The signals."""
        return [signal.name for signal in self.window.sequence.signals]

    def gram(self, noise: Mapping[str, float]) -> FloatArray:
        """The sum over signals in units of noise, the start's prior included, (n, n)."""
        weights = np.array([noise[name] ** -2 for name in self.names])
        total: FloatArray = np.einsum("k,kij->ij", weights, self.grams)
        own = np.arange(self.theta.size, total.shape[0] - 1)
        precision = self.window.spread**-2
        total[own, own] += precision
        total[own, -1] += precision * self.start
        total[-1, own] = total[own, -1]
        return total

    def share(self, noise: Mapping[str, float]) -> Share:
        """Its information, the start eliminated; kept until a noise level changes."""
        levels = tuple(noise[name] for name in self.names)
        if levels not in self._shares:
            self._shares.clear()
            self._shares[levels] = self._share(noise)
        return self._shares[levels]

    def _share(self, noise: Mapping[str, float]) -> Share:
        p, gram = self.theta.size, self.gram(noise)
        reduced = eliminate_starts(Linearization(0.0, (gram,), np.zeros((p + 1, p + 1))))
        (solved,) = start_solutions([gram], p, 0.0)
        best = np.concatenate([np.zeros(p), -solved[:, p], [1.0]])
        left = np.einsum("i,kij,j->k", best, self.grams, best)
        free = max(0.0, 1.0 - self.start.size / max(1.0, float(self.counts.sum())))
        squares = zip(left.tolist(), (free * self.counts).tolist(), strict=True)
        named = dict(zip(self.names, squares, strict=True))
        return Share(self.end, self.theta, reduced.hessian, reduced.gradient, named)

    def shares_by_block(self, noise: Mapping[str, float], count: int) -> list[Share]:
        """Its information in at most so many shares by block of time, which add up to the whole."""
        p, whole = self.theta.size, self.share(noise)
        (solved,) = start_solutions([self.gram(noise)], p, 0.0)
        without_start = np.vstack([np.eye(p, p + 1), -solved, np.eye(1, p + 1, p)])
        weights = np.array([noise[name] ** -2 for name in self.names])
        parts = np.einsum("k,bkij->bij", weights, self.parts)
        parts[-1] += self.gram(noise) - parts.sum(axis=0)  # the start's prior
        found = without_start.T @ parts @ without_start
        joined = [own.sum(axis=0) for own in np.array_split(found, min(count, len(found)))]
        # Squares are sums over the window, and are counted with its last block.
        squares = [*[{}] * (len(joined) - 1), whole.squares]
        return [
            replace(whole, hessian=own[:p, :p], gradient=own[:p, p], squares=square)
            for own, square in zip(joined, squares, strict=True)
        ]

    def start_at(self, theta: FloatArray, noise: Mapping[str, float]) -> FloatArray:
        """The best deviation of the start for other parameters, (n_start,)."""
        (solved,) = start_solutions([self.gram(noise)], theta.size, 0.0)
        moved: FloatArray = self.start - solved @ np.append(theta - self.theta, 1.0)
        return moved


def shares_of_blocks(
    windows: Sequence[SimulatedWindow], noise: Mapping[str, float], wanted: int
) -> list[Share]:
    """Shares of about so many blocks of time, each inside one window."""
    counts = [float(window.counts.sum()) for window in windows]
    each = [max(1, round(wanted * count / max(sum(counts), 1.0))) for count in counts]
    found = (w.shares_by_block(noise, n) for w, n in zip(windows, each, strict=True))
    return [share for own in found for share in own]


@dataclass(frozen=True)
class Simulator:
    """All that simulating windows takes, besides them."""

    params: ParameterDict  # the parameters
    engine: str  # of the simulation
    builder: CandidateBuilder  # the recording's model with its parameters
    rollouts: RolloutPool  # where simulations run
    blocks: int  # of time that a window's sums are kept apart by
    # what the problem before found out about derivatives; the next one's is put here
    learned: list[Any]

    def first_noise(self, windows: Sequence[Cut], known: Mapping[str, float]) -> dict[str, float]:
        """Return known levels, and a tenth of the signal's spread for the others."""
        return first_noise([self._group(windows)], known)

    def problem(self, windows: Sequence[Cut], noise: Mapping[str, float]) -> WindowedProblem:
        """Return the residuals of windows as a function of the parameters."""
        found = WindowedProblem(
            [self._group(windows)],
            self.params,
            self.rollouts,
            loss=loss_named("linear"),
            noise=noise,
            engine=self.engine,
            learned=self.learned,
        )
        self.learned[:] = found.exact
        return found

    def simulated(self, windows: Sequence[Cut], point: Point) -> list[SimulatedWindow]:
        """Simulate windows at a point."""
        names = {signal.name for window, _ in windows for signal in window.sequence.signals}
        problem = self.problem(windows, dict.fromkeys(names, 1.0))
        found = zip(windows, problem.window_rows(point), point.starts, strict=True)
        return [simulated(cut, point.theta, start, rows, self.blocks) for cut, rows, start in found]

    def _group(self, windows: Sequence[Cut]) -> WindowGroup:
        return WindowGroup.of(self.builder, [window for window, _ in windows])


def simulated(
    cut: Cut, theta: FloatArray, start: FloatArray, rows: FloatArray, blocks: int
) -> SimulatedWindow:
    """Sum the rows of a window.

    Args:
      cut: The window and its last instant.
      theta: The parameters, (p,).
      start: The deviation of its start, (n_start,).
      rows: ``[J_theta J_start r]`` of all samples in the signals' units, then the start's prior.
      blocks: Of time, to sum by.
    """
    window, end = cut
    signals, kinds = window.window.samples.signals, len(window.sequence.signals)
    block = block_numbers(window.window.samples.times, blocks, signals.size)
    of_samples, n = rows[: signals.size], rows.shape[1]
    parts = np.zeros((blocks, kinds, n, n))
    for b, k in np.ndindex(blocks, kinds):
        own = of_samples[(block == b) & (signals == k)]
        parts[b, k] = own.T @ own
    counts = np.bincount(signals[~window.is_start], minlength=kinds)
    return SimulatedWindow(
        window, end, theta, start, parts, counts.astype(np.float64), of_samples[:, -1].copy()
    )
