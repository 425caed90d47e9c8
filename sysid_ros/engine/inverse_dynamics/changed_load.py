# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load that a robot takes up or puts down in the midst of a recording, told by torque.

No model holds then for all of the recording: what is estimated lies between the two. Each body's
mass is given another value in each span of neighbouring blocks of time of a recording, beside other
masses throughout and whatever friction, armature and offsets there are. What explains most is told
if it predicts, of the blocks that it was not found with, what is left there: a push of a moment
does not, nor does friction that the model lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.evidence import Evidence
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.wrong_masses import (
    OFF,
    OPEN,
    Judged,
    Moments,
    Suspects,
    beside,
)
from sysid_ros.engine.regressor import Recording
from sysid_ros.engine.uncertainty import student_quantile

DECISIVE = 0.6  # of the power that is left without, in blocks that it was not found with
FEWEST = 5  # blocks of a recording, with the load and without
ALARMS = 1e-3  # of right recordings in which one of all spans and bodies is as far off by chance


@dataclass(frozen=True)
class ChangedLoad:
    """Another mass of a body in a part of a recording."""

    recording: str  # its name
    body: str  # that seems to carry more, or less
    mass: float  # kg, of what it carries more, as if that were of its own shape
    begin: float  # s, from when on
    end: float | None  # until when; ``None`` for the recording's end

    @property
    def clause(self) -> str:
        """The words for it, without a full stop."""
        until = "on" if self.end is None else f"to {self.end:.3g} s"
        more = "more" if self.mass > 0.0 else "less"
        return (
            f"from about {self.begin:.3g} s {until} the torque of {self.recording!r} is as if "
            f"{self.body!r} carried {abs(self.mass):.2g} kg {more}, and no one model holds for all"
        )


@dataclass(frozen=True)
class _Span:
    """Neighbouring blocks of time, [first, last) of those of a recording."""

    recording: int
    blocks: Sequence[int]  # all of the recording, in time
    first: int
    last: int

    @property
    def chosen(self) -> list[int]:
        return [*self.blocks[self.first : self.last]]


def changed_load(
    model: mujoco.MjModel,
    recordings: Sequence[Recording],
    evidence: Evidence,
    free: FreeParameters,
    x: FloatArray,
) -> ChangedLoad | None:
    """Find the load that explains most; ``None`` where none is decisive.

    Args:
      model: The robot.
      recordings: What was measured.
      evidence: Their sums, of torque without unknown gains.
      free: The estimated parameters.
      x: An estimate of them, (k,).
    """
    suspects = Suspects.of(free, estimated=True)
    spans = [*_spans(evidence)]
    if not suspects.bodies or not spans:
        return None
    count = 1 + max(int(numbers.max()) for numbers in evidence.blocks)
    moments = Moments.of(evidence.grams, free, suspects, x, count)
    inner = np.arange(moments.known + len(suspects.bodies))
    explained = _explained(moments, inner, spans)
    span, place = np.unravel_index(int(np.argmax(explained)), explained.shape)
    best = spans[int(span)]
    judged = Judged.of(_with_span(moments, inner, best, moments.known + int(place)), ())
    step, error = judged.steps[0], judged.errors[0]
    reach = student_quantile(judged.blocks - 1, 1.0 - 0.5 * ALARMS / explained.size) * error
    if abs(step) - reach <= OFF or judged.left[0] >= DECISIVE * judged.before:
        return None
    body, sign = suspects.bodies[int(place)], 1.0
    begin, end = _time_of(evidence, best, best.first), _time_of(evidence, best, best.last)
    if best.first == 0:  # less from its end on
        begin, end, sign = end or 0.0, None, -1.0
    nominal = float(free.columns.nominal[free.columns.place[body, "m"]])
    name = str(model.body(body).name) or f"body_{body}"
    mass = float(sign * step * nominal)
    return ChangedLoad(recordings[best.recording].name, name, mass, float(begin or 0.0), end)


def _spans(evidence: Evidence) -> Iterator[_Span]:
    """All parts of recordings that a load may be held in."""
    by_recording: dict[int, set[int]] = {}
    for stretch, numbers in zip(evidence.smooth, evidence.blocks, strict=True):
        by_recording.setdefault(stretch.recording, set()).update(numbers.tolist())
    for recording, numbers in by_recording.items():
        blocks = sorted(numbers)
        for first in range(len(blocks)):
            for last in range(first + FEWEST, len(blocks) + 1):
                if len(blocks) - (last - first) >= FEWEST:
                    yield _Span(recording, blocks, first, last)


def _explained(moments: Moments, inner: IndexArray, spans: Sequence[_Span]) -> FloatArray:
    """The power that each body's other mass in each span explains, (spans, bodies)."""
    total, bodies = moments.sums.sum(axis=0), inner[moments.known :]
    last = np.array([len(total) - 1])
    left = beside(total, inner, last)[1][:, 0]  # what is left, in columns
    found: FloatArray = np.zeros((len(spans), len(bodies)))
    for i, span in enumerate(spans):
        part = moments.sums[span.chosen].sum(axis=0)
        along = part[bodies] @ left
        # What the inner columns make up for lies in all blocks, the load in these alone.
        mixed = np.zeros((len(total) + len(bodies),) * 2)
        mixed[: len(total), : len(total)] = total
        own = len(total) + np.arange(len(bodies))
        mixed[np.ix_(own, inner)] = part[np.ix_(bodies, inner)]
        mixed[np.ix_(inner, own)] = part[np.ix_(inner, bodies)]
        mixed[np.ix_(own, own)] = part[np.ix_(bodies, bodies)]
        size = np.diag(beside(mixed, inner, own)[0])
        found[i] = along**2 / np.maximum(size, OPEN * np.diag(part)[bodies] + 1e-300)
    return found


def _with_span(moments: Moments, inner: IndexArray, span: _Span, place: int) -> Moments:
    """The sums with one suspect, a column of theirs that is zero outside of a span.

    Without the blocks around its ends, in the midst of which the load may have changed.
    """
    own = np.append(inner, [place, moments.sums.shape[1] - 1])
    sums = moments.sums[:, own[:, None], own]
    others = np.setdiff1d(np.arange(len(sums)), span.chosen)
    sums[others, -2] = 0.0
    sums[others, :, -2] = 0.0
    ends = [end for end in (span.first, span.last) if 0 < end < len(span.blocks)]
    mixed = [span.blocks[end + side] for end in ends for side in (-1, 0)]
    kept = np.delete(sums, mixed, axis=0)
    return Moments(kept, moments.joints, len(inner), moments.dofs)


def _time_of(evidence: Evidence, span: _Span, place: int) -> float | None:
    """The time [s] at which a block of a span begins; ``None`` behind the last."""
    if place == len(span.blocks):
        return None
    return min(
        float(stretch.times[numbers == span.blocks[place]].min())
        for stretch, numbers in zip(evidence.smooth, evidence.blocks, strict=True)
        if stretch.recording == span.recording and np.any(numbers == span.blocks[place])
    )
