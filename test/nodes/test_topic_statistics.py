"""Counts per topic: losses by sequence, gaps and disorder by stamps."""

from __future__ import annotations

import struct

import pytest

from sysid_ros.nodes.topic_statistics import TopicStatistics, header_stamp

MS = 1_000_000


def fed(stamps_ms: list[int], sequences: list[int] | None = None) -> TopicStatistics:
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for index, stamp in enumerate(stamps_ms):
        statistics.add(stamp * MS, b"a", sequences[index] if sequences else None)
    return statistics


def test_even_topic():
    statistics = fed(list(range(0, 1000, 2)), list(range(1, 501)))
    assert statistics.received == 500
    assert statistics.rate == pytest.approx(500.0)
    assert (statistics.lost, statistics.gaps, statistics.backwards) == (0, 0, 0)


def test_numbers_left_out_are_losses():
    assert fed([0, 2, 4, 6], [7, 8, 12, 13]).lost == 3


def test_losses_are_counted_per_publisher():
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for number in range(10):
        statistics.add(number * MS, b"a", number)
        statistics.add(number * MS, b"b", 1000 + number)
    assert statistics.lost == 0


def test_middleware_and_sequence_report_the_same_loss_once():
    statistics = fed([0, 2], [1, 4])
    statistics.reported_lost += 2
    assert statistics.lost == 2


def test_gaps_duplicates_and_backward_stamps():
    statistics = fed([0, 50, 300, 300, 290, 310])
    assert statistics.gaps == 1
    assert statistics.longest_gap_ns == 250 * MS
    assert statistics.duplicates == 1
    assert statistics.backwards == 1


@pytest.mark.parametrize(
    ("order", "mark"), [("<", b"\x00\x01\x00\x00"), (">", b"\x00\x00\x00\x00")]
)
def test_stamp_is_read_from_bytes_of_either_order(order: str, mark: bytes):
    data = mark + struct.pack(f"{order}iI", 12, 345) + b"rest"
    assert header_stamp(data) == 12_000_000_345


def test_message_too_short_for_a_stamp():
    assert header_stamp(b"\x00\x01\x00\x00\x01") is None
