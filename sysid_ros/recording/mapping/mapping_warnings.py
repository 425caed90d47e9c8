# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Warnings for the reader of results about the recording of the mapped topics."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from sysid_ros import time_intervals
from sysid_ros.errors import DataError, listed
from sysid_ros.recording.mapping.dating import DatedRecording, DatedTopic, clock_warnings
from sysid_ros.recording.mapping.device_time import device_stamps
from sysid_ros.recording.mapping.even_rate import late_by
from sysid_ros.recording.mapping.mapped_recording import MappedRecording, MappedSignal
from sysid_ros.recording.mapping.topic_quality import TopicQuality
from sysid_ros.recording.messages import Clock, is_command

# A recording begins before its motion and ends after it: so much without commands is usual, s.
_USUAL = 1.0
_TELLING = 3e-4  # s, of a lateness: less is within what else a delay is uncertain by


def mapping_warnings(
    dated: DatedRecording,
    quality: Sequence[TopicQuality],
    mapped: MappedRecording,
    length: float,
) -> list[str]:
    """Say what a reader of the results should know of a recording of ``length`` s, in sentences."""
    found = clock_warnings(dated) + _received(dated) + _own_time(dated)
    for topic in quality:
        found += _of_topic(topic)
    for columns in {topic.columns.topic: topic.columns for topic in dated.topics.values()}.values():
        found.extend(
            f"{count} of {len(columns.log_ns)} messages of {columns.topic} name the element of "
            f"{path} more than once; they do not count."
            for path, count in columns.ambiguous.items()
        )
    alike: dict[time_intervals.Intervals, list[str]] = {}
    for control in mapped.controls:
        if control.gaps and not _is_usual(control):
            alike.setdefault(control.gaps, []).append(control.name)
    for gaps, names in alike.items():
        is_unknown = f"s {listed(names, 4)} are" if len(names) > 1 else f" {names[0]} is"
        found.append(
            f"actuator{is_unknown} unknown for {time_intervals.length(gaps):.3g} of "
            f"{length:.3g} s; these stretches are left out."
        )
    if mapped.silent:
        first, count = mapped.silent[0], len(mapped.silent)
        found.append(
            f"Nothing at all was recorded for {time_intervals.length(mapped.silent):.3g} s, in "
            f"{count} stretch{'es' * (count > 1)} of which the first begins at {first[0]:.4g} s: "
            "the recorder was held up, or a clock was set forward. No window spans any."
        )
    if turned := [one for one in mapped.measured if one.turns]:
        found.append(
            f"{listed([one.name for one in turned], 4)}: angles jump by a whole turn, "
            f"{sum(one.turns for one in turned)} times in all, and were joined; their zero is that "
            "of the first sample's turn."
        )
    if repeated := [one for one in mapped.measured if one.repeats]:
        count = sum(one.repeats for one in repeated)
        of = count + sum(len(one.times) for one in repeated)
        found.append(
            f"{listed([one.name for one in repeated], 4)}: {count} of {of} samples repeat the one "
            "before, as of a driver that publishes more often than it reads; the first of each "
            "reading counts."
        )
    return found


def _of_topic(topic: TopicQuality) -> list[str]:
    """Say what is odd about the number, the stamps and the order of a topic's messages."""
    found = []
    if topic.promised is not None and topic.messages != topic.promised:
        found.append(
            f"{topic.topic} was promised {topic.promised} messages by the bag and "
            f"{topic.messages} were read."
        )
    if topic.conflicts:
        found.append(
            f"{topic.conflicts} messages of {topic.topic} have the stamp of the one before and "
            "other values: do two nodes publish it? The first of each counts."
        )
    if copies := topic.duplicates - topic.conflicts:
        found.append(
            f"{copies} messages of {topic.topic} have the stamp and the values of one before; the "
            "first of each counts."
        )
    if topic.backwards:
        found.append(
            f"{topic.backwards} messages of {topic.topic} have a {topic.clock} stamp before "
            f"that of the message received before them, by up to {topic.farthest_back:.3g} s; "
            "they were put in order: do two nodes publish it, or was a clock set back?"
        )
    if topic.interleaved:
        found.append(
            f"{topic.interleaved} messages of {topic.topic} change between two courses: "
            "two nodes seem to publish it in turn, and the fit would mix them."
        )
    return found


def _received(dated: DatedRecording) -> list[str]:
    """Say which commands only their receipt dates, and how late that is as far as it shows."""
    found = []
    for (name, _), topic in dated.topics.items():
        if not _dated_by_receipt(topic) or not is_command(topic.columns.msgtype, "", name):
            continue
        late = late_by(topic.columns.log_ns)
        even = topic.stamps.clock is Clock.EVEN
        said = f"{name} is dated by its receive time, which includes the recorder's queueing delay"
        said += ", but for its scatter" if even else ""
        if late is not None and np.mean(late) > _TELLING:
            mean, most = 1e3 * np.mean(late), 1e3 * np.percentile(late, 95)
            found.append(
                f"{said}: seen against the even rate of its messages {mean:.2g} ms on "
                f"average and up to {most:.2g} ms. Delays of its signals are found that "
                "much too short, and by the least time that a message takes."
            )
        elif topic.stamps.clock is Clock.RECEIVE:
            found.append(f"{said}.")
    return found


def _dated_by_receipt(topic: DatedTopic) -> bool:
    """Return whether stamps are times of receipt, also where a bag calls them those of publishing.

    A recorder that is not told when a message was published writes the time of receipt twice.
    """
    columns, clock = topic.columns, topic.stamps.clock
    publish = columns.publish_ns
    told = publish is not None and publish.all() and not np.array_equal(publish, columns.log_ns)
    return clock is Clock.RECEIVE or (clock in (Clock.PUBLISH, Clock.EVEN) and not told)


def _own_time(dated: DatedRecording) -> list[str]:
    """Say which messages are dated by their way, though they tell themselves when they are of."""
    found = []
    for (name, _), topic in dated.topics.items():
        columns, clock = topic.columns, topic.stamps.clock
        if columns.count is None or clock not in (Clock.PUBLISH, Clock.RECEIVE, Clock.EVEN):
            continue
        with suppress(DataError):
            own = device_stamps(columns)[topic.stamps.rows]
            late = (topic.stamps.ns - own)[own != 0] / 1e9
            scatter = float(np.percentile(late, 95) - np.median(late))
            if scatter > _TELLING:
                found.append(
                    f"{name} is dated by its {clock.value} time, which one message in twenty has "
                    f"{1e3 * scatter:.2g} ms later than most, seen from its own count of time, "
                    f"{columns.count.field!r}; 'clock: device' dates its signals by that."
                )
    return found


def _is_usual(control: MappedSignal) -> bool:
    """Tell whether a control is unknown only just before its first and after its last sample."""
    first, last = control.times[0], control.times[-1]
    return all(
        end - start <= _USUAL and (end <= first or start >= last) for start, end in control.gaps
    )
