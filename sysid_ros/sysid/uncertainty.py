"""How well the data determines the parameters: covariance, intervals and what stays open.

The clustered covariance lets residuals be correlated and of unequal size inside a window and asks
only that windows are independent (Liang & Zeger 1986). Each window's score is corrected for its
own leverage, the jackknife-like CR3 estimator of Bell & McCaffrey (2002); with G windows the
quantiles are Student's t with G - 1 degrees of freedom. The white-noise covariance is the
classical one and honest only if residuals are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.solver import ReducedSystem

FloatArray = npt.NDArray[np.float64]

MIN_CLUSTERS = 6
# A direction whose standard error reaches this share of the bounds' width is open: it is the
# standard deviation of a uniform distribution, so the data says no more than the bounds.
OPEN_ERROR = 1.0 / np.sqrt(12.0)
# With columns of unit length, an eigenvalue below this is zero up to finite differences.
RANK_TOLERANCE = 1e-9
# Share in a unit direction above which a parameter counts as part of it.
INVOLVED = 0.1


@dataclass(frozen=True)
class Covariance:
    """Covariance of the free parameters.

    Attributes:
      matrix: Shape (p, p); rows and columns of parameters without a claim are NaN.
      dof: Degrees of freedom of the t quantiles.
      method: ``"clustered"`` or ``"white"``.
      singular_values: Of the Jacobian with columns scaled to the width of the bounds, descending.
      open_directions: Unit vectors in scaled parameters that the data leaves open, (k, p).
    """

    matrix: FloatArray
    dof: float
    method: str
    singular_values: FloatArray
    open_directions: FloatArray


def no_covariance(p: int) -> Covariance:
    """No claim about any of ``p`` parameters, for a fit that never got to a Jacobian."""
    return Covariance(np.full((p, p), np.nan), 1.0, "none", np.zeros(0), np.zeros((0, p)))


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
    dof = float(max(1, n_samples - p))
    variance = residual_square / dof
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
    clustered = method == "clustered" and n_clusters >= max(MIN_CLUSTERS, closed.size + 2)
    if clustered:
        dof = float(n_clusters - 1)
        shares = (system.window_hessians * scaling)[:, closed][:, :, closed]
        scores = (system.window_gradients * width)[:, closed]
        scaled = bread @ _leverage_corrected_meat(shares, scores, bread) @ bread
        scaled *= (n_clusters - 1) / n_clusters
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

    Either the columns of the Jacobian are dependent (up to finite differences), or the standard
    error along the direction is no smaller than the bounds allow anyway.
    """
    p = hessian.shape[0]
    if p == 0:
        return np.zeros((0, 0))
    length = np.sqrt(np.diag(hessian))
    silent = length <= np.sqrt(RANK_TOLERANCE) * max(length.max(), 1e-300)
    length = np.where(silent, 1.0, length)
    values, vectors = np.linalg.eigh(hessian / np.outer(length, length))
    dependent = [vectors[:, i] / length for i in np.flatnonzero(values <= RANK_TOLERANCE)]
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
    """Which parameters take part in any of the unit ``directions`` (k, p)."""
    involved: npt.NDArray[np.bool_] = np.any(np.abs(directions) > INVOLVED, axis=0)
    return involved


def _leverage_corrected_meat(
    shares: FloatArray, scores: FloatArray, bread: FloatArray
) -> FloatArray:
    """Sum over windows of ``s s^T`` with ``s = (I - A_w A^-1)^-1 g_w``.

    By the push-through identity this equals CR3's ``J_w^T (I - H_ww)^-1 r_w``, with matrices of
    the parameters' size only.
    """
    identity = np.eye(bread.shape[0])
    corrected = np.stack(
        [
            np.linalg.lstsq(identity - share @ bread, score, rcond=None)[0]
            for share, score in zip(shares, scores, strict=True)
        ]
    )
    meat: FloatArray = corrected.T @ corrected
    return meat


def describe_open_directions(
    covariance: Covariance, names: Sequence[str], values: FloatArray, width: FloatArray
) -> tuple[str, ...]:
    """Say in words which combinations of parameters the data leaves open.

    Args:
      covariance: With its open directions.
      names: Parameter names, (p,).
      values: Their values, (p,).
      width: The width of their bounds, (p,).

    Returns:
      One sentence per open direction, without its full stop.
    """
    sentences = []
    for direction in covariance.open_directions:
        members = [int(i) for i in np.flatnonzero(np.abs(direction) > INVOLVED)]
        if len(members) == 1:
            sentences.append(
                f"the data says nothing about {names[members[0]]}; freeze it, or excite it"
            )
            continue
        changes = _joint_change(direction * width, values, names, members)
        sentences.append(
            f"only a combination of {', '.join(names[i] for i in members)} is determined: changing "
            f"{changes} together leaves every signal as it is; fix one of them, give it a prior, "
            "or add a recording with a known payload"
        )
    return tuple(sentences)


def _joint_change(
    change: FloatArray, values: FloatArray, names: Sequence[str], members: Sequence[int]
) -> str:
    """A small step along an open direction, such as ``mass by +10 %, gear by +9.8 %``."""
    size = np.where(values != 0.0, np.abs(values), np.abs(change))
    step = 10.0 / max(abs(change[i]) / size[i] for i in members)
    return ", ".join(
        f"{names[i]} by {step * change[i] / size[i]:+.2g} %"
        if values[i] != 0.0
        else f"{names[i]} by {step / 100 * change[i]:+.2g}"
        for i in members
    )
