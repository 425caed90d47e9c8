# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From shares of information to values with standard errors, flags and remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import ReducedSystem, bounded_quadratic_step
from sysid_ros.engine.moving_horizon.arrival_cost import Share
from sysid_ros.engine.parameters import Bounds, ParameterDict, priors
from sysid_ros.engine.problem import sums_by_signal
from sysid_ros.engine.uncertainty import Covariance, covariance

FEWEST = 3  # windows from which on there are intervals
EVERY = 0.25  # s between covariances
EXCESS = 2.0  # times its noise: a residual that noise does not explain

Spread = tuple[Covariance, bool]  # and whether it is what the fit would report


def optimum(bounds: Bounds, gram: FloatArray, theta: FloatArray) -> FloatArray:
    """The minimum of a quadratic function within bounds, (p,).

    Args:
      bounds: Of the parameters.
      gram: ``[J r]^T [J r]`` at ``theta``, (p + 1, p + 1).
      theta: Shape (p,).
    """
    p = theta.size
    low, high = bounds.lower - theta, bounds.upper - theta
    moved: FloatArray = theta + bounded_quadratic_step(gram[:p, :p], gram[:p, p], low, high)
    return moved


def apart(
    bounds: Bounds,
    one: FloatArray,
    other: FloatArray,
    errors: FloatArray,
    limit: tuple[float, float],
) -> bool:
    """Return whether points differ by more than some magnitudes and standard errors."""
    least = np.maximum(limit[0] * bounds.scale_at(other), limit[1] * errors)
    return bool(np.any(np.abs(one - other) > least))


def pull(mean: FloatArray, precision: FloatArray, theta: FloatArray) -> FloatArray:
    """Draw parameters to a mean with a precision, (p,): ``[J r]^T [J r]`` but for its last entry.

    Returns:
      Shape (p + 1, p + 1).
    """
    gradient = np.append(precision * (theta - mean), 0.0)
    gram = np.diag(np.append(precision, 0.0))
    gram[-1], gram[:, -1] = gradient, gradient
    return gram


def settled_covariance(
    params: ParameterDict,
    theta: FloatArray,
    clusters: Sequence[Share],
    windows: Sequence[Share],
    method: str,
    noise: Mapping[str, float],
    *,
    enough: bool,
) -> Spread:
    """Return the covariance, and whether it is what the fit would report.

    Args:
      params: The parameters.
      theta: The optimum, (p,).
      clusters: All that is known, by window, or by block of time where windows are few.
      windows: All that is known, by window.
      method: ``"clustered"`` or ``"white"``.
      noise: Level of every signal, in its unit.
      enough: Whether there are enough windows to see how they scatter.
    """
    found = covariance_of(params, theta, clusters, method, noise)
    settled = found.method == method and enough
    if method == "clustered" and not settled:
        found = widened(found, windows, theta)
    return found, settled


class KeptSpread:
    """The latest covariance, found anew now and then: it takes longer than the estimate."""

    def __init__(self) -> None:
        self._latest: tuple[float, int, Spread] | None = None

    def at(self, time: float, place: int, make: Callable[[], Spread], *, anew: bool) -> Spread:
        """The covariance at an instant.

        Args:
          time: The instant, s.
          place: Another number wherever the estimate has been searched for.
          make: Finds it anew.
          anew: Whether it must be.
        """
        kept = self._latest
        if anew or kept is None or kept[1] != place or not 0.0 <= time - kept[0] < EVERY:
            self._latest = kept = (time, place, make())
        return kept[2]


def covariance_of(
    params: ParameterDict,
    theta: FloatArray,
    shares: Sequence[Share],
    method: str,
    noise: Mapping[str, float],
) -> Covariance:
    """Return the covariance that the fit would report at an optimum, (p,), from all that is known.

    It is ``"clustered"`` by share, or ``"white"``.
    """
    _, precision = priors(params)
    hessians = np.stack([share.hessian for share in shares])
    gradients = np.stack([share.gradient_at(theta) for share in shares])
    system = ReducedSystem(
        hessians.sum(axis=0) + np.diag(precision), gradients.sum(axis=0), hessians, gradients
    )
    squares = sums_by_signal(share.squares for share in shares)
    return covariance(
        system,
        params.bounds.width,
        params.bounds.free(theta),
        method=method,
        n_samples=round(sum(count for _, count in squares.values())),
        residual_square=sum(square / noise[name] ** 2 for name, (square, _) in squares.items()),
        prior=precision,
    )


def widened(found: Covariance, windows: Sequence[Share], theta: FloatArray) -> Covariance:
    """A covariance that holds with so few windows that each one's scatter cannot be told.

    Blocks inside windows do not show noise that outlasts them. How much larger the windows' scores
    are than independent noise makes them, in the mean over all directions, is one number, which a
    few windows do tell. Errors are at least those of independent noise times its root. Quantiles
    have half the degrees of freedom that independent clusters would leave, as neighbours are tied
    to each other (Cameron & Miller 2015 for few clusters): two are taken off the number, for the
    mean and for the noise that goes on from the last window.

    Returns:
      One without any claim where windows are fewer than three.
    """
    count, p = len(windows), theta.size
    if count < FEWEST:
        return replace(
            found, matrix=np.full((p, p), np.nan), errors=np.full(p, np.nan), dof=np.ones(p)
        )
    claimed = np.isfinite(found.errors)
    scores = np.stack([share.gradient_at(theta)[claimed] for share in windows])
    scores -= scores.mean(axis=0)
    whole = np.sum([share.hessian for share in windows], axis=0)
    hessian = whole[np.ix_(claimed, claimed)]
    scale = 1.0 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    inverse = np.outer(scale, scale) * np.linalg.pinv(hessian * np.outer(scale, scale))
    excess = np.einsum("wi,ij,wj->", scores, inverse, scores) / max(claimed.sum(), 1)
    excess *= count / (count - 1)
    least = np.sqrt(np.maximum(np.diag(inverse), 0.0) * max(float(excess), 1.0))
    factor = np.ones(p)
    factor[claimed] = np.maximum(least / np.maximum(found.errors[claimed], 1e-300), 1.0)
    return replace(
        found,
        matrix=found.matrix * np.outer(factor, factor),
        errors=found.errors * factor,
        dof=np.minimum(found.dof, max(0.5 * (count - 2), 1.0)),
    )


def noise_levels(
    shares: Sequence[Share], parameters: int, least: Mapping[str, float]
) -> dict[str, float]:
    """Root mean square of what stays unexplained, by signal, in its unit."""
    squares = sums_by_signal(share.squares for share in shares)
    total = sum(count for _, count in squares.values())
    correction = total / max(1.0, total - parameters)
    return {
        name: max(float(np.sqrt(correction * square / count)), least[name])
        for name, (square, count) in squares.items()
        if count > 0.0
    }


def unexplained(levels: Mapping[str, float], noise: Mapping[str, float]) -> tuple[str, ...]:
    """Sentences on signals whose residual is larger than their noise.

    Args:
      levels: Of the residual, by signal.
      noise: Of the signal, by signal, where it is known.
    """
    return tuple(
        f"{name}: the model leaves {level / noise[name]:.2g} times the noise of the signal"
        for name, level in levels.items()
        if name in noise and level > EXCESS * noise[name]
    )
