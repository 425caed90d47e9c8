# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How well the mapped topics were recorded, and what to say about it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.experiment.schema import Clock
from sysid_ros.recording.dating import DatedRecording, DatedTopic, clock_warnings
from sysid_ros.recording.intervals import Intervals, length
from sysid_ros.recording.mapped import MappedSignal
from sysid_ros.recording.quality import TopicQuality
from sysid_ros.recording.samples import count_conflicts, count_duplicates, is_command
from sysid_ros.recording.sampling import published_on_change, sampling


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
    on_change = is_command(msgtype, "") and published_on_change(times, max_gap)
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
    )


def mapping_warnings(
    dated: DatedRecording,
    quality: Sequence[TopicQuality],
    controls: Sequence[MappedSignal],
    length: float,
) -> list[str]:
    """Say in sentences what a reader of the results should know about a recording.

    Args:
      dated: Its topics.
      quality: How well they were recorded.
      controls: Its controls.
      length: How long anything was measured [s].
    """
    found = clock_warnings(dated)
    for topic in quality:
        if topic.promised is not None and topic.messages != topic.promised:
            found.append(
                f"{topic.topic} was promised {topic.promised} messages by the bag and "
                f"{topic.messages} were read."
            )
        if topic.clock == Clock.RECEIVE.value and is_command(topic.msgtype, ""):
            found.append(
                f"{topic.topic} is dated by its receive time, which includes the recorder's "
                "queueing delay."
            )
        if topic.conflicts:
            found.append(
                f"{topic.conflicts} messages of {topic.topic} have the stamp of the one before and "
                "other values: do two nodes publish it? The first of each counts."
            )
    for control in controls:
        unknown = sum(end - start for start, end in control.gaps)
        if unknown > 0.0:
            found.append(
                f"actuator {control.name} is unknown for {unknown:.3g} of {length:.3g} s; these "
                "stretches are left out."
            )
    return found
