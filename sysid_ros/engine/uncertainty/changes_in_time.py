# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A value that is another in a part of a recording, told from sums of products by blocks of time.

Each suspect gets another value in each span of neighbouring blocks of a recording, or in all of one
of several recordings, beside what may be any value throughout. The one that explains most of what
is left is told if it predicts it in blocks that it was not found with, as no disturbance of a
moment does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.uncertainty.parameter_estimate import student_quantile

DECISIVE = 0.6  # of the power that is left without, in blocks that it was not found with
ALARMS = 1e-3  # of right recordings in which one of all spans and suspects is that far off
RIDGE = 1e-9  # of a column's own size, for what data leave open
OPEN = 1e-6  # share of a column that nothing else explains, below which nothing is known of it


@dataclass(frozen=True)
class Span:
    """Neighbouring blocks of time, ``[first, last)`` of those of a recording."""

    recording: str  # its name
    blocks: tuple[int, ...]  # all of the recording, in time
    first: int
    last: int

    @property
    def is_whole(self) -> bool:
        """True if it is all of the recording, which differs from other recordings."""
        return self.first == 0 and self.last == len(self.blocks)

    @property
    def chosen(self) -> list[int]:
        """The blocks in it."""
        return [*self.blocks[self.first : self.last]]

    @property
    def mixed(self) -> list[int]:
        """The blocks around its ends, in the midst of which the change may lie."""
        ends = [end for end in (self.first, self.last) if 0 < end < len(self.blocks)]
        return [self.blocks[end + side] for end in ends for side in (-1, 0)]


@dataclass(frozen=True)
class Change:
    """The value that differs most."""

    span: Span  # where it does
    suspect: int  # its place among the suspects
    step: float  # by how much, in units of its column
    reach: float  # half of the interval of that, at which none of all that were tried is by chance
    left: float  # share of the power that it leaves, in blocks that it was not found with

    def is_sure(self, least: float) -> bool:
        """Return whether it explains what is left, and surely by more than ``least``."""
        return self.left < DECISIVE and abs(self.step) - self.reach > least


@dataclass(frozen=True)
class ChangedLoad:
    """Another mass of a body in a part of a recording."""

    recording: str  # its name
    shown: str  # what tells it, such as ``"torque"``
    body: str  # that seems to carry more, or less
    mass: float  # kg, of what it carries more, as if that were of its own shape
    begin: float | None  # s, from when on; ``None`` for all of the recording, beside others
    end: float | None  # until when; ``None`` for the recording's end

    @classmethod
    def of(
        cls, change: Change, shown: str, body: str, unit: float, begins: Callable[[int], float]
    ) -> ChangedLoad:
        """The load that a change is; less up to an instant is more from there on.

        Args:
          change: Of a body's mass.
          shown: What tells it.
          body: The body's name.
          unit: What one step of it is, kg.
          begins: The time at which a block begins, s.
        """
        span, mass = change.span, unit * change.step
        if span.is_whole:
            return cls(span.recording, shown, body, mass, None, None)
        after = None if span.last == len(span.blocks) else begins(span.blocks[span.last])
        if span.first == 0 and after is not None:
            return cls(span.recording, shown, body, -mass, after, None)
        return cls(span.recording, shown, body, mass, begins(span.blocks[span.first]), after)

    @property
    def clause(self) -> str:
        """The words for it, without a full stop."""
        until = "on" if self.end is None else f"to {self.end:.3g} s"
        since = "" if self.begin is None else f"from about {self.begin:.3g} s {until} "
        more = "more" if self.mass > 0.0 else "less"
        than, all_ = (" than in the others", "them") if self.begin is None else ("", "it")
        return (
            f"{since}the {self.shown} of {self.recording!r} is as if {self.body!r} carried "
            f"{abs(self.mass):.2g} kg {more}{than}, and no one model holds for all of {all_}"
        )


def change_in_time(
    sums: FloatArray,
    inner: IndexArray,
    suspects: IndexArray,
    recordings: Mapping[str, Sequence[int]],
    fewest: int,
) -> Change | None:
    """Find the change that explains most; ``None`` where recordings are too short for one.

    Args:
      sums: Products of columns by block, the last one that of what is left, (blocks, n, n).
      inner: Columns that may have any value throughout.
      suspects: Columns that may have another one for a while.
      recordings: The blocks of each, in time.
      fewest: Blocks of a recording, or of all others, that a change has to hold in, and not to.
    """
    spans = [*_spans(recordings, fewest)]
    if not spans or not suspects.size:
        return None
    explained = _explained(sums, inner, suspects, spans)
    place, suspect = np.unravel_index(int(np.argmax(explained)), explained.shape)
    span = spans[int(place)]
    step, error, left, count = _judged(_with_span(sums, inner, int(suspects[suspect]), span))
    reach = student_quantile(count - 1, 1.0 - 0.5 * ALARMS / explained.size) * error
    return Change(span, int(suspect), step, reach, left)


def _spans(recordings: Mapping[str, Sequence[int]], fewest: int) -> Iterator[Span]:
    """All parts of recordings, and each as a whole beside others."""
    count = sum(map(len, recordings.values()))
    for recording, blocks in recordings.items():
        if fewest <= len(blocks) <= count - fewest:
            yield Span(recording, tuple(blocks), 0, len(blocks))
        for first in range(len(blocks)):
            for last in range(first + fewest, len(blocks) + 1):
                if len(blocks) - (last - first) >= fewest:
                    yield Span(recording, tuple(blocks), first, last)


def _explained(
    sums: FloatArray, inner: IndexArray, suspects: IndexArray, spans: Sequence[Span]
) -> FloatArray:
    """The power that each suspect explains in each span, (spans, suspects)."""
    total = sums.sum(axis=0)
    left, (normal, size) = _left(total, inner), _normal(total, inner)
    inverse = np.linalg.inv(normal)
    found: FloatArray = np.zeros((len(spans), len(suspects)))
    up_to: dict[str, FloatArray] = {}  # by recording, sums of the suspects' rows before each block
    for i, span in enumerate(spans):
        if span.recording not in up_to:
            rows = np.cumsum(sums[[*span.blocks]][:, suspects], axis=0)
            up_to[span.recording] = np.concatenate([np.zeros_like(rows[:1]), rows])
        part = up_to[span.recording][span.last] - up_to[span.recording][span.first]
        mixed, whole = part[:, inner] / size, part[np.arange(len(suspects)), suspects]
        own = whole - np.einsum("ci,ci->c", mixed @ inverse, mixed)
        along = part @ left
        found[i] = np.where(own > OPEN * whole, along**2 / np.maximum(own, 1e-300), 0.0)
    return found


def _with_span(sums: FloatArray, inner: IndexArray, suspect: int, span: Span) -> FloatArray:
    """The sums of inner columns, one that is a suspect's in a span, and what is left."""
    own = np.append(inner, [suspect, sums.shape[1] - 1])
    found: FloatArray = sums[:, own[:, None], own]
    others = np.setdiff1d(np.arange(len(sums)), span.chosen)
    found[others, -2] = 0.0
    found[others, :, -2] = 0.0
    return np.delete(found, span.mixed, axis=0)


def _judged(sums: FloatArray) -> tuple[float, float, float, int]:
    """Of the last but one column: its step, the error of that, what it leaves, and the blocks.

    By the delete-a-block jackknife: what is left is that of blocks left out.
    """
    total, size = sums.sum(axis=0), sums.shape[1]
    inner, both = np.arange(size - 2), np.arange(size - 1)
    used = [part for part in sums if np.trace(part) > 0.0]
    without = [_left(total - part, inner) for part in used]
    with_it = [_left(total - part, both) for part in used]
    before, after = (
        sum(float(own @ part @ own) for own, part in zip(each, used, strict=True))
        for each in (without, with_it)
    )
    error = float(np.std([own[-2] for own in with_it])) * float(np.sqrt(len(used) - 1.0))
    return -float(_left(total, both)[-2]), error, after / max(before, 1e-300), len(used)


def _left(sums: FloatArray, columns: IndexArray) -> FloatArray:
    """The combination of all columns that some do not explain of the last one, (n,)."""
    found: FloatArray = np.zeros(len(sums))
    found[columns], found[-1] = -_solved(sums, columns, sums[columns, -1:])[:, 0], 1.0
    return found


def _solved(sums: FloatArray, columns: IndexArray, right: FloatArray) -> FloatArray:
    """The least-squares solution of normal equations in some columns, (n, c)."""
    normal, size = _normal(sums, columns)
    return np.asarray(np.linalg.solve(normal, right / size[:, None]) / size[:, None])


def _normal(sums: FloatArray, columns: IndexArray) -> tuple[FloatArray, FloatArray]:
    """The normal equations' matrix of some columns of length one, (n, n), and their sizes, (n,)."""
    size = np.sqrt(np.maximum(np.diag(sums)[columns], 1e-300))
    normal = sums[np.ix_(columns, columns)] / np.outer(size, size)
    return normal + RIDGE * np.eye(len(columns)), size
