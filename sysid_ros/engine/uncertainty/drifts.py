# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that change within recordings: along a line, or at once.

Friction that warms up does the former; a drive that is tuned anew, or a load that is taken up, the
latter. Each window's own part of the Gauss-Newton system tells what it alone asks for. A parameter
that changes is one column more, its own times the window's place on the line, or times one from
some instant on. The one that is surest beyond what windows scatter by is taken first (Liang & Zeger
1986), then the next beside it on the same course, as long as they are sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import ReducedSystem

_FEWEST = 8  # windows of a recording, from which on something may change within it
_PART = 4  # windows before an instant at which it changes, and after
_SURE = 5.0  # standard errors: many parameters are asked, and motion may change along with time
_SURE_AT_ONCE = 10.0  # the same where many instants are asked as well, and motion may change there
_MATTERS = 0.1  # of the value
_OPEN = 1e-6  # share of a column that nothing else explains, below which nothing is known of it


@dataclass(frozen=True)
class Drift:
    """A parameter that changes over the recordings.

    Attributes:
      place: Its number.
      before: By how much it is off its estimate at first, in its unit.
      after: The same in the end.
      window: The number of the first window after the change; ``None`` where that is gradual.
    """

    place: int
    before: float
    after: float
    window: int | None = None


@dataclass(frozen=True)
class _Course:
    """The share of a change that each window has."""

    along: FloatArray  # (n_windows,), about zero
    window: int | None = None  # the first after a change that happens at once

    @property
    def sure(self) -> float:
        """The standard errors from which on a change is none by chance."""
        return _SURE if self.window is None else _SURE_AT_ONCE


def drifts(
    system: ReducedSystem,
    chosen: IndexArray,
    values: FloatArray,
    recordings: Sequence[object],
    starts: FloatArray,
) -> tuple[Drift, ...]:
    """Find the parameters that change over recordings, all on one course.

    Args:
      system: The Gauss-Newton model at the optimum.
      chosen: The parameters that are determined, (k,); the others count as fixed.
      values: Of the chosen ones, (k,).
      recordings: What each window is a part of, (n_windows,).
      starts: When each begins, (n_windows,) s.
    """
    line = _Course(_along(recordings, starts))
    if not np.any(line.along) or not len(chosen):
        return ()
    own = system.of(chosen)
    for course in _surest_first(own, line, [*_steps(recordings, starts)]):
        if places := _changing(own, values, course):
            change, _ = _changes(own, places, course.along)
            first, last = float(course.along.min()), float(course.along.max())
            return tuple(
                Drift(int(chosen[j]), first * one, last * one, course.window)
                for j, one in zip(places, change.tolist(), strict=True)
            )
    return ()


def _changing(own: ReducedSystem, values: FloatArray, course: _Course) -> list[int]:
    """The parameters that change on a course, the surest first."""
    kept: list[int] = []
    while len(kept) < len(values):
        rest = [j for j in range(len(values)) if j not in kept]
        sure = [_changes(own, [*kept, j], course.along) for j in rest]
        best = int(np.argmax([abs(change[-1]) / error[-1] for change, error in sure]))
        change, error = sure[best]
        places = [*kept, rest[best]]
        least = np.maximum(course.sure * error, _MATTERS * np.abs(values[places]))
        if not np.all(np.abs(change) > least):
            break
        kept = places
    return kept


def _along(recordings: Sequence[object], starts: FloatArray) -> FloatArray:
    """Each window's place along its recording, -0.5 to 0.5; zero where that has few, (n,)."""
    found: FloatArray = np.zeros(len(starts))
    for own in _long_enough(recordings, starts):
        found[own] = (starts[own] - starts[own].min()) / np.ptp(starts[own]) - 0.5
    return found


def _steps(recordings: Sequence[object], starts: FloatArray) -> Iterator[_Course]:
    """Changes at once, at each instant between enough windows of a recording."""
    for own in _long_enough(recordings, starts):
        order = own[np.argsort(starts[own])]
        for k in range(_PART, len(order) - _PART + 1):
            along: FloatArray = np.full(len(starts), (k - len(order)) / len(starts))
            along[order[k:]] += 1.0
            yield _Course(along, int(order[k]))


def _long_enough(recordings: Sequence[object], starts: FloatArray) -> Iterator[IndexArray]:
    """The numbers of the windows of each recording that has enough of them."""
    for name in dict.fromkeys(recordings):
        own = np.flatnonzero([one == name for one in recordings])
        if len(own) >= _FEWEST and np.ptp(starts[own]) > 0.0:
            yield own


def _surest_first(own: ReducedSystem, line: _Course, steps: Sequence[_Course]) -> list[_Course]:
    """The line and the step on which one parameter's change is surest, the others' values free.

    Of all steps those are tried that explain most of a parameter.
    """
    every = range(len(own.gradient))
    telling = np.argmax([_explained(own, one.along) for one in steps], axis=0)
    on_line = max(_sureness(own, j, line) for j in every)
    at_once, step = max(
        ((_sureness(own, j, steps[k]), steps[k]) for j, k in enumerate(telling.tolist())),
        key=lambda one: one[0],
    )
    return [step, line] if at_once > on_line else [line, step]


def _sureness(own: ReducedSystem, place: int, course: _Course) -> float:
    """A parameter's change in standard errors."""
    change, error = _changes(own, [place], course.along)
    return float(abs(change[0]) / error[0])


def _explained(own: ReducedSystem, along: FloatArray) -> FloatArray:
    """The part of the cost that a change of each parameter alone would explain, (k,)."""
    mixed = np.einsum("n,nij->ij", along, own.window_hessians)
    inverse = np.linalg.pinv(own.hessian, hermitian=True) @ mixed
    whole = np.einsum("n,nii->i", along**2, own.window_hessians)
    left = whole - np.sum(mixed * inverse, axis=0)
    slope = along @ own.window_gradients - own.gradient @ inverse
    return np.where(left > _OPEN * whole, slope**2 / np.maximum(left, 1e-300), 0.0)


def _changes(
    own: ReducedSystem, places: Sequence[int], along: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The changes of some parameters beside all values, with their standard errors, (c,) each."""
    k, n, chosen = len(own.gradient), len(along), [*places]
    mixed = np.einsum("n,nij->ij", along, own.window_hessians[:, :, chosen])
    between = np.einsum("n,nij->ij", along**2, own.window_hessians[:, chosen][:, :, chosen])
    total = np.block([[own.hessian, mixed], [mixed.T, between]])
    slope = np.append(own.gradient, along @ own.window_gradients[:, chosen])
    size = np.sqrt(np.maximum(np.diag(total), 1e-300))
    inverse = np.linalg.pinv(total / np.outer(size, size)) / np.outer(size, size)
    step = -inverse @ slope
    moved = np.tile(step[:k], (n, 1))  # each window's values, from where they are
    moved[:, chosen] += along[:, None] * step[k:]
    left = own.window_gradients + np.einsum("nij,nj->ni", own.window_hessians, moved)
    scores = np.hstack([left, along[:, None] * left[:, chosen]]) @ inverse
    error = np.sqrt(np.sum(scores**2, axis=0) * n / max(n - 1.0, 1.0))
    return step[k:], np.maximum(error[k:], 1e-300)
