# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Steps of all unknowns, as far as a damping lets them go, and what each window expects of them.

Damping is relative to the curvature of each parameter; see :mod:`levenberg_marquardt`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares.gauss_newton import (
    Linearization,
    Point,
    bounded_quadratic_step,
    eliminate_starts,
    start_solutions,
)
from sysid_ros.engine.least_squares.slope_by_chance import Boxed

GROWTH = 4.0
SHRINKAGE = 0.1
# Where a step that promises so little of the cost fails, the cost is rough (a joint sticks a time
# step earlier or later) rather than curved: a step that is hardly shorter would fail as well.
ROUGHNESS, GROWTH_IN_ROUGHNESS = 1e-3, 16.0
# Shares of the decrease that was expected: the model holds; it holds badly; it says nothing.
GOOD_GAIN, POOR_GAIN, NO_GAIN = 0.5, 0.25, 1e-3
SILENT = 1e-12  # curvature relative to the largest: such a parameter must not move by rounding
# What a refused step raises the least curvature by, and at most.
RAISE, MOST_RAISED = 100.0, 1e4
# The longest bend that is believed, of a step.
MAX_BEND = 0.75


@dataclass
class Damping:
    """Little after a useful step, ever more after refused ones."""

    factor: float
    least: float
    scale: FloatArray  # (p,): the curvature of each parameter
    growth: float = GROWTH  # by a refused step
    curved: bool = False  # whether any step brought far less than was expected
    raised: float = 1.0  # how far the least curvature is
    most: float = field(default_factory=lambda: MOST_RAISED)
    floor: FloatArray = field(default_factory=lambda: np.zeros(0))  # (p,): where it is not raised
    before: FloatArray | None = None  # (p,): the scale before it was raised, until a step is tried

    def see(self, here: Linearization, least: FloatArray) -> None:
        """Take over the curvatures at a point.

        Args:
          here: The Gauss-Newton model at the point.
          least: What no curvature counts as less than, in costs there, (p,).
        """
        p = here.prior.shape[0] - 1
        sizes = sum((gram.diagonal()[:p] for gram in here.grams), here.prior.diagonal()[:p])
        silent = SILENT * max(sizes.max(initial=0.0), 1e-300)
        self.floor = here.cost * least if np.isfinite(here.cost) else np.zeros(p)
        self.scale = np.maximum(np.maximum(sizes, silent), self.raised * self.floor)

    def failed(self, expected: float) -> None:
        """Take note of a refused step that promised such a share of the cost."""
        higher = np.maximum(self.scale, RAISE * self.raised * self.floor)
        if self.raised < self.most and np.any(higher > GROWTH * self.scale):
            # What the cost hardly depends on may have run away. More damping of all would first
            # have to stop what is known well.
            self.before, self.scale = self.scale, higher
            self.raised *= RAISE
            return
        growth = self.growth if expected > ROUGHNESS else GROWTH_IN_ROUGHNESS
        self.factor *= growth if self.factor > 1e-6 else 100.0
        self.curved = True

    def raised_in_vain(self) -> None:
        """Take back what made a step no shorter."""
        if self.before is not None:
            self.scale, self.before, self.raised = self.before, None, self.raised / RAISE
            self.most = self.raised

    def succeeded(self, gain: float) -> None:
        """Take note of a step that brought such a share of what was expected."""
        self.curved = self.curved or gain < GOOD_GAIN
        if gain >= GOOD_GAIN:
            self.factor = max(self.least, self.factor * SHRINKAGE)
        elif gain < POOR_GAIN:
            self.factor *= 2.0


def damped_move(
    problem: Boxed, point: Point, here: Linearization, damping: Damping
) -> tuple[Point, float, FloatArray]:
    """Return the step of all unknowns and the decrease of cost that the linear model expects.

    In all, and of each window, (w,).
    """
    p = point.theta.size
    system = eliminate_starts(here, damping.factor)
    matrix = system.hessian + damping.factor * np.diag(damping.scale)
    low, high = problem.lower - point.theta, problem.upper - point.theta
    theta = bounded_quadratic_step(matrix, system.gradient, low, high)
    starts = [
        -(solved[:, :p] @ theta + solved[:, p])
        for solved in start_solutions(here.grams, p, damping.factor)
    ]
    expected = -float(here.prior[:p, p] @ theta + 0.5 * theta @ here.prior[:p, :p] @ theta)
    shares = np.zeros(len(starts))
    for w, (gram, start) in enumerate(zip(here.grams, starts, strict=True)):
        full = np.concatenate([theta, start])
        shares[w] = -float(gram[:-1, -1] @ full + 0.5 * full @ gram[:-1, :-1] @ full)
        expected += shares[w]
    if damping.curved and here.pull is not None:
        theta = theta + _bend(here.pull(theta), theta, matrix, damping.scale, (low, high))
    return Point(theta, tuple(starts)), expected, shares


def _bend(
    pull: FloatArray,
    step: FloatArray,
    matrix: FloatArray,
    scale: FloatArray,
    room: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return what to add to a step because the residual curves along it; zero if not small.

    Args:
      pull: What the curvature adds to the gradient, (p,).
      step: The step, (p,).
      matrix: The damped Hessian that it was found with, (p, p).
      scale: Of each parameter's curvature, (p,).
      room: How far the bounds are, below and above, (p,) each.
    """
    bend = np.zeros(len(step))
    inside = (step > room[0]) & (step < room[1])
    if inside.any():
        low, high = room[0] - step, room[1] - step
        bend[inside] = bounded_quadratic_step(
            matrix[np.ix_(inside, inside)], pull[inside], low[inside], high[inside]
        )
    weight = np.sqrt(scale)
    longest = MAX_BEND * np.linalg.norm(weight * step)
    return np.where(np.linalg.norm(weight * bend) <= longest, bend, 0.0)


def damped_step(
    problem: Boxed, point: Point, here: Linearization, factor: float
) -> tuple[Point, FloatArray]:
    """The point that a step of one damping leads to, and the decrease each window expects, (w,)."""
    damping = Damping(factor, factor, np.zeros(len(point.theta)))
    damping.see(here, np.zeros(len(point.theta)))
    move, _, expected = damped_move(problem, point, here, damping)
    return moved(problem, point, move), expected


def moved(problem: Boxed, point: Point, move: Point) -> Point:
    """The point that a step leads to, within bounds."""
    return Point(
        np.clip(point.theta + move.theta, problem.lower, problem.upper),
        tuple(start + change for start, change in zip(point.starts, move.starts, strict=True)),
    )
