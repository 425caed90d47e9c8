# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The part of every window in an estimate, and how much recordings differ beyond their windows.

To first order an estimate is the sum of what its windows pull it to. Windows of one recording that
pull the same way show an error of the model or of the sensors that is common to them: the variance
with recordings as clusters (Liang & Zeger 1986, corrected for their leverage as in
:mod:`.covariance`) is larger then than that with windows as clusters. Few recordings tell little
about one parameter's ratio of the two, so that it counts for no less than its mean with the median
of all parameters, as if four more recordings had shown that one (Smyth 2004, "Linear models and
empirical Bayes methods", equation 4; Birge 1932 for the factor on the error). The median, as one
that differs, such as an encoder's zero, says nothing of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import ReducedSystem

MIN_RECORDINGS = 2
# Share of what is known of a direction that the other recordings have at least: what one recording
# alone determines has no scatter between them.
LEAST_REST = 0.2
SHARED = 4.0  # degrees of freedom that the median of all parameters is worth


@dataclass(frozen=True)
class Influence:
    """The Newton step of some parameters with the others fixed, and the windows' parts in it."""

    step: FloatArray  # from here to the optimum, (k,)
    # what each window adds to the estimate's error, (n_windows, k); they sum to what the priors
    # pull the other way
    parts: FloatArray


def influence(system: ReducedSystem, chosen: IndexArray) -> Influence:
    """Return the step of the chosen parameters, (k,), and each window's part in it."""
    own = system.of(chosen)
    bread = np.asarray(np.linalg.inv(own.hessian), dtype=float)
    step = -bread @ own.gradient
    return Influence(step, -own.scores(step) @ bread)


def recording_scatter(
    system: ReducedSystem, chosen: IndexArray, errors: FloatArray, recordings: Sequence[object]
) -> FloatArray:
    """Return the factor on each standard error that the scatter between recordings asks for.

    Args:
      system: The Gauss-Newton model at the optimum.
      chosen: The parameters that have an error, (k,); the others count as fixed.
      errors: Their standard errors with windows as clusters, (k,).
      recordings: What each window is a part of, (n_windows,).

    Returns:
      At least one, (k,); ones where there are too few recordings to tell.
    """
    names = list(dict.fromkeys(recordings))
    if len(names) < MIN_RECORDINGS or len(chosen) == 0:
        return np.ones(len(chosen))
    place = np.array([names.index(name) for name in recordings])
    parts, excess = _parts_of_recordings(system, chosen, place)
    ratio = np.sum(parts**2, axis=0) / np.maximum(excess * errors**2, 1e-300)
    own = len(names) - 1.0
    moderated = (SHARED * np.median(ratio) + own * ratio) / (SHARED + own)
    return np.asarray(np.sqrt(np.maximum(1.0, np.maximum(ratio, moderated))))


def _root_of_inverse(hessian: FloatArray) -> FloatArray:
    """A matrix that times its own transpose is the inverse of another, (k, k).

    A direction of which rounding leaves nothing, or less, counts as if it left a rounding error.
    """
    unit = 1.0 / np.sqrt(np.diag(hessian))
    sizes, axes = np.linalg.eigh(hessian * np.outer(unit, unit))
    sizes = np.maximum(sizes, np.finfo(np.float64).eps * sizes[-1])
    return np.asarray(unit[:, np.newaxis] * axes / np.sqrt(sizes))


def _parts_of_recordings(
    system: ReducedSystem, chosen: IndexArray, place: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """The error that each recording adds, corrected for its leverage, (n, k).

    Returns:
      The errors, and by how much the sums of their squares are too large on average, (k,), if the
      noise is independent.
    """
    some = system.of(chosen)
    root = _root_of_inverse(some.hessian)
    scores = some.scores(-root @ (root.T @ some.gradient))
    parts = np.zeros((place.max() + 1, len(chosen)))
    expected = np.zeros(len(chosen))
    for recording in range(len(parts)):
        own = place == recording
        leverage, vectors = np.linalg.eigh(root.T @ some.window_hessians[own].sum(axis=0) @ root)
        weight = 1.0 / np.maximum(1.0 - leverage, LEAST_REST)
        left = weight**2 * leverage * (1.0 - leverage)  # variances along these directions
        expected += (root @ vectors) ** 2 @ np.clip(left, 0.0, None)
        parts[recording] = root @ (vectors @ (weight * (vectors.T @ root.T @ scores[own].sum(0))))
    return parts, expected / np.sum(root**2, axis=1)
