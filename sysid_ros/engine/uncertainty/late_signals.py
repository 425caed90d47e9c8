# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured signals that are read later than their stamps say, by shares of one unknown time.

A delay moves a signal along itself, so that one more column, the rates of measured signals, tells
how much later they are read and what that does to the estimate: one linearization, without any
simulation. Inputs that act later than they are stamped look as if all measured signals were read
earlier by as much, since the laws of motion know no time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import Linearization, Point, ReducedSystem, eliminate_starts
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty.blocks import by_block, grams_of_blocks
from sysid_ros.engine.uncertainty.influence import Influence, influence

_STILL = 1e-6  # of its noise in a second: a signal that moves by less says nothing of time


@dataclass(frozen=True)
class Lateness:
    """The time by which signals are read late, the last of those that were asked for."""

    later: float  # s
    error: float  # its standard error, windows as clusters
    values: FloatArray  # by how much the chosen parameters move if that counts, (k,)
    chance: FloatArray  # standard deviation of these by noise, (k,)


def lateness(
    problem: WindowedProblem,
    point: Point,
    system: ReducedSystem,
    chosen: IndexArray,
    shares: Sequence[Mapping[str, float]],
    blocks: ReducedSystem | None = None,
) -> Lateness:
    """Find how late signals are, and what that does to the parameters.

    Args:
      problem: The problem.
      point: Its optimum.
      system: The Gauss-Newton model there, starts eliminated.
      chosen: The parameters that are asked for, (k,); the others are fixed.
      shares: By measured signal its share of each unknown time; what the last one does is told,
        beside those before.
      blocks: The shares of :func:`by_block` there, if they are known.

    Raises:
      StopRequestedError: The user asked to stop.
    """
    if blocks is None:
        own = grams_of_blocks(problem, problem.window_rows(point))
        blocks = by_block(problem, point, system, own)
    before = influence(replace(blocks, hessian=system.hessian, gradient=system.gradient), chosen)
    if shares[:-1]:
        before = _with_times(problem, point, system, chosen, shares[:-1])
    after = _with_times(problem, point, system, chosen, shares)
    k, parts = len(chosen), after.parts.copy()
    parts[:, : before.parts.shape[1]] -= before.parts
    chance = np.sqrt(len(parts) / max(1, len(parts) - 1) * np.sum(parts**2, axis=0))
    values = after.step[:k] - before.step[:k]
    return Lateness(float(after.step[-1]), float(chance[-1]), values, chance[:k])


def moving_signals(problem: WindowedProblem, point: Point) -> set[str]:
    """Names of measured signals that move in the simulation at a point, and so can be late."""
    names = sorted({one.name for each in problem.windows for one in each.sequence.signals})
    rates = _rates(problem, point, [{name: 1.0} for name in names])
    most = np.max([np.abs(own).max(axis=0, initial=0.0) for own in rates], axis=0)
    return {name for name, one in zip(names, most, strict=True) if one > _STILL}


def _with_times(
    problem: WindowedProblem,
    point: Point,
    system: ReducedSystem,
    chosen: IndexArray,
    shares: Sequence[Mapping[str, float]],
) -> Influence:
    """The step of the chosen parameters and of unknown times, (k + times,), and blocks' parts."""
    p = len(point.theta)

    def wider(rates: FloatArray, rows: FloatArray, some: IndexArray | slice) -> FloatArray:
        return np.hstack([rows[some, :p], rates[some], rows[some, p:]])

    rates = [
        np.pad(rate, ((0, own.n_start), (0, 0)))
        for rate, own in zip(_rates(problem, point, shares), problem.windows, strict=True)
    ]
    priors = problem.prior_rows(point.theta)
    wide = np.hstack([priors[:, :p], np.zeros((len(priors), len(shares))), priors[:, p:]])
    grams = grams_of_blocks(
        problem, problem.window_rows(point), [partial(wider, rate) for rate in rates]
    )
    whole = tuple(each.sum(axis=0) for each in grams)
    reduced = eliminate_starts(Linearization(0.0, whole, wide.T @ wide))
    times = p + np.arange(len(shares))
    return influence(by_block(problem, point, reduced, grams), np.append(chosen, times))


def _rates(
    problem: WindowedProblem, point: Point, shares: Sequence[Mapping[str, float]]
) -> list[FloatArray]:
    """The change of residuals by each unknown time, in units of noise, (m, times) by window."""
    weight, found = problem.loss.gradient_weight, []
    for window, residual in zip(problem.windows, problem.residuals(point), strict=True):
        samples, sigma = window.window.samples, window.sigma(problem.noise)
        own = np.zeros((len(residual), len(shares)))
        for number, signal in enumerate(window.sequence.signals):
            at = np.flatnonzero(samples.signals == number)
            if len(at) > 1:
                simulated = samples.values[at] + residual[at]
                rate = np.gradient(simulated, samples.times[at])
                own[at] = np.outer(rate, [share.get(signal.name, 0.0) for share in shares])
        found.append(own * (np.sqrt(weight(residual / sigma)) / sigma)[:, None])
    return found
