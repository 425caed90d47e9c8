# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The convex program of a fit: least squares, prior and physical consistency.

    minimise    x^T H x / 2 - g^T x + prior(x)
    subject to  J_b(x) >= margin * J_b0          every body with a free parameter
                n . h_b <= reach_n m_b           centre of mass within the body's geometry
                lower <= x <= upper,  A x = b    bounds, total mass, symmetries

Clarabel (Goulart & Chen, arXiv:2405.12762) solves it over semidefinite and exponential cones: the
prior's log det J is the largest sum of log Z_ii over lower triangular Z with
[[J, Z], [Z^T, diag(Z)]] >= 0. Where no constraint holds the solution, Newton steps on the smooth
objective then take away what tolerance is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.inverse_dynamics.consistency import DIRECTIONS, MARGIN
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares, solve_symmetric
from sysid_ros.engine.inverse_dynamics.prior import BodyTerm, Prior, PriorKind
from sysid_ros.errors import DataError, SysidError

_ACTIVE = 1e-3  # relative slack below which a constraint holds the solution
_TOLERANCE = 3e-8
_STEPS = 30  # of Newton
_GAIN = 1e-10  # of half the log-likelihood, that a solution may lack
_NEAR = "Solved"  # Clarabel's word for it
_ROUNDS = 5  # of finding which bounds hold the solution
_ROOT2 = np.sqrt(2.0)


@dataclass(frozen=True)
class Constraints:
    """Constraints that estimated parameters must satisfy."""

    lower: FloatArray  # (k,) bounds
    upper: FloatArray  # (k,) bounds
    # for bodies (index into the prior's) how far their geometry reaches, (26,) m each
    hulls: dict[int, FloatArray] = field(default_factory=dict)
    equal: FloatArray | None = None  # A (e, k) of A x = b
    equal_to: FloatArray | None = None  # b (e,)


@dataclass(frozen=True)
class Solution:
    """The program's solution."""

    x: FloatArray  # (k,)
    at_bound: BoolArray  # parameters on a bound, (k,)
    # bodies (index into the prior's) on the margin or at the edge of their hull
    on_edge: tuple[int, ...]
    status: str  # clarabel's word


def solve(
    hessian: FloatArray,
    gradient: FloatArray,
    prior: Prior,
    constraints: Constraints,
    start: FloatArray | None = None,
) -> Solution:
    """Solve the program.

    Args:
      hessian: H (k, k), of the data.
      gradient: g (k,), of the data.
      prior: On the parameters.
      constraints: On the parameters.
      start: Near the solution, (k,): where Newton steps from there end at it, that is all.

    Raises:
      DataError: No parameters satisfy the constraints, or the numbers are out of range.
    """
    if start is not None and constraints.equal is None:
        near = _refined(start, hessian, gradient, prior, constraints, _NEAR)
        if near is not None and _settled(near, hessian, gradient, prior):
            return near
    scale = _scales(hessian, prior)
    rows = _Rows(len(gradient), scale)
    for body, term in enumerate(prior.bodies):
        rows.keep_consistent(term)
        if body in constraints.hulls:
            rows.keep_inside(term, constraints.hulls[body])
    rows.keep_within(constraints)
    cost, slope = hessian + np.diag(prior.precision), -(gradient + prior.precision * prior.mean)
    for term in prior.bodies:
        one = np.einsum("ik,ijl->kjl", term.matrix, term.scale.scaled)
        constant = term.scale.relative(term.fixed)
        weight = 1.0 / prior.spread**2
        if prior.kind is PriorKind.GAUSSIAN:
            flat = one.reshape(len(one), -1)
            cost = cost + weight * flat @ flat.T
            slope = slope + weight * flat @ (constant - np.eye(4)).ravel()
        else:
            slope = slope + weight * np.trace(one, axis1=1, axis2=2)
            rows.add_logarithm(one, constant, weight)
    x, status = rows.solve(cost, slope, prior.mean)
    if constraints.equal is None:
        better = _refined(x, hessian, gradient, prior, constraints, status)
        if better is not None:
            return better
    x = np.clip(x, constraints.lower, constraints.upper)
    return _held(x, prior, constraints, scale, status)


class _Rows:
    """Constraint rows A z + s = b in Clarabel's order of cones.

    There z = ((x - centre) / scale, added).
    """

    def __init__(self, size: int, scale: FloatArray) -> None:
        self._size, self._scale = size, scale
        self._added = 0
        self._added_cost: list[float] = []
        self._blocks: list[tuple[str, FloatArray, dict[int, FloatArray], FloatArray]] = []

    def keep_consistent(self, term: BodyTerm) -> None:
        one = np.einsum("ik,ijl->kjl", term.matrix, term.scale.scaled)
        least = term.scale.relative(term.fixed) - MARGIN * np.eye(4)
        self._blocks.append(("psd4", -_svec(one).T, {}, _svec(least[None])[0]))

    def keep_inside(self, term: BodyTerm, reach: FloatArray) -> None:
        wall = np.hstack([-reach[:, None], DIRECTIONS])  # n . h - reach m <= 0
        self._blocks.append(("pos", wall @ term.matrix[:4], {}, -wall @ term.fixed[:4]))

    def keep_within(self, constraints: Constraints) -> None:
        eye = np.eye(self._size)
        low, high = np.isfinite(constraints.lower), np.isfinite(constraints.upper)
        if np.any(low):
            self._blocks.append(("pos", -eye[low], {}, -constraints.lower[low]))
        if np.any(high):
            self._blocks.append(("pos", eye[high], {}, constraints.upper[high]))
        if constraints.equal is not None and constraints.equal_to is not None:
            self._blocks.append(("zero", constraints.equal, {}, constraints.equal_to))

    def add_logarithm(self, one: FloatArray, constant: FloatArray, weight: float) -> None:
        """Maximise weight * log det of a relative pseudo-inertia linear in x."""
        first = self._added
        self._added += 14  # ten of Z, four logarithms
        self._added_cost += [0.0] * 10 + [-weight] * 4
        parts, base = np.zeros((self._size, 8, 8)), np.zeros((8, 8))
        parts[:, :4, :4], base[:4, :4] = one, constant
        triangle = [(i, k) for i in range(4) for k in range(i + 1)]
        own = {}
        for place, (i, k) in enumerate(triangle):
            piece = np.zeros((8, 8))
            piece[i, 4 + k] = piece[4 + k, i] = 1.0
            if i == k:
                piece[4 + i, 4 + i] = 1.0
            own[first + place] = -_svec(piece[None])[0]
        self._blocks.append(("psd8", -_svec(parts).T, own, _svec(base[None])[0]))
        for i in range(4):  # (t_i, 1, Z_ii) in the exponential cone
            diagonal = first + triangle.index((i, i))
            own = {first + 10 + i: np.array([-1.0, 0, 0]), diagonal: np.array([0, 0, -1.0])}
            none = np.zeros((3, self._size))
            self._blocks.append(("exp", none, own, np.array([0.0, 1.0, 0.0])))

    def solve(
        self, cost: FloatArray, slope: FloatArray, centre: FloatArray
    ) -> tuple[FloatArray, str]:
        """The solution, about a centre: a parameter that is held there must not add to the value.

        The solver's tolerance is relative to that, and what one without effect on the data adds
        would be thousands of times what all data do.
        """
        clarabel = _solver_library()
        cones = {
            "zero": clarabel.ZeroConeT,
            "pos": clarabel.NonnegativeConeT,
            "psd4": lambda _: clarabel.PSDTriangleConeT(4),
            "psd8": lambda _: clarabel.PSDTriangleConeT(8),
            "exp": lambda _: clarabel.ExponentialConeT(),
        }
        total = self._size + self._added
        matrices, sides = [], []
        for _, on_x, on_added, fixed in self._blocks:
            side = fixed - on_x @ centre
            block = np.zeros((len(side), total))
            block[:, : self._size] = on_x * self._scale
            for place, column in on_added.items():
                block[:, self._size + place] = column
            matrices.append(scipy.sparse.csc_matrix(block))
            sides.append(side)
        quadratic: FloatArray = np.zeros((total, total))
        quadratic[: self._size, : self._size] = cost * np.outer(self._scale, self._scale)
        linear = np.concatenate([(slope + cost @ centre) * self._scale, self._added_cost])
        size = max(float(np.abs(linear).max()), 1e-12)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = _TOLERANCE
        settings.max_threads = 1
        solver = clarabel.DefaultSolver(
            scipy.sparse.csc_matrix(np.triu(quadratic) / size),
            linear / size,
            scipy.sparse.vstack(matrices, format="csc"),
            np.concatenate(sides),
            [cones[kind](len(side)) for kind, _, _, side in self._blocks],
            settings,
        )
        solution = solver.solve()
        status = str(solution.status)
        x: FloatArray = centre + np.array(solution.x)[: self._size] * self._scale
        if "Infeasible" in status or not np.all(np.isfinite(x)):
            raise DataError(
                f"no physically consistent parameters satisfy all constraints ({status}); "
                "look at bounds, total mass and margins, and whether geoms enclose the bodies"
            )
        return x, status


def _solver_library() -> Any:
    try:
        import clarabel
    except ImportError as error:
        raise SysidError(
            "a fit by inverse dynamics needs the solver Clarabel, which is not installed: "
            "pip install clarabel"
        ) from error
    return clarabel


def _svec(matrices: FloatArray) -> FloatArray:
    """Upper triangles column by column, off-diagonals times the square root of two, (n, m)."""
    size = matrices.shape[1]
    columns, rows = np.tril_indices(size)  # of the transpose: the upper triangle by columns
    factor = np.where(rows == columns, 1.0, _ROOT2)
    return matrices[:, rows, columns] * factor


def _scales(hessian: FloatArray, prior: Prior) -> FloatArray:
    """The size of each parameter: the inverse root of all that is known of it."""
    known = np.diag(hessian).copy() + prior.precision
    for term in prior.bodies:
        one = np.einsum("ik,ijl->kjl", term.matrix, term.scale.scaled)
        known += np.sum(one**2, axis=(1, 2)) / prior.spread**2
    return np.asarray(1.0 / np.sqrt(np.maximum(known, 1e-20)))


def _refined(
    x: FloatArray,
    hessian: FloatArray,
    gradient: FloatArray,
    prior: Prior,
    constraints: Constraints,
    status: str,
) -> Solution | None:
    """The solution to rounding, where only bounds hold it; ``None`` where a body's edge does.

    The program is convex: a point that satisfies all constraints, at which the objective rises from
    every bound that holds it and has no slope otherwise, is the minimum.
    """
    held = np.zeros(len(x), dtype=np.bool_)
    for _ in range(_ROUNDS):
        x = _polish(x, hessian, gradient, prior, held)
        outside = (x < constraints.lower) | (x > constraints.upper)
        if not np.any(outside):
            break
        held |= outside
        x = np.clip(x, constraints.lower, constraints.upper)
        if not np.isfinite(prior.value(x)):
            return None
    slope = prior.derivatives(x)[0] + hessian @ x - gradient
    rises = np.where(x <= constraints.lower, slope, -slope)
    if np.any(rises[held] < 0.0) or not _satisfied(x, prior, constraints):
        return None
    return Solution(x, held, (), status)


def _settled(found: Solution, hessian: FloatArray, gradient: FloatArray, prior: Prior) -> bool:
    """Return whether one more Newton step would gain nothing, in units of the log-likelihood."""
    slope, curvature = prior.derivatives(found.x)
    go = ~found.at_bound
    slope, curvature = (slope + hessian @ found.x - gradient)[go], curvature + hessian
    return float(slope @ least_squares(curvature[np.ix_(go, go)], slope)) < _GAIN


def _polish(
    x: FloatArray, hessian: FloatArray, gradient: FloatArray, prior: Prior, held: BoolArray
) -> FloatArray:
    """Newton's method on the smooth objective from near its minimum; some parameters stay."""

    def objective(at: FloatArray) -> float:
        return float(0.5 * at @ hessian @ at - gradient @ at) + prior.value(at)

    value = objective(x)
    for _ in range(_STEPS):
        slope, curvature = prior.derivatives(x)
        slope = slope + hessian @ x - gradient
        curvature = curvature + hessian
        scale = np.where(held, 0.0, 1.0 / np.sqrt(np.diag(curvature)))
        scaled = curvature * np.outer(scale, scale) + np.diag(held.astype(np.float64))
        step = -scale * solve_symmetric(scaled, scale * slope)
        length = 1.0
        while length > 1e-4 and not objective(x + length * step) <= value + 1e-12 * abs(value):
            length *= 0.5
        if length <= 1e-4:
            break
        x = x + length * step
        value = objective(x)
        if -float(slope @ step) < 1e-14:
            break
    return x


def _satisfied(x: FloatArray, prior: Prior, constraints: Constraints) -> bool:
    if np.any(x < constraints.lower) or np.any(x > constraints.upper):
        return False
    for body, term in enumerate(prior.bodies):
        if np.linalg.eigvalsh(term.relative(x))[0] < MARGIN:
            return False
        if body in constraints.hulls:
            m, *h = term.parameters(x)[:4]
            if np.any(DIRECTIONS @ h > m * constraints.hulls[body]):
                return False
    return True


def _held(
    x: FloatArray, prior: Prior, constraints: Constraints, scale: FloatArray, status: str
) -> Solution:
    size = np.maximum(np.abs(x), scale)
    bound = (x - constraints.lower < _ACTIVE * size) | (constraints.upper - x < _ACTIVE * size)
    edge = []
    for body, term in enumerate(prior.bodies):
        least = float(np.linalg.eigvalsh(term.relative(x))[0])
        close = least < MARGIN * (1.0 + 100.0 * _ACTIVE)
        if body in constraints.hulls:
            m, *h = term.parameters(x)[:4]
            close |= bool(np.any(DIRECTIONS @ h > m * (constraints.hulls[body] - 1e-5)))
        if close:
            edge.append(body)
    return Solution(x, bound, tuple(edge), status)
