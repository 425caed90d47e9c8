# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A window of the horizon with its Gauss-Newton model where it was simulated last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
from sysid_ros.engine.uncertainty import first_noise
from sysid_ros.engine.windows import WindowGroup, WindowSimulation


@dataclass(frozen=True)
class SimulatedWindow:
    """One window at the point where it was simulated.

    The sums are kept signal by signal, so that noise levels can change without a simulation.

    Attributes:
      window: The window.
      end: Its last instant, s.
      theta: The parameters, (p,).
      start: The deviation of its start, (n_start,).
      grams: By signal ``A^T A`` with ``A = [J_theta J_start r]`` in the signal's unit, (k, n, n).
      counts: Samples of each signal, (k,).
    """

    window: WindowSimulation
    end: float
    theta: FloatArray
    start: FloatArray
    grams: FloatArray
    counts: FloatArray
    _shares: dict[tuple[float, ...], Share] = field(default_factory=dict, repr=False)

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

    def start_at(self, theta: FloatArray, noise: Mapping[str, float]) -> FloatArray:
        """The best deviation of the start for other parameters, (n_start,)."""
        (solved,) = start_solutions([self.gram(noise)], theta.size, 0.0)
        moved: FloatArray = self.start - solved @ np.append(theta - self.theta, 1.0)
        return moved


@dataclass(frozen=True)
class Simulator:
    """All that simulating windows takes, besides them."""

    params: ParameterDict
    engine: str
    builder: CandidateBuilder
    rollouts: RolloutPool

    def first_noise(self, windows: Sequence[Cut], known: Mapping[str, float]) -> dict[str, float]:
        """Return known levels, and a tenth of the signal's spread for the others."""
        return first_noise([self._group(windows)], known)

    def problem(self, windows: Sequence[Cut], noise: Mapping[str, float]) -> WindowedProblem:
        """Return the residuals of windows as a function of the parameters."""
        return WindowedProblem(
            [self._group(windows)],
            self.params,
            self.rollouts,
            loss=loss_named("linear"),
            noise=noise,
            engine=self.engine,
        )

    def simulated(self, windows: Sequence[Cut], point: Point) -> list[SimulatedWindow]:
        """Simulate windows at a point."""
        names = {signal.name for window, _ in windows for signal in window.sequence.signals}
        problem = self.problem(windows, dict.fromkeys(names, 1.0))
        found = zip(windows, problem.window_rows(point), point.starts, strict=True)
        return [simulated(cut, point.theta, start, rows.matrix) for cut, rows, start in found]

    def _group(self, windows: Sequence[Cut]) -> WindowGroup:
        return WindowGroup.of(self.builder, [window for window, _ in windows])


def simulated(cut: Cut, theta: FloatArray, start: FloatArray, rows: FloatArray) -> SimulatedWindow:
    """Sum the rows of a window.

    Args:
      cut: The window and its last instant.
      theta: The parameters, (p,).
      start: The deviation of its start, (n_start,).
      rows: ``[J_theta J_start r]`` of all samples in the signals' units, then the start's prior.
    """
    window, end = cut
    signals = window.window.samples.signals
    parts = [rows[: signals.size][signals == k] for k in range(len(window.sequence.signals))]
    counts = np.bincount(signals[~window.is_start], minlength=len(parts))
    grams = np.stack([part.T @ part for part in parts])
    return SimulatedWindow(window, end, theta, start, grams, counts.astype(np.float64))
