# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The part of every window in an estimate, and how much recordings differ beyond their windows.

To first order an estimate is the sum of what its windows pull it to. Windows of one recording that
pull the same way show an error of the model or of the sensors that is common to them: the variance
between recordings is larger then than the one that windows by themselves explain. Few recordings
tell little about one parameter's ratio of the two, so that it is moderated by the mean ratio of all
parameters, as if four more recordings had shown that one (Smyth 2004, "Linear models and empirical
Bayes methods", equation 4; Birge 1932 for the factor on the error).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import ReducedSystem

MIN_RECORDINGS = 3
SHARED = 4.0  # degrees of freedom that the mean of all parameters is worth


@dataclass(frozen=True)
class Influence:
    """The Newton step of some parameters with the others fixed, and the windows' parts in it.

    Attributes:
      step: From here to the optimum, (k,).
      parts: What each window adds to the estimate's error, (n_windows, k); they sum to what the
        priors pull the other way.
    """

    step: FloatArray
    parts: FloatArray


def influence(system: ReducedSystem, chosen: npt.NDArray[np.intp]) -> Influence:
    """Return the step of the chosen parameters, (k,), and each window's part in it."""
    keep = np.ix_(chosen, chosen)
    bread = np.asarray(np.linalg.inv(system.hessian[keep]), dtype=float)
    step = -bread @ system.gradient[chosen]
    shares = system.window_hessians[:, chosen][:, :, chosen]
    scores = system.window_gradients[:, chosen] + shares @ step
    return Influence(step, -scores @ bread)


def recording_scatter(found: Influence, recordings: Sequence[object]) -> FloatArray:
    """Return the factor on each standard error that the scatter between recordings asks for.

    Args:
      found: The windows' parts in the estimate.
      recordings: What each window is a part of, (n_windows,).

    Returns:
      At least one, (k,); ones where there are too few recordings to tell.
    """
    names = list(dict.fromkeys(recordings))
    k = found.parts.shape[1]
    if len(names) < MIN_RECORDINGS or k == 0 or len(names) == len(recordings):
        return np.ones(k)
    place = np.array([names.index(name) for name in recordings])
    sums = np.zeros((len(names), k))
    np.add.at(sums, place, found.parts)
    between = _variance(sums)
    ratio = between / np.maximum(_variance(found.parts), 1e-300)
    own = len(names) - 1.0
    moderated = (SHARED * np.mean(ratio) + own * ratio) / (SHARED + own)
    return np.asarray(np.sqrt(np.maximum(1.0, moderated)))


def _variance(parts: FloatArray) -> FloatArray:
    """The variance of the sum of independent parts, (k,), corrected for few of them."""
    return np.asarray(len(parts) / max(1, len(parts) - 1) * np.sum(parts**2, axis=0))
