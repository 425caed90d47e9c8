# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that change within recordings: along a line, or at once.

Friction that warms up does the former; a drive that is tuned anew, or a load that is taken up, the
latter. Each window's own part of the Gauss-Newton system tells what it alone asks for. A parameter
that changes is one column more, its own times the window's place on the line, or times one from
some instant on, beside one for all of that recording, which may differ from the others. The one
that is surest beyond what windows scatter by is taken first (Liang & Zeger 1986), then the next
beside it on the same course, as long as they are sure. Few windows scatter by little, by chance: a
change is none that only one or two tell, as of a joint that hardly moves in the others, and one
that a few tell has to be surer, by Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import ReducedSystem

_FEWEST = 8  # windows of a recording, from which on something may change within it
_PART = 4  # windows before an instant at which it changes, and after
_SURE = 5.0  # standard errors: many parameters are asked, and motion may change along with time
_SURE_AT_ONCE = 10.0  # the same where many instants are asked as well, and motion may change there
_CHANCE = 0.02  # that any parameter of a fit seems to change
_MATTERS = 0.1  # of the value
# Windows at the least that tell a change, before it and after, counted as equals; of a line, of
# which those at its ends know most, two of four.
_TELLING, _TELLING_LINE = 3.0, 2.0
_ALIKE = 4.0  # ratio of what windows before and after know at the most, where motion goes on
_CLOSED = 1e-12  # of the largest curvature, below which a direction counts as unknown
_OPEN = 1e-6  # share of a column that nothing else explains, below which nothing is known of it


@dataclass(frozen=True)
class Drift:
    """A parameter that changes over the recordings."""

    place: int  # its number
    before: float  # by how much it is off its estimate at first, in its unit
    after: float  # the same in the end
    # the number of the first window after the change; ``None`` where that is gradual
    window: int | None = None
    # whether windows before and after know much the same of it: where they do not, motion changed,
    # which changes the part that takes what a model lacks
    alike: bool = True


@dataclass(frozen=True)
class _Course:
    """The share of a change that each window has, zero in other recordings.

    What is ``beside`` it may change as well: all of a recording.
    """

    along: FloatArray  # (n_windows,), about zero
    window: int | None = None  # the first after a change that happens at once
    beside: FloatArray | None = None  # (n_windows,)

    @property
    def sure(self) -> float:
        """The standard errors from which on a change is none by chance."""
        return _SURE if self.window is None else _SURE_AT_ONCE

    @property
    def telling(self) -> float:
        """The windows on either side that have to tell of it."""
        return _TELLING_LINE if self.window is None else _TELLING


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
            found = _changes(own, places, course)
            first, last = float(course.along.min()), float(course.along.max())
            ends = (found.offset + at * found.change for at in (first, last))
            return tuple(
                Drift(int(chosen[j]), before, after, course.window, _knows_as_much(own, j, course))
                for j, before, after in zip(places, *(end.tolist() for end in ends), strict=True)
            )
    return ()


def _changing(own: ReducedSystem, values: FloatArray, course: _Course) -> list[int]:
    """The parameters that change on a course, the surest first."""
    kept: list[int] = []
    while len(kept) < len(values):
        rest = [j for j in range(len(values)) if j not in kept]
        sure = [_changes(own, [*kept, j], course) for j in rest]
        best = int(np.argmax([abs(one.change[-1]) / one.error[-1] for one in sure]))
        places, found = [*kept, rest[best]], sure[best]
        least = np.maximum(course.sure * found.error, _MATTERS * np.abs(values[places]))
        if not np.all(np.abs(found.change) > least):
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
        whole: FloatArray = np.zeros(len(starts))
        whole[own] = 1.0
        beside = None if np.all(whole) else whole
        for k in range(_PART, len(order) - _PART + 1):
            along = (k / len(order) - 1.0) * whole
            along[order[k:]] += 1.0
            yield _Course(along, int(order[k]), beside)


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
    found = _changes(own, [place], course)
    return float(abs(found.change[0]) / found.error[0])


def _explained(own: ReducedSystem, along: FloatArray) -> FloatArray:
    """The part of the cost that a change of each parameter alone would explain, (k,)."""
    mixed = np.einsum("n,nij->ij", along, own.window_hessians)
    inverse = np.linalg.pinv(own.hessian, hermitian=True) @ mixed
    whole = np.einsum("n,nii->i", along**2, own.window_hessians)
    left = whole - np.sum(mixed * inverse, axis=0)
    slope = along @ own.window_gradients - own.gradient @ inverse
    return np.where(left > _OPEN * whole, slope**2 / np.maximum(left, 1e-300), 0.0)


@dataclass(frozen=True)
class _Changes:
    """The changes of some parameters, (c,), over a course."""

    change: FloatArray
    # standard error, larger as fewer windows tell it, infinite where too few do
    error: FloatArray
    offset: FloatArray  # of the value where the course is zero, from its estimate


def _changes(own: ReducedSystem, places: Sequence[int], course: _Course) -> _Changes:
    """The changes of some parameters beside all values."""
    k, n, c = len(own.gradient), len(course.along), len(places)
    columns = [course.along] if course.beside is None else [course.along, course.beside]
    weights, chosen = np.repeat(columns, c, axis=0).T, [*places] * len(columns)
    hessians, gradients = own.window_hessians, own.window_gradients
    mixed = np.einsum("na,nia->ia", weights, hessians[:, :, chosen])
    between = hessians[:, chosen][:, :, chosen]
    knows = between[:, range(c), range(c)] * (course.along != 0.0)[:, None]
    between = np.einsum("na,nab,nb->ab", weights, between, weights)
    total = np.block([[own.hessian, mixed], [mixed.T, between]])
    slope = np.append(own.gradient, np.einsum("na,na->a", weights, gradients[:, chosen]))
    size = np.sqrt(np.maximum(np.diag(total), 1e-300))
    scaled = total / np.outer(size, size)
    inverse = np.linalg.pinv(scaled, rcond=_CLOSED, hermitian=True) / np.outer(size, size)
    step = -inverse @ slope
    # Each window's values, from where they are, and what it has of each change.
    moves = np.column_stack([step, inverse[:, k : k + c]])
    of_window = np.tile(moves[:k], (n, 1, 1))
    for a, place in enumerate(chosen):
        of_window[:, place] += weights[:, a, None] * moves[k + a]
    felt = hessians @ of_window
    left = gradients + felt[:, :, 0]
    scores = np.hstack([left, weights * left[:, chosen]]) @ inverse
    error = np.sqrt(np.sum(scores**2, axis=0) * n / max(n - 1.0, 1.0))[k : k + c]
    shares = np.einsum("nic,nic->nc", of_window[:, :, 1:], felt[:, :, 1:])
    error *= _surer_by(_as_equals(knows), _CHANCE / k, course.sure)
    few = _telling(shares, course.along) < course.telling
    offset = step[places] + (0.0 if course.beside is None else step[k + c :])
    return _Changes(step[k : k + c], np.where(few, np.inf, np.maximum(error, 1e-300)), offset)


def _telling(shares: FloatArray, along: FloatArray) -> FloatArray:
    """The windows that tell changes, counted as equals, on the side that has fewer, (c,).

    Args:
      shares: What each knows of each change, (n_windows, c).
      along: The sides, by the sign, (n_windows,).
    """
    sides = (np.maximum(shares[side], 0.0) for side in (along < 0.0, along > 0.0))
    return np.asarray(np.minimum(*map(_as_equals, sides)))


def _as_equals(known: FloatArray) -> FloatArray:
    """The windows that know something, (n_windows, c), counted as if all knew as much, (c,)."""
    counts: FloatArray = known.sum(axis=0) ** 2 / np.maximum((known**2).sum(axis=0), 1e-300)
    return counts


def _surer_by(telling: FloatArray, chance: float, sure: float) -> FloatArray:
    """By how much errors are larger than windows scatter by, since few of them tell, (c,).

    Args:
      telling: The windows that do, counted as equals, (c,); a value and its change take two.
      chance: That a change seems sure.
      sure: The standard errors from which on it does where many tell.
    """
    left = np.maximum(telling - 2.0, 1e-3)
    quantile = scipy.special.stdtrit(left, 1.0 - 0.5 * chance)
    larger: FloatArray = np.sqrt(telling / left) * np.maximum(quantile / sure, 1.0)
    return larger


def _knows_as_much(own: ReducedSystem, place: int, course: _Course) -> bool:
    """Return whether windows before a change and after know much the same of a parameter."""
    known = own.window_hessians[:, place, place]
    one, other = (known[side].mean() for side in (course.along < 0.0, course.along > 0.0))
    return bool(max(one, other) < _ALIKE * min(one, other))
