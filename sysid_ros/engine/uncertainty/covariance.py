# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Uncertainty of the parameters: covariance, intervals and what the data leaves open.

What is computed is told in docs/uncertainty.md: a covariance clustered by window (Liang & Zeger
1986) with scores corrected for their leverage and Student's t by Bell & McCaffrey (2002), or that
of white noise. What a single window determines has nothing to scatter about: the window's residual
is zero there whatever the noise. Its variance is that of white noise.

A prior is one more observation: its information adds to the variance of the scores as to the
Hessian, so that what only the prior determines is as uncertain as the prior. What the data leaves
open counts for the others as of a prior with the bounds' spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.least_squares import ReducedSystem
from sysid_ros.engine.parameters import UNIFORM
from sysid_ros.engine.uncertainty.rank import MARGIN, WINDOW_DIFFERENCES, directions_of_gram

MIN_CLUSTERS = 6
# Share in a unit direction above which a parameter counts as part of it.
INVOLVED = 0.1
# Standard errors beyond a bound within which the optimum without it may be beyond by chance.
BY_CHANCE = 2.0
# Where a simulation is chaotic its slopes are so large that the sums of their squares lose all that
# matters to rounding: no information is less than none, but for more than that of the bounds.
UNRESOLVED = "unresolved"
WELL_CONDITIONED = 1e10  # bound on the norms of a matrix and its inverse, that it counts as one
ALONE = 1e-9  # share of a direction's information, less than which the other windows do not count
HELD = 0.5  # share of a direction's information above which the prior determines it


@dataclass(frozen=True)
class Covariance:
    """Covariance of the free parameters."""

    # shape (p, p); rows and columns of parameters without a claim are NaN, and of those that the
    # data pushes against a bound
    matrix: FloatArray
    dof: FloatArray  # degrees of freedom of the t quantiles, (p,)
    # ``"clustered"`` by window, by ``"blocks"`` inside windows, or ``"white"``; ``"none"`` of a fit
    # without a Jacobian, :data:`UNRESOLVED` of one that means nothing
    method: str
    # of the Jacobian with columns scaled to the width of the bounds, descending
    singular_values: FloatArray
    # unit vectors in scaled parameters that the data leaves open, (k, p)
    open_directions: FloatArray
    # standard errors, (p,), of parameters at a bound too; NaN in open directions
    errors: FloatArray
    from_prior: FloatArray  # share of each variance that priors contribute, (p,)
    # distance of a parameter at a bound to the optimum without its bound, (p,); zero of the others
    beyond: FloatArray
    # the Gauss-Newton model in shares of blocks inside windows, where these are few
    blocks: ReducedSystem | None = None

    @property
    def by_chance(self) -> BoolArray:
        """Mark the parameters that noise may have put at a bound, or beyond, (p,)."""
        return np.asarray(self.beyond <= BY_CHANCE * self.errors)


def enough_clusters(clusters: int, parameters: int) -> bool:
    """Return whether so many clusters can show how much so many parameters vary."""
    return clusters >= max(MIN_CLUSTERS, parameters + 2)


def no_covariance(p: int, method: str = "none") -> Covariance:
    """No claim about any of ``p`` parameters, for a fit that never got to a Jacobian."""
    unknown, zeros = np.full((p, p), np.nan), np.zeros(p)
    errors = np.diag(unknown)
    return Covariance(
        unknown, np.ones(p), method, np.zeros(0), np.zeros((0, p)), errors, zeros, zeros
    )


def covariance(
    system: ReducedSystem,
    width: FloatArray,
    free: BoolArray,
    *,
    method: str,
    n_samples: int,
    residual_square: float,
    prior: FloatArray | None = None,
) -> Covariance:
    """Covariance at the optimum.

    Args:
      system: The Gauss-Newton model there, starts eliminated.
      width: Distance of each parameter's bounds, or its magnitude where they are infinite, (p,).
      free: Parameters strictly inside their bounds, (p,).
      method: ``"clustered"`` or ``"white"``; too few windows fall back to white.
      n_samples: Number of residuals, less that of the starts that were eliminated.
      residual_square: Sum of squared residuals in units of noise.
      prior: Inverse variances of the priors that the Hessian contains, (p,).

    Returns:
      Covariance with NaN for parameters in an open direction.
    """
    p = width.size
    precision = np.zeros(p) if prior is None else prior * width**2
    variance = residual_square / max(1, n_samples - p)
    system = system.scaled(width)
    hessian = system.hessian
    if np.any(np.diag(hessian) < -variance / UNIFORM**2):
        return no_covariance(p, UNRESOLVED)
    open_directions = _open_directions(hessian, variance, precision)
    evidence = _Evidence(system, precision, variance, float(max(1, n_samples - p)), method)
    # What is open has no interval, and is as uncertain as its bounds say in those of the others.
    closed = ~involved_in(open_directions)
    evidence = replace(evidence, opened=np.flatnonzero(~closed))
    chosen = free & closed
    pushed = {int(j): evidence.with_one(chosen, int(j)) for j in np.flatnonzero(closed & ~free)}
    beyond = np.zeros(p)
    beyond[list(pushed)] = [abs(part.step[-1]) * width[j] for j, part in pushed.items()]
    caught = [j for j, part in pushed.items() if part.by_chance]
    if caught:
        chosen[caught] = True
        pushed = {j: evidence.with_one(chosen, j) for j in pushed if not chosen[j]}
    matrix = np.full((p, p), np.nan)
    errors, dof, from_prior = np.full(p, np.nan), np.full(p, evidence.dof), np.zeros(p)
    main = evidence.of(np.flatnonzero(chosen))
    keep = np.ix_(main.chosen, main.chosen)
    matrix[keep] = main.matrix * np.outer(width, width)[keep]
    for part in reversed([main, *pushed.values()]):
        errors[part.chosen] = np.sqrt(np.diag(part.matrix)) * width[part.chosen]
        dof[part.chosen], from_prior[part.chosen] = part.dof, part.from_prior
    return Covariance(
        matrix,
        dof,
        "clustered" if main.clustered else "white",
        np.sqrt(np.maximum(np.linalg.eigvalsh(hessian)[::-1], 0.0)),
        open_directions,
        errors,
        from_prior,
        beyond,
    )


@dataclass(frozen=True)
class _Part:
    """The uncertainty of some parameters with the others fixed, in widths of the bounds."""

    chosen: IndexArray  # which, (k,); one that was added to the others comes last
    matrix: FloatArray  # their covariance, (k, k)
    dof: FloatArray  # degrees of freedom, (k,)
    from_prior: FloatArray  # share of each variance that priors contribute, (k,)
    step: FloatArray  # from here to the optimum without bounds, (k,)
    clustered: bool  # whether the covariance is clustered by window

    @property
    def by_chance(self) -> bool:
        """True if the last of them may be at its bound although the truth is not."""
        return bool(abs(self.step[-1]) <= BY_CHANCE * np.sqrt(self.matrix[-1, -1]))


@dataclass(frozen=True)
class _Evidence:
    """The Gauss-Newton model with parameters in widths of their bounds; see :func:`covariance`."""

    system: ReducedSystem
    precision: FloatArray
    variance: float
    dof: float
    method: str
    opened: IndexArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def with_one(self, chosen: BoolArray, one: int) -> _Part:
        """The uncertainty of one more parameter that is free beside the chosen, which comes last.

        That of the others is as if their clustered variances were exact on average.
        """
        return self.of(np.append(np.flatnonzero(chosen), one), last_only=True)

    def of(self, chosen: IndexArray, *, last_only: bool = False) -> _Part:
        """The uncertainty of the chosen parameters with the others fixed."""
        own = self.system.of(chosen)
        bread = np.asarray(np.linalg.inv(own.hessian), dtype=float)
        step = -bread @ own.gradient
        priors = (bread * self.precision[chosen]) @ bread
        n_clusters = len(own.window_gradients)
        clustered = self.method == "clustered" and enough_clusters(n_clusters, chosen.size)
        alone = np.zeros_like(bread)
        if clustered:
            # Windows scatter around the optimum, which a bound may keep out of reach.
            scores = own.scores(step)
            corrections, alone = _leverage_corrections(own.window_hessians, bread)
            corrected = np.einsum("wij,wj->wi", corrections, scores)
            told = range(chosen.size - 1 if last_only else 0, chosen.size)
            true = np.diag(bread - priors - alone)
            shape = _ClusteredVariance.of(corrections, bread, true, told)
            alone *= self.variance
            data = bread @ (corrected.T @ corrected) @ bread / shape.excess + alone
            dof = shape.dof
        else:
            data = (bread - priors) * self.variance
            dof = np.full(chosen.size, self.dof)
        opened = self._of_what_is_open(chosen, bread)
        total = data + priors + opened
        share = np.diag(priors) / np.maximum(np.diag(total), 1e-300)
        # Satterthwaite (1946): the parts of a variance that are no estimates are known.
        known = np.diag(priors + opened + alone) / np.maximum(np.diag(total), 1e-300)
        return _Part(
            chosen, total, dof / np.maximum(1.0 - known, 1e-6) ** 2, share, step, clustered
        )

    def _of_what_is_open(self, chosen: IndexArray, bread: FloatArray) -> FloatArray:
        """The covariance of the chosen because what is open may be anywhere in its bounds, (k, k).

        They follow it as the data demands. Along each direction it is as uncertain as data, priors
        and a uniform distribution between the bounds leave it, of which the nearest one counts.
        """
        if not self.opened.size or not chosen.size:
            return np.zeros((chosen.size, chosen.size))
        across = self.system.hessian[np.ix_(chosen, self.opened)]
        follows = -bread @ across
        rest = self.system.hessian[np.ix_(self.opened, self.opened)] + across.T @ follows
        values, vectors = np.linalg.eigh(0.5 * (rest + rest.T) / max(self.variance, 1e-300))
        bounds = np.max(vectors**2, axis=0) / UNIFORM**2
        root = vectors / np.sqrt(np.maximum(values, 0.0) + bounds)
        return np.asarray((follows @ root) @ (follows @ root).T)


def _open_directions(hessian: FloatArray, variance: float, precision: FloatArray) -> FloatArray:
    """Unit directions, in bounds' widths, about which data and priors say nothing: (k, p).

    Either the columns of the Jacobian are dependent to its accuracy, or the standard error along
    the direction is as large as that of a uniform distribution between the bounds, so that the
    data says no more than they do. A direction that a prior holds is not open.
    """
    p = hessian.shape[0]
    if p == 0:
        return np.zeros((0, 0))
    # What starts can make up for is left with a rounding error, of either sign. Such parameters
    # are judged one by one: mixed with those that priors hold, they would seem to be held as well.
    lengths = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    heard = lengths > MARGIN * WINDOW_DIFFERENCES * lengths.max()
    own = hessian[np.ix_(heard, heard)]
    found = directions_of_gram(own, WINDOW_DIFFERENCES)
    dependent = found.vectors[found.open] / found.length
    values, vectors = np.linalg.eigh(own)
    vague = vectors.T[values <= variance / UNIFORM**2]
    among_heard = np.eye(p)[heard]
    columns = [
        v / np.linalg.norm(v)
        for v in [*(np.vstack([dependent, vague]) @ among_heard), *np.eye(p)[~heard]]
        if not precision @ v**2 > HELD * max(v @ hessian @ v, 0.0)
    ]
    if not columns:
        return np.zeros((0, p))
    # Both criteria may have found the same direction: keep an orthonormal basis of their span.
    _, singular, basis = np.linalg.svd(np.stack(columns), full_matrices=False)
    directions: FloatArray = basis[singular > 0.1]
    return directions


def involved_in(directions: FloatArray) -> BoolArray:
    """List the parameters that take part in any of the unit ``directions`` (k, p)."""
    involved: BoolArray = np.any(np.abs(directions) > INVOLVED, axis=0)
    return involved


def _leverage_corrections(shares: FloatArray, bread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``K_w = (I - A_w A^-1)^-1`` for every window, in the place of ``A_w``, (n_windows, p, p).

    By the push-through identity ``K_w g_w`` equals CR3's ``J_w^T (I - H_ww)^-1 r_w``, with matrices
    of the parameters' size only.

    Returns:
      The corrections, which leave alone what one window determines by itself; and the part of
      ``A^-1`` that is due to that, (p, p).
    """
    identity = np.eye(bread.shape[0])
    alone = np.zeros_like(bread)
    for share in shares:
        correction = _inverse(identity - share @ bread)
        if correction is None:
            correction, own = _alone(share, bread)
            alone += own
        share[:] = correction
    return shares, alone


def _inverse(matrix: FloatArray) -> FloatArray | None:
    """The inverse of a matrix; ``None`` where it is singular to rounding."""
    with suppress(np.linalg.LinAlgError):
        inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
        if np.linalg.norm(matrix) * np.linalg.norm(inverse) < WELL_CONDITIONED:
            return inverse
    return None


def _alone(share: FloatArray, bread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The correction of a window that alone determines some directions, and their part of A^-1."""
    unit = np.sqrt(np.diag(bread))
    sizes, axes = np.linalg.eigh(bread / np.outer(unit, unit))
    sizes = np.sqrt(np.maximum(sizes, np.finfo(np.float64).eps * sizes[-1]))
    root = unit[:, np.newaxis] * ((axes * sizes) @ axes.T)  # A^-1 is its product with itself
    back = ((axes / sizes) @ axes.T) / unit[:, np.newaxis]
    leverage, vectors = np.linalg.eigh(root.T @ share @ root)
    rest = 1.0 - leverage
    weights = np.where(rest < ALONE, 1.0, 1.0 / np.maximum(rest, ALONE))
    directions = (root @ vectors)[:, rest < ALONE]
    return back @ (vectors * weights) @ vectors.T @ root.T, directions @ directions.T


@dataclass(frozen=True)
class _ClusteredVariance:
    """The distribution of clustered variances under independent noise (Bell & McCaffrey 2002).

    A parameter's variance is estimated by ``sum_w (a_w^T r_w)^2`` with
    ``a_w = (I - H_ww)^-1 J_w A^-1 e_j``. Its terms have the covariance
    ``diag(d) - U A^-1 U^T``, where ``u_w = (K_w - I) e_j`` and
    ``d_w = e_j^T K_w^T A^-1 (K_w - I) e_j``.
    """

    # by how much the estimates are too large on average, (p, p) for covariances: CR3 is where few
    # windows carry the information (Imbens & Kolesar 2016)
    excess: FloatArray
    # Satterthwaite's degrees of freedom, the squared trace of that matrix over its squared
    # Frobenius norm, between one and the number of windows less one, (p,)
    dof: FloatArray

    @classmethod
    def of(
        cls, corrections: FloatArray, bread: FloatArray, true: FloatArray, told: Sequence[int]
    ) -> _ClusteredVariance:
        """That of ``K_w`` by window, (n_windows, p, p), ``A^-1``, and the true variances, (p,).

        Of what one window determines alone the true variance is zero here. It is found for some of
        the parameters, the others keep ones.
        """
        n, p, _ = corrections.shape
        excess, dof = np.ones(p), np.ones(p)
        for j in told:
            u = corrections[:, :, j].copy(order="K")
            u[:, j] -= 1.0
            weighted = u @ bread
            own = np.einsum("wi,wi->w", corrections[:, :, j] @ bread, u)
            shared = np.einsum("wi,wi->w", weighted, u)
            cross = weighted.T @ u
            trace = float(np.sum(own - shared))
            square = float(np.sum(own**2 - 2.0 * own * shared) + np.sum(cross * cross.T))
            if square > 0.0 and true[j] > ALONE * bread[j, j]:
                dof[j] = np.clip(trace**2 / square, 1.0, n - 1.0)
                excess[j] = max(trace / true[j], n / (n - 1.0))
        root = np.sqrt(excess)
        return cls(np.outer(root, root), dof)
