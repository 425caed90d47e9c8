# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ring keeps the newest messages within its bounds."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.nodes.recorder.snapshot_buffer import OVERHEAD, BufferedMessage, SnapshotBuffer


def message(number: int, size: int = 10) -> BufferedMessage:
    return BufferedMessage("/topic", bytes(size), number, number, number)


def test_age_is_bounded():
    buffer = SnapshotBuffer(10**6, max_seconds=2.0)
    for number in range(100):
        buffer.add(message(number), 0.1 * number)
    assert [m.sequence for m in buffer.drain()] == list(range(79, 100))
    assert len(buffer) == 0


def test_what_was_before_a_simulation_started_over_is_old_too():
    buffer = SnapshotBuffer(10**6, max_seconds=2.0)
    for number, now in enumerate([99.0, 99.5, 0.1, 0.2]):
        buffer.add(message(number), now)
    assert [m.sequence for m in buffer.drain()] == [2, 3]


@given(st.lists(st.integers(0, 60), max_size=50), st.integers(1, 100))
def test_size_is_bounded_and_what_is_kept_is_the_newest(sizes: list[int], limit: int):
    buffer = SnapshotBuffer(limit, max_seconds=1e9)
    for number, size in enumerate(sizes):
        buffer.add(message(number, size), float(number))
    kept = list(buffer.drain())
    assert sum(len(m.data) for m in kept) <= limit
    assert [m.sequence for m in kept] == list(range(len(sizes) - len(kept), len(sizes)))
    if len(kept) < len(sizes):
        assert sum(sizes[len(sizes) - len(kept) - 1 :]) > limit


def test_memory_of_small_messages_is_what_was_asked_for():
    tracemalloc.start()
    try:
        buffer = SnapshotBuffer(2_000_000, max_seconds=1e9, overhead=OVERHEAD)
        for number in range(1000, 40_000):
            buffer.add(message(number * 10**6, size=40), float(number))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(buffer) > 1000
    assert 0.5 * 2_000_000 < taken < 2_000_000
