# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The Gauss-Newton model of an objective: one Gram matrix per window, and steps within bounds.

The unknowns are the parameters theta and, where a window's start is estimated, its deviation from
the measured one. The starts are eliminated window by window by the Schur complement (bundle
adjustment's reduced system; Triggs et al., Bundle Adjustment - A Modern Synthesis, 6.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray

_DROWNED = 1e-10  # of a start's own curvature, added where rounding leaves it singular
_STUCK = 1e-8  # of the gradient at zero: the slope that is left where a minimum was not reached


@dataclass(frozen=True)
class Point:
    """Values of all unknowns: theta of shape (p,), and one deviation (n_start,) per window."""

    theta: FloatArray
    starts: tuple[FloatArray, ...] = ()


# The objective at another point, which linear models expect to fall by window, (n_windows,).
Trial = Callable[[Point, FloatArray], float]


@dataclass(frozen=True)
class Linearization:
    """The objective and its Gauss-Newton model around one point."""

    cost: float  # the objective
    # per window ``A^T A`` with ``A = [J_theta J_start r]`` in units of noise, the start's prior
    # included, shape (p + n_start + 1, p + n_start + 1)
    grams: tuple[FloatArray, ...]
    prior: FloatArray  # the same for the parameters' priors, shape (p + 1, p + 1)
    # per signal the sum of squared residuals in the signal's unit and their number
    squares: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    # half the gradient that the residual's curvature along a step of theta, (p,), adds at its end,
    # (p,); ``None`` where no Jacobian is kept to find out with
    pull: Callable[[FloatArray], FloatArray] | None = None
    # the objective at another point, of which the linear model expects that each window's share
    # falls by so much, (n_windows,); infinite as soon as that is clearly not so. ``None`` where it
    # takes no less than all of it
    trial: Trial | None = None


@dataclass(frozen=True)
class ReducedSystem:
    """The Gauss-Newton model of theta after the starts are eliminated."""

    hessian: FloatArray  # shape (p, p)
    gradient: FloatArray  # shape (p,)
    window_hessians: FloatArray  # each window's share of the Hessian, (n_windows, p, p)
    window_gradients: FloatArray  # each window's share of the gradient, (n_windows, p)

    def scaled(self, sizes: FloatArray) -> ReducedSystem:
        """The model of parameters in units of their sizes, (p,)."""
        square = np.outer(sizes, sizes)
        return ReducedSystem(
            self.hessian * square,
            self.gradient * sizes,
            self.window_hessians * square,
            self.window_gradients * sizes,
        )

    def of(self, chosen: IndexArray) -> ReducedSystem:
        """The model of some parameters with the others fixed."""
        return ReducedSystem(
            self.hessian[np.ix_(chosen, chosen)],
            self.gradient[chosen],
            self.window_hessians[:, chosen][:, :, chosen],
            self.window_gradients[:, chosen],
        )

    def scores(self, step: FloatArray) -> FloatArray:
        """The share of each window in the gradient after a step, (n_windows, p)."""
        return np.asarray(self.window_gradients + self.window_hessians @ step)


def eliminate_starts(linearization: Linearization, damping: float = 0.0) -> ReducedSystem:
    """Eliminate every window's start, its own system damped after Levenberg and Marquardt.

    Returns:
      The system in theta alone; priors of parameters count in the sums but in no window.
    """
    p = linearization.prior.shape[0] - 1
    count = len(linearization.grams)
    hessians, gradients = np.zeros((count, p, p)), np.zeros((count, p))
    for rows, grams in _stacked(linearization.grams):
        if grams.shape[1] == p + 1:  # no start is estimated
            hessians[rows], gradients[rows] = grams[:, :p, :p], grams[:, :p, -1]
            continue
        solved = grams[:, :p, p:-1] @ _solved(grams, p, damping)
        hessians[rows] = grams[:, :p, :p] - solved[:, :, :p]
        gradients[rows] = grams[:, :p, -1] - solved[:, :, p]
    return ReducedSystem(
        hessians.sum(axis=0) + linearization.prior[:p, :p],
        gradients.sum(axis=0) + linearization.prior[:p, p],
        hessians,
        gradients,
    )


def start_solutions(grams: Sequence[FloatArray], p: int, damping: float) -> list[FloatArray]:
    """Return ``C^-1 [B^T c]`` of every window, (n_start, p + 1) each."""
    found: list[FloatArray] = [np.zeros(0)] * len(grams)
    for rows, same in _stacked(grams):
        for k, solved in zip(rows, _solved(same, p, damping), strict=True):
            found[k] = solved
    return found


def _stacked(grams: Sequence[FloatArray]) -> list[tuple[list[int], FloatArray]]:
    """Windows with equally many unknowns: which, and their matrices (k, n, n)."""
    by_size: dict[int, list[int]] = {}
    for k, gram in enumerate(grams):
        by_size.setdefault(len(gram), []).append(k)
    return [(rows, np.stack([grams[k] for k in rows])) for rows in by_size.values()]


def _solved(grams: FloatArray, p: int, damping: float) -> FloatArray:
    """``C^-1 [B^T c]`` of windows of one size, (k, n_start, p + 1)."""
    own = np.arange(p, grams.shape[1] - 1)
    if not own.size:
        return np.zeros((len(grams), 0, p + 1))
    block = grams[:, p:-1, p:-1].copy()
    block[:, own - p, own - p] *= 1.0 + damping
    right = np.concatenate([grams[:, p:-1, :p], grams[:, p:-1, -1:]], axis=2)
    try:
        return np.asarray(np.linalg.solve(block, right), dtype=float)
    except np.linalg.LinAlgError:  # slopes of a simulation that runs away drown the start's prior
        block[:, own - p, own - p] *= 1.0 + _DROWNED
        return np.asarray(np.linalg.solve(block, right), dtype=float)


def without_starts(matrix: FloatArray, p: int) -> FloatArray:
    """Return one window's Jacobian in theta with its start eliminated, (m, p).

    That is Kaufman's Jacobian ``(I - Q Q^T) J_theta`` of the variable projection functional (Golub
    & Pereyra 1973), where Q spans the columns of ``J_start``.

    Args:
      matrix: ``[J_theta J_start r]``, (m, p + n_start + 1).
      p: How many parameters there are.
    """
    theta = matrix[:, :p]
    if matrix.shape[1] == p + 1:
        return theta
    basis = np.linalg.qr(matrix[:, p:-1])[0]
    return np.asarray(theta - basis @ (basis.T @ theta))


def bounded_quadratic_step(
    hessian: FloatArray, gradient: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Minimize ``1/2 d^T H d + g^T d`` with ``lower <= d <= upper``, between which zero lies.

    Returns:
      The step, shape (p,); zeros where the system cannot be factorized.
    """
    p = gradient.size
    if p == 0:
        return np.zeros(0)
    # Scaling to a unit diagonal keeps parameters of different magnitude equally well resolved.
    scale = 1.0 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    scaled = hessian * np.outer(scale, scale), gradient * scale
    bounds = lower / scale, upper / scale
    step = np.zeros(p)
    work = np.zeros((p, p + 7))
    index = np.zeros(p, dtype=np.int32)
    if mujoco.mju_boxQP(step, work, index, *scaled, *bounds) < 0:
        return np.zeros(p)
    slope = free_gradient(scaled[0] @ step + scaled[1], step, *bounds)
    if np.abs(slope).max() > _STUCK * np.abs(scaled[1]).max():
        with suppress(np.linalg.LinAlgError):
            step = _by_active_sets(*scaled, *bounds, step)
    return step * scale


def _by_active_sets(
    hessian: FloatArray, gradient: FloatArray, lower: FloatArray, upper: FloatArray, x: FloatArray
) -> FloatArray:
    """The same minimum from a point, by freeing the worst held one at a time, (p,).

    Lawson and Hanson (1974), chapter 23, with upper bounds. MuJoCo's projected Newton steps end
    early where columns nearly repeat each other: each is cut short by the bounds.
    """
    x, free = x.copy(), (x > lower) & (x < upper)
    for _ in range(10 * len(x)):
        wanted = x.copy()
        rest = gradient + hessian[:, ~free] @ x[~free]
        wanted[free] = np.linalg.solve(hessian[np.ix_(free, free)], -rest[free])
        over = free & ((wanted < lower) | (wanted > upper))
        if over.any():
            bound = np.where(wanted < lower, lower, upper)
            shares = np.full(len(x), np.inf)
            shares[over] = (bound - x)[over] / (wanted - x)[over]
            first = int(np.argmin(shares))
            x[free] += (shares[first] * (wanted - x))[free]
            x[first], free[first] = bound[first], False
            continue
        x = wanted
        slope = free_gradient(hessian @ x + gradient, x, lower, upper)
        slope[free] = 0.0  # but for rounding
        worst = int(np.argmax(np.abs(slope)))
        if abs(slope[worst]) <= _STUCK * np.abs(gradient).max():
            break
        free[worst] = True
    return np.clip(x, lower, upper)


def free_gradient(
    gradient: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return the gradient, zero where it points out of the bounds, (p,)."""
    blocked = ((x <= lower) & (gradient > 0.0)) | ((x >= upper) & (gradient < 0.0))
    return np.where(blocked, 0.0, gradient)
