# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The quality of a topic's recording: what was read, how evenly, with which clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.recording.bags import sampling
from sysid_ros.recording.mapping.dating import DatedTopic
from sysid_ros.recording.mapping.gaps import published_on_change
from sysid_ros.recording.mapping.samples import count_conflicts, count_duplicates, count_interleaved
from sysid_ros.recording.messages import is_command
from sysid_ros.time_intervals import Intervals, length


@dataclass(frozen=True)
class TopicQuality:
    """The messages read from one topic in numbers, and the quality of their sampling."""

    sequence: str
    topic: str
    msgtype: str
    clock: str  # the clock actually used: header | publish | receive
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
        backwards=topic.stamps.backwards,
        masked=length(masked),
        clock_offset=None if topic.relation is None else topic.relation.offset,
        clock_drift=None if topic.relation is None else topic.relation.drift,
        clock_corrected=topic.corrected,
        conflicts=count_conflicts(topic),
        interleaved=count_interleaved(topic),
        farthest_back=topic.stamps.farthest_back,
    )
