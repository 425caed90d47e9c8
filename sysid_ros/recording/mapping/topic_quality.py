# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The quality of a topic's recording: what was read, how evenly, with which clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sysid_ros.recording.bags import sampling
from sysid_ros.recording.mapping.dating import DatedTopic
from sysid_ros.recording.mapping.samples import count_conflicts, count_duplicates, count_interleaved
from sysid_ros.recording.mapping.sending_habits import published_on_change
from sysid_ros.recording.mapping.stamps import rounding
from sysid_ros.recording.messages import Clock, is_command
from sysid_ros.time_intervals import Intervals, length

_OVERTAKEN = 3.0  # intervals between messages, by which one may arrive late and be put in order
_FEW_MESSAGES = 1e-3  # share of messages whose stamp another has, that puts nothing in question

_OF_OTHERS = "{count} messages of {topic} contradict others of the same stamp"
_OF_A_CLOCK = "the clock that stamps {topic} was set back, by {back:.2g} s"
_FORWARD = "the clock that dates {topic} was set forward, by {forward:.2g} s at {at:.4g} s"
_OF_ROUNDED = "{count} messages of {topic} share stamps, which are rounded to {step:g} s"


@dataclass(frozen=True)
class TopicQuality:
    """The messages read from one topic in numbers, and the quality of their sampling."""

    sequence: str
    topic: str
    msgtype: str
    clock: str  # the clock actually used: header | publish | receive | simulation | even
    messages: int
    promised: int | None  # by the bag's own metadata
    rate: float  # Hz, 1 / median interval
    jitter: float  # s, 95th percentile of |interval - median|
    gaps: int  # intervals longer than the experiment's max_gap
    longest_gap: float  # s
    duplicates: int = 0  # equal stamps, all but the first dropped
    backwards: int = 0  # stamps running backwards, sorted
    masked: float = 0.0  # s in which enabled_when kept its signals out of the fit
    # receipt minus stamp without queueing, at the start [s], and how it grows [s/s]; None where
    # the clock is that of receipt
    clock_offset: float | None = None
    clock_drift: float | None = None
    clock_corrected: bool = False  # both were taken out
    conflicts: int = 0  # samples with equal stamps and different values: two publishers
    interleaved: int = 0  # messages that change between two courses: two publishers
    farthest_back: float = 0.0  # s, the largest of the steps that ``backwards`` counts
    rounded: float = 0.0  # s, the step to which stamps are rounded, so that messages share one
    forward: float = 0.0  # s, by which the clock was set forward at most, and when it was
    forward_at: float = 0.0

    @property
    def was_set(self) -> bool:
        """Return whether a clock was set in mid-recording and messages tell nothing else."""
        told_once = self.backwards == 1 or (self.forward > 0.0 and not self.backwards)
        return told_once and not (self.interleaved or self.conflicts)


def topic_quality(
    sequence: str,
    topic: DatedTopic,
    promised: int | None,
    used: tuple[float, float],
    max_gap: float,
    masked: Intervals = (),
) -> TopicQuality:
    """Describe how well one topic was recorded.

    Args:
      sequence: The recording's name.
      topic: Its messages.
      promised: How many the bag promises.
      used: Start and end [s] of what is used; rate, jitter and gaps are those of this part.
      max_gap: Longer intervals [s] count as gaps, except between commands sent on change.
      masked: When ``enabled_when`` keeps its signals out [s].
    """
    times = np.unique(topic.times[(topic.times >= used[0]) & (topic.times < used[1])])
    spacing = sampling(times, max_gap)
    msgtype = topic.columns.msgtype
    backwards = _steps_back(topic, used)
    forward = max(_steps_forward(topic, used), default=(0.0, 0.0))
    on_change = is_command(msgtype, "", topic.columns.topic) and published_on_change(times, max_gap)
    return TopicQuality(
        sequence=sequence,
        topic=topic.columns.topic,
        msgtype=msgtype,
        clock=topic.stamps.clock.value,
        messages=len(topic.columns.log_ns),
        promised=promised,
        rate=spacing.rate,
        jitter=spacing.jitter,
        gaps=0 if on_change else spacing.gaps,
        longest_gap=spacing.longest_gap,
        duplicates=count_duplicates(topic),
        backwards=len(backwards),
        masked=length(masked),
        clock_offset=None if topic.relation is None else topic.relation.offset,
        clock_drift=None if topic.relation is None else topic.relation.drift,
        clock_corrected=topic.corrected,
        conflicts=count_conflicts(topic),
        # levels that are sent on change come and go without a course
        interleaved=0 if on_change else count_interleaved(topic),
        farthest_back=max(backwards, default=0.0),
        rounded=rounding(topic.columns) if topic.stamps.clock is Clock.HEADER else 0.0,
        forward=forward[0],
        forward_at=forward[1],
    )


def _steps_back(topic: DatedTopic, used: tuple[float, float]) -> list[float]:
    """The steps back from one stamp to that received after it [s], where any of that is used."""
    ns = topic.stamps.as_received
    back = np.flatnonzero(np.diff(ns) < 0)
    steps = zip(
        ns[back], ns[back + 1], topic.seconds(ns[back]), topic.seconds(ns[back + 1]), strict=True
    )
    return [(last - first) / 1e9 for last, first, high, low in steps if _uses(used, low, high)]


def _steps_forward(topic: DatedTopic, used: tuple[float, float]) -> list[tuple[float, float]]:
    """The steps forward of the clock and their instants [s], where both sides are used."""
    return [
        (step.size, last)
        for step in topic.forward
        for last, first in [topic.seconds(np.array([step.before_ns, step.after_ns])).tolist()]
        if _uses(used, last, first)
    ]


def _uses(used: tuple[float, float], low: float, high: float) -> bool:
    """Return whether what is used reaches into an interval [s]."""
    return used[0] < high and low < used[1]


def doubts_of(quality: Iterable[TopicQuality]) -> tuple[str, ...]:
    """Return what puts recordings in question, with counts.

    A few messages that share a stamp change nothing that is found: the first commands of a motion
    that begin between two messages of a simulation's clock, for example. Neither do messages that
    overtake each other by a few samples, as transports let them: by their stamps they are one
    course. Both stay warnings.
    """
    return tuple(
        clause
        for topic in quality
        for count, clause in (
            (topic.interleaved, "two nodes seem to publish {topic} in turn ({count} messages)"),
            (
                _beyond_few(topic.conflicts, topic),
                _OF_ROUNDED if topic.rounded else _OF_OTHERS,
            ),
            (
                _set_back(topic),
                _OF_A_CLOCK if topic.backwards == 1 else "{count} stamps of {topic} jump back",
            ),
            (int(topic.forward > 0.0), _FORWARD),
        )
        if count
        for said in [
            clause.format(
                topic=topic.topic,
                count=count,
                step=topic.rounded,
                back=topic.farthest_back,
                forward=topic.forward,
                at=topic.forward_at,
            )
        ]
        for clause in [f"{said} in {topic.sequence}"]
    )


def _beyond_few(count: int, topic: TopicQuality) -> int:
    """A count of messages, or none where it is at most one in a thousand."""
    return count if count > _FEW_MESSAGES * topic.messages else 0


def _set_back(topic: TopicQuality) -> int:
    """Count stamps that jump back, none where all of them may have been overtaken."""
    few = topic.farthest_back * topic.rate <= _OVERTAKEN
    return 0 if few else topic.backwards
