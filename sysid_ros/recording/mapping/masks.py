# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stretches of time in which a signal counts: ``enabled_when``.

A mask is a field that says whether the robot was powered, in the right mode, seen by the camera.
Nothing is guessed between its messages. A publisher that repeats itself is asked all the time: the
robot was enabled between two messages that both say so, and a change lies somewhere between two
that differ, so that the stretch between them is left out. A publisher that sends changes only is
believed until its next message.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.errors import DataError
from sysid_ros.recording.mapping.dating import DatedRecording, DatedTopic, source_of
from sysid_ros.recording.mapping.mapping_settings import MaskRequest
from sysid_ros.recording.mapping.samples import samples
from sysid_ros.recording.messages import Clock, parse_field
from sysid_ros.time_intervals import Intervals, complement, shortest_gap, union

_INSTANT = 1e-6  # s; a message speaks for its own instant, also where the next one contradicts it


def masked_stretches(
    masks: Sequence[MaskRequest], dated: DatedRecording, clock: Clock, max_gap: float
) -> Intervals:
    """Return when at least one of several masks did not hold, or is unknown.

    Args:
      masks: Which fields say so.
      dated: The recording's topics, those of the masks among them.
      clock: Which of a message's times counts, where a mask does not say.
      max_gap: A repeated message that is missing for longer [s] says nothing meanwhile.

    Returns:
      Intervals [s] in increasing order; the first begins at minus infinity where the masks' first
      messages came later than that.

    Raises:
      DataError: A mask's field is missing, or no message says that it holds.
    """
    return union(
        stretch
        for mask in masks
        for stretch in _masked(mask, dated.topics[source_of(mask, clock)], max_gap)
    )


def _masked(mask: MaskRequest, topic: DatedTopic, max_gap: float) -> Intervals:
    where = f"enabled_when ({mask.topic}, {mask.field})"
    column = topic.columns.paths.index(parse_field(mask.field))
    times, table = samples(topic, [column], where)
    values = table[:, 0]
    enabled = _holds(mask, values)
    if not enabled.any():
        seen = ", ".join(f"{value:g}" for value in np.unique(values)[:6])
        raise DataError(f"{where} never holds: the values are {seen} in all {len(values)} messages")
    return complement(_enabled_stretches(mask, times, values, enabled, max_gap), -np.inf, np.inf)


def _holds(mask: MaskRequest, values: FloatArray) -> BoolArray:
    """Say for each value whether it means enabled; what is not a number never does."""
    holds = values != 0.0 if mask.equals is None else np.isin(values, mask.equals)
    enabled: BoolArray = np.isfinite(values) & (holds != mask.invert)
    return enabled


def _enabled_stretches(
    mask: MaskRequest, times: FloatArray, values: FloatArray, enabled: BoolArray, max_gap: float
) -> list[tuple[float, float]]:
    """Return when a mask held: (n,) times in s and values to half-open intervals."""
    measured = mask.equals is None and np.any(values != np.rint(values))  # such as a voltage
    said = enabled if measured else values
    if not np.any(said[1:] == said[:-1]):  # sent on change
        ends = np.append(times[1:], np.inf)
        return [(float(a), float(b)) for a, b in zip(times[enabled], ends[enabled], strict=True)]
    intervals = np.diff(times)
    longest = max(max_gap, shortest_gap(times))  # a publisher silent for longer had stopped
    lasting = enabled[:-1] & enabled[1:] & (intervals <= longest)
    starts, ends = times[:-1][lasting], times[1:][lasting]
    return [(float(a), float(b) + _INSTANT) for a, b in zip(starts, ends, strict=True)]
