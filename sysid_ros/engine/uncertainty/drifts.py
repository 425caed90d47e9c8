# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that change from the beginning to the end of recordings, as friction that warms up.

Each window's own part of the Gauss-Newton system tells what it alone asks for. A parameter that
goes along a line over each recording is one column more, its own times the window's place there.
The one that explains most is taken first, then the next beside it, as long as they are sure beyond
what windows scatter by (Liang & Zeger 1986).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import ReducedSystem

_FEWEST = 8  # windows of a recording, from which a line through them says something
_SURE = 5.0  # standard errors: many parameters are asked, and motion may change along with time
_MATTERS = 0.1  # of the value


@dataclass(frozen=True)
class Drift:
    """A parameter that changes over the recordings."""

    place: int  # its number
    change: float  # from the beginning to the end, in its unit


def drifts(
    system: ReducedSystem,
    chosen: IndexArray,
    values: FloatArray,
    recordings: Sequence[object],
    starts: FloatArray,
) -> tuple[Drift, ...]:
    """Find the parameters that change over recordings.

    Args:
      system: The Gauss-Newton model at the optimum.
      chosen: The parameters that are determined, (k,); the others count as fixed.
      values: Of the chosen ones, (k,).
      recordings: What each window is a part of, (n_windows,).
      starts: When each begins, (n_windows,) s.
    """
    along = _along(recordings, starts)
    own, kept = system.of(chosen), list[int]()
    if not np.any(along) or not len(chosen):
        return ()
    while len(kept) < len(chosen):
        rest = [j for j in range(len(chosen)) if j not in kept]
        sure = [_changes(own, [*kept, j], along) for j in rest]
        best = int(np.argmax([abs(change[-1]) / error[-1] for change, error in sure]))
        change, error = sure[best]
        places = [*kept, rest[best]]
        least = np.maximum(_SURE * error, _MATTERS * np.abs(values[places]))
        if not np.all(np.abs(change) > least):
            break
        kept = places
    if not kept:
        return ()
    change, _ = _changes(own, kept, along)
    return tuple(
        Drift(int(chosen[j]), float(one)) for j, one in zip(kept, change.tolist(), strict=True)
    )


def _along(recordings: Sequence[object], starts: FloatArray) -> FloatArray:
    """Each window's place along its recording, -0.5 to 0.5; zero where that has few, (n,)."""
    found: FloatArray = np.zeros(len(starts))
    for name in dict.fromkeys(recordings):
        own = np.array([one == name for one in recordings])
        if np.count_nonzero(own) >= _FEWEST and np.ptp(starts[own]) > 0.0:
            found[own] = (starts[own] - starts[own].min()) / np.ptp(starts[own]) - 0.5
    return found


def _changes(
    own: ReducedSystem, places: Sequence[int], along: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The changes of some parameters beside all values, with their standard errors, (c,) each."""
    k, n = len(own.gradient), len(along)
    spread = np.zeros((n, k, k + len(places)))  # from values and changes to those of a window
    spread[:, :, :k] = np.eye(k)
    for c, place in enumerate(places):
        spread[:, place, k + c] = along
    hessians = np.einsum("nia,nij,njb->nab", spread, own.window_hessians, spread, optimize=True)
    gradients = np.einsum("nia,ni->na", spread, own.window_gradients)
    total = hessians.sum(axis=0)
    total[:k, :k] += own.hessian - own.window_hessians.sum(axis=0)  # priors
    slope = gradients.sum(axis=0)
    slope[:k] += own.gradient - own.window_gradients.sum(axis=0)
    size = np.sqrt(np.maximum(np.diag(total), 1e-300))
    inverse = np.linalg.pinv(total / np.outer(size, size)) / np.outer(size, size)
    step = -inverse @ slope
    scores = (gradients + hessians @ step) @ inverse
    error = np.sqrt(np.sum(scores**2, axis=0) * n / max(n - 1.0, 1.0))
    return step[k:], np.maximum(error[k:], 1e-300)
