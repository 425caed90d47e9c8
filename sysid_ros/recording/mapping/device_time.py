# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Time that a sender counts in an integer of its messages, on the recorder's clock.

Firmware stamps what it measured by its own clock, in nano-, micro- or milliseconds since it booted
or since the epoch, and no header says so. The unit shows by the rate at which it runs, and where
it begins by the messages that took least from there to their receipt.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import IntArray
from sysid_ros.errors import DataError
from sysid_ros.recording.bags import LARGEST_DISORDER_NS, relate
from sysid_ros.recording.mapping.clock_steps import NO_STEPS, steps_between
from sysid_ros.recording.messages import TimeCount, TopicColumns

_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000}
_LEAST_MESSAGES = 20
_PARTS = 20  # of a recording, of which most run at the clock's rate whatever happens in a few
_OF_UNIT = 0.3  # of a unit's rate, that a few messages show for another
_FASTEST = 0.01  # s/s, by which the oscillator of a cheap board is off
_QUEUED = 0.25  # s, that receipt scatters by at most where messages are dated by it at all
_SAME_NS = 500_000_000  # from stamp to receipt: no message that a robot is driven by takes longer
_WRAPS = (16, 32)  # bits, at which counts begin anew
_SHARING = 0.02  # of the messages, that may have the count of the one before and other values


def device_stamps(columns: TopicColumns) -> IntArray:
    """Date messages by their sender's own count of time.

    A count since the epoch on a clock that is the recorder's, to half a second, is taken as it is,
    as a header's stamp; any other is translated.

    Args:
      columns: The topic's messages, in the order of receipt.

    Returns:
      (n,) stamps [ns] on the recorder's clock; zero where the count is, which nobody filled in.

    Raises:
      DataError: The messages have no such count, or it is no clock, or one that was set.
    """
    count, log = columns.count, columns.log_ns
    if count is None:
        raise DataError(
            f"topic {columns.topic}: {columns.msgtype} has no integer whose name says that it "
            "counts time, such as 'timestamp' or 'time_us'; choose another clock, such as "
            "'clock: receive'"
        )
    filled_in = count.values != 0
    sharing = np.count_nonzero(filled_in[1:] & columns.shares(count.values))
    if sharing > _SHARING * len(log):
        raise _no_clock(columns, count, f"{sharing} messages share one with that before")
    if np.count_nonzero(filled_in) < _LEAST_MESSAGES:
        raise _no_clock(columns, count, f"{np.count_nonzero(filled_in)} messages have it filled in")
    stamps = np.zeros(len(log), dtype=np.int64)
    stamps[filled_in] = _translated(columns, count, filled_in)
    return stamps


def _translated(columns: TopicColumns, count: TimeCount, used: np.ndarray) -> IntArray:
    """The counts of some messages on the recorder's clock, ns."""
    counts, log = _unwrapped(count.values[used]), columns.log_ns[used]
    rate = _rate(counts, log)
    unit = next((u for u in _UNITS_NS.values() if abs(rate * u - 1.0) < _OF_UNIT), 0)
    if not unit:
        raise _other_rate(columns, count, rate)
    ns = counts * unit
    if np.diff(ns).min() < -LARGEST_DISORDER_NS:
        raise _no_clock(columns, count, "it begins anew in mid-recording")
    relation = relate(ns, log)
    if abs(relation.offset) < 1e-9 * _SAME_NS:
        return ns
    even = np.rint(counts / rate).astype(np.int64)
    if steps_between(even, log) != NO_STEPS:
        raise _no_clock(columns, count, "it was set in mid-recording, or the recorder's clock was")
    translated = relation.corrected(ns, drift=True)
    late = (log - translated) / 1e9
    scatter = float(np.percentile(np.abs(late - np.median(late)), 95))
    if scatter > _QUEUED:
        raise _no_clock(columns, count, "it does not run evenly, seen from the receipt")
    if abs(relation.drift) > _FASTEST + 2.0 * scatter / (1e-9 * np.ptp(ns)):
        raise _other_rate(columns, count, rate)
    return translated


def _unwrapped(counts: IntArray) -> IntArray:
    """Counts that go on where they begin anew because their bits are used up."""
    bits = next((b for b in _WRAPS if counts.min() >= 0 and counts.max() < 1 << b), 0)
    if not bits:
        return counts
    half = 1 << (bits - 1)
    steps = (np.diff(counts) + half) % (1 << bits) - half
    return np.concatenate([counts[:1], counts[0] + np.cumsum(steps)])


def _rate(counts: IntArray, log_ns: IntArray) -> float:
    """The counts in one nanosecond: the median over parts of the recording."""
    edges = np.linspace(0, len(counts) - 1, min(_PARTS, len(counts) // 2) + 1).astype(int)
    took = np.maximum(np.diff(log_ns[edges]), 1)
    return float(np.median(np.diff(counts[edges]) / took))


def _other_rate(columns: TopicColumns, count: TimeCount, rate: float) -> DataError:
    units = "/".join(_UNITS_NS)
    return _no_clock(
        columns, count, f"it goes on by {1e9 * rate:.4g} a second, which is no {units}"
    )


def _no_clock(columns: TopicColumns, count: TimeCount, why: str) -> DataError:
    return DataError(
        f"topic {columns.topic}: its {count.field!r} is no clock, as {why}; choose another clock, "
        "such as 'clock: receive'"
    )
