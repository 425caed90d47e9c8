# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Uncertainty of the parameters: covariance, intervals and what the data leaves open.

The clustered covariance lets residuals be correlated and of unequal size inside a window and asks
only that windows are independent (Liang & Zeger 1986). Each window's score is corrected for its
own leverage, the jackknife-like CR3 estimator of Bell & McCaffrey (2002). The quantiles are
Student's t with their degrees of freedom for each parameter, at most one less than windows: where
few windows carry the information, as those in which a joint with dry friction turns around, the
variance itself is uncertain. The white-noise covariance is the classical one and honest only if
residuals are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import ReducedSystem
from sysid_ros.engine.uncertainty.rank import MARGIN, WINDOW_DIFFERENCES, directions_of_gram

MIN_CLUSTERS = 6
# A direction whose standard error reaches this share of the bounds' width is open: it is the
# standard deviation of a uniform distribution, so the data says no more than the bounds.
OPEN_ERROR = 1.0 / np.sqrt(12.0)
# Share in a unit direction above which a parameter counts as part of it.
INVOLVED = 0.1


@dataclass(frozen=True)
class Covariance:
    """Covariance of the free parameters.

    Attributes:
      matrix: Shape (p, p); rows and columns of parameters without a claim are NaN.
      dof: Degrees of freedom of the t quantiles, (p,).
      method: ``"clustered"`` by window, by ``"blocks"`` inside windows, or ``"white"``.
      singular_values: Of the Jacobian with columns scaled to the width of the bounds, descending.
      open_directions: Unit vectors in scaled parameters that the data leaves open, (k, p).
    """

    matrix: FloatArray
    dof: FloatArray
    method: str
    singular_values: FloatArray
    open_directions: FloatArray


def enough_clusters(clusters: int, parameters: int) -> bool:
    """Return whether so many clusters can show how much so many parameters vary."""
    return clusters >= max(MIN_CLUSTERS, parameters + 2)


def no_covariance(p: int) -> Covariance:
    """No claim about any of ``p`` parameters, for a fit that never got to a Jacobian."""
    return Covariance(np.full((p, p), np.nan), np.ones(p), "none", np.zeros(0), np.zeros((0, p)))


def covariance(
    system: ReducedSystem,
    width: FloatArray,
    free: npt.NDArray[np.bool_],
    *,
    method: str,
    n_samples: int,
    residual_square: float,
) -> Covariance:
    """Covariance at the optimum.

    Args:
      system: The Gauss-Newton model there, starts eliminated.
      width: Distance of each parameter's bounds, or its magnitude where they are infinite, (p,).
      free: Parameters strictly inside their bounds, (p,); the others count as fixed.
      method: ``"clustered"`` or ``"white"``; too few windows fall back to white.
      n_samples: Number of residuals.
      residual_square: Sum of squared residuals in units of noise.

    Returns:
      Covariance with NaN for parameters at a bound or in an open direction.
    """
    p = width.size
    dof = np.full(p, float(max(1, n_samples - p)))
    variance = residual_square / max(1, n_samples - p)
    scaling = np.outer(width, width)
    hessian = system.hessian * scaling
    open_directions = _open_directions(hessian, variance)
    involved = involved_in(open_directions)
    closed = np.flatnonzero(free & ~involved)
    keep = np.ix_(closed, closed)
    # What is open must stay out of the inverse, where it would drown everything else; what it is
    # correlated with is thereby judged with it fixed.
    bread = np.asarray(np.linalg.inv(hessian[keep]), dtype=float)
    n_clusters = len(system.window_gradients)
    clustered = method == "clustered" and enough_clusters(n_clusters, closed.size)
    if clustered:
        shares = (system.window_hessians * scaling)[:, closed][:, :, closed]
        scores = (system.window_gradients * width)[:, closed]
        corrections = _leverage_corrections(shares, bread)
        corrected = np.einsum("wij,wj->wi", corrections, scores)
        scaled = bread @ (corrected.T @ corrected) @ bread * (n_clusters - 1) / n_clusters
        dof[closed] = _degrees_of_freedom(corrections, bread)
    else:
        scaled = bread * variance
    matrix = np.full((p, p), np.nan)
    matrix[keep] = scaled * scaling[keep]
    return Covariance(
        matrix,
        dof,
        "clustered" if clustered else "white",
        np.sqrt(np.maximum(np.linalg.eigvalsh(hessian)[::-1], 0.0)),
        open_directions,
    )


def _open_directions(hessian: FloatArray, variance: float) -> FloatArray:
    """Unit directions, in bounds' widths, about which the data says nothing: (k, p).

    Either the columns of the Jacobian are dependent to its accuracy, or the standard error along
    the direction is no smaller than the bounds allow anyway.
    """
    p = hessian.shape[0]
    if p == 0:
        return np.zeros((0, 0))
    lengths = np.sqrt(np.diag(hessian))
    heard = lengths > MARGIN * WINDOW_DIFFERENCES * lengths.max()
    found = directions_of_gram(hessian * np.outer(heard, heard), WINDOW_DIFFERENCES)
    dependent = list(found.vectors[found.open] / found.length)
    values, vectors = np.linalg.eigh(hessian)
    vague = [vectors[:, i] for i in np.flatnonzero(values <= variance / OPEN_ERROR**2)]
    if not dependent and not vague:
        return np.zeros((0, p))
    columns = np.stack([v / np.linalg.norm(v) for v in [*dependent, *vague]])
    # Both criteria may have found the same direction: keep an orthonormal basis of their span.
    _, singular, basis = np.linalg.svd(columns, full_matrices=False)
    directions: FloatArray = basis[singular > 0.1]
    return directions


def involved_in(directions: FloatArray) -> npt.NDArray[np.bool_]:
    """List the parameters that take part in any of the unit ``directions`` (k, p)."""
    involved: npt.NDArray[np.bool_] = np.any(np.abs(directions) > INVOLVED, axis=0)
    return involved


def _leverage_corrections(shares: FloatArray, bread: FloatArray) -> FloatArray:
    """``K_w = (I - A_w A^-1)^-1`` for every window, (n_windows, p, p).

    By the push-through identity ``K_w g_w`` equals CR3's ``J_w^T (I - H_ww)^-1 r_w``, with matrices
    of the parameters' size only.
    """
    identity = np.eye(bread.shape[0])
    return np.stack(
        [np.linalg.lstsq(identity - share @ bread, identity, rcond=None)[0] for share in shares]
    )


def _degrees_of_freedom(corrections: FloatArray, bread: FloatArray) -> FloatArray:
    """Satterthwaite's degrees of freedom of each parameter's variance (Bell & McCaffrey 2002).

    Under independent noise, a parameter's variance is estimated by ``sum_w (a_w^T r_w)^2`` with
    ``a_w = (I - H_ww)^-1 J_w A^-1 e_j``. Its terms have the covariance
    ``diag(d) - U A^-1 U^T``, where ``u_w = (K_w - I) e_j`` and
    ``d_w = e_j^T K_w^T A^-1 (K_w - I) e_j``; the degrees of freedom are the squared trace of that
    matrix over its squared Frobenius norm.

    Args:
      corrections: ``K_w`` by window, (n_windows, p, p).
      bread: ``A^-1``, (p, p).

    Returns:
      Between one and the number of windows less one, (p,).
    """
    n, p, _ = corrections.shape
    excess = corrections - np.eye(p)
    dof = np.ones(p)
    for j in range(p):
        u = excess[:, :, j]
        weighted = u @ bread
        own = np.einsum("wi,wi->w", corrections[:, :, j] @ bread, u)
        shared = np.einsum("wi,wi->w", weighted, u)
        cross = weighted.T @ u
        trace = float(np.sum(own - shared))
        square = float(np.sum(own**2 - 2.0 * own * shared) + np.sum(cross * cross.T))
        dof[j] = np.clip(trace**2 / square, 1.0, n - 1.0) if square > 0.0 else 1.0
    return dof
