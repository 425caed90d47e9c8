# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lateness of messages that nothing but their receipt dates, seen against their even rate.

A message may only come late. What is sent at an even rate is received on or above a line over its
number, so that the height above that line is what the way took beyond the least that it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import IntArray
from sysid_ros.recording.bags import relate
from sysid_ros.recording.mapping.dating import DatedTopic
from sysid_ros.recording.messages import Clock

_LEAST_MESSAGES = 50
_UNEVEN = 0.3  # of the usual interval, about multiples of it
_EVEN = 0.9  # share of the intervals that are less uneven, of messages that are sent by a timer
_WANDERS = 2.0  # spread of lateness over that of its steps: 0.7 where messages are late by chance
_STILL = 1e-5  # s, of a spread that is none


@dataclass(frozen=True)
class Lateness:
    """Times from an even rate to the receipt, s."""

    mean: float
    most: float  # of nineteen in twenty messages


def dated_by_receipt(topic: DatedTopic) -> bool:
    """Return whether stamps are times of receipt, also where a bag calls them those of publishing.

    A recorder that is not told when a message was published writes the time of receipt twice.
    """
    columns, clock = topic.columns, topic.stamps.clock
    same = columns.publish_ns is not None and np.array_equal(columns.publish_ns, columns.log_ns)
    return clock is Clock.RECEIVE or (clock is Clock.PUBLISH and same)


def lateness(log_ns: IntArray) -> Lateness | None:
    """The lateness of messages against their even rate; ``None`` where they have none.

    Args:
      log_ns: (n,) times of receipt, increasing.
    """
    intervals = np.diff(log_ns)
    if len(log_ns) < _LEAST_MESSAGES or (usual := float(np.median(intervals))) <= 0.0:
        return None
    steps = np.rint(intervals / usual)  # more than one where a message was lost
    if np.mean(np.abs(intervals / usual - steps) < _UNEVEN) < _EVEN:
        return None
    numbers = np.concatenate([[0.0], np.cumsum(np.maximum(steps, 1.0))])
    sent = np.rint(usual * numbers).astype(np.int64)
    received = log_ns - log_ns[0]
    relation = relate(sent, received)
    late = (received - sent) / 1e9 - relation.offset - relation.drift * sent / 1e9
    # A loop that sleeps or begins anew has no timer: what it is late by, all that follows is, too.
    if np.std(late) > _WANDERS * np.std(np.diff(late)) + _STILL:
        return None
    return Lateness(float(np.mean(late)), float(np.percentile(late, 95)))
