# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The even rate of messages that a timer sends, and by how much each is received after it.

A message may only come late. What is sent at an even rate is received on or above a line over its
number, so that the height above that line is what the way took beyond the least that it takes.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.recording.bags import relate

_LEAST_MESSAGES = 50
_UNEVEN = 0.3  # of the usual interval, about multiples of it
_EVEN = 0.9  # share of the intervals that are less uneven, of messages that are sent by a timer
_WANDERS = 2.0  # spread of lateness over that of its steps: 0.7 where messages are late by chance
_STILL = 1e-5  # s, of a spread that is none
_HELD_UP = 5.0  # times the median distance from the median, beyond which a message was held up


def late_by(received_ns: IntArray) -> FloatArray | None:
    """Times from an even rate to the receipt of messages, (n,) s; ``None`` where they have none."""
    intervals = np.diff(received_ns)
    if len(received_ns) < _LEAST_MESSAGES or (usual := float(np.median(intervals))) <= 0.0:
        return None
    steps = np.rint(intervals / usual)  # more than one where a message was lost
    if np.mean(np.abs(intervals / usual - steps) < _UNEVEN) < _EVEN:
        return None
    numbers = np.concatenate([[0.0], np.cumsum(np.maximum(steps, 1.0))])
    sent = np.rint(usual * numbers).astype(np.int64)
    received = received_ns - received_ns[0]
    relation = relate(sent, received)
    late: FloatArray = (received - sent) / 1e9 - relation.offset - relation.drift * sent / 1e9
    # A loop that sleeps or begins anew has no timer: what it is late by, all that follows is, too.
    if np.std(late) > _WANDERS * np.std(np.diff(late)) + _STILL:
        return None
    return late


def at_even_rate(received_ns: IntArray) -> IntArray:
    """Times of receipt without their scatter about an even rate; as they are where there is none.

    What messages take on average stays in them, as it does in delays; those that are held up do not
    count.
    """
    late = late_by(received_ns)
    if late is None:
        return received_ns
    off = np.abs(late - np.median(late))
    usual = off <= _HELD_UP * np.median(off)
    place = (received_ns - received_ns[0]) / 1e9 - late
    line = np.polynomial.Polynomial.fit(place[usual], late[usual], 1)
    even: IntArray = received_ns - np.rint(1e9 * (late - line(place))).astype(np.int64)
    return even
