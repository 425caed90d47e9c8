# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Counts per topic: losses by sequence, gaps and disorder by stamps."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from sysid_ros.nodes.recorder import topic_statistics
from sysid_ros.nodes.recorder.diagnostics import topic_status, topic_values
from sysid_ros.nodes.recorder.message_losses import losses
from sysid_ros.nodes.recorder.topic_statistics import (
    TopicStatistics,
    header_stamp,
    receipt_in_order,
    times_of,
)

MS = 1_000_000


def fed(stamps_ms: list[int], sequences: list[int] | None = None) -> TopicStatistics:
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for index, stamp in enumerate(stamps_ms):
        statistics.add(stamp * MS, stamp * MS, b"a", sequences[index] if sequences else None)
    return statistics


def test_even_topic():
    statistics = fed(list(range(0, 1000, 2)), list(range(1, 501)))
    assert statistics.received == 500
    assert statistics.rate == pytest.approx(500.0)
    assert (statistics.lost, statistics.gaps, statistics.backwards) == (0, 0, 0)


def test_numbers_left_out_are_losses():
    assert fed([0, 2, 4, 6], [7, 8, 12, 13]).lost == 3


def test_messages_before_the_first_of_a_new_publisher_are_unknown():
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    statistics.expect([b"there"])
    statistics.add(0, 0, b"there", 900)
    statistics.add(2, 2, b"new", 38)
    statistics.add(3, 3, b"new", 40)
    assert (statistics.lost, statistics.unheard) == (1, 37)
    assert "37 messages" in str(losses({"/a": statistics}, {"/a": None}))
    following = statistics.anew()
    following.add(4, 4, b"new", 43)  # two of the next bag's are lost
    assert (following.received, following.lost, following.unheard) == (1, 2, 0)


def test_losses_of_large_messages_come_with_advice():
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for sequence in (1, 3):
        statistics.add(sequence, sequence, b"a", sequence, size=2_000_000)
    said = str(losses({"/image": statistics}, {"/image": None}))
    assert said.startswith("1 messages of /image were lost (they take up to 2.0 MB: ")
    assert "config/large_messages.xml" in said and "ros2 bag record" in said
    assert str(losses({"/a": fed([0, 2], [1, 3])}, {})) == "1 messages of /a were lost"


def test_a_topic_whose_latched_message_is_in_every_bag_is_not_missing():
    none, well = TopicStatistics(max_gap_ns=100 * MS), {"/a": None, "/b": None}
    assert list(losses({"/a": none}, well, kept={"/a"}).silent) == ["/b"]
    assert topic_status("recorder", "/a", none, None, 0).level == DiagnosticStatus.WARN
    assert topic_status("recorder", "/a", none, None, 0, kept=True).level == DiagnosticStatus.OK


def test_three_topics_that_lack_messages_are_named_and_the_others_counted():
    silent = dict.fromkeys(["/a", "/b", "/c", "/d"])
    assert str(losses({}, silent)).endswith("; and 1 further topic lacks messages")
    assert str(losses({}, {**silent, "/e": None})).endswith("; and 2 further topics lack messages")


def test_losses_are_counted_per_publisher():
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for number in range(10):
        statistics.add(number * MS, number * MS, b"a", number)
        statistics.add(number * MS, number * MS, b"b", 1000 + number)
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


def test_numbers_in_another_order_are_no_losses():
    statistics = fed([0, 2, 4, 6, 8], [1, 3, 4, 2, 5])
    assert statistics.lost == 0
    assert statistics.reordered == 1


@pytest.mark.parametrize(
    ("received", "now", "kept"),
    [(120, 121, 120), (90, 130, 100), (90, 95, 95)],
    ids=["in order", "waited for one that was sent again", "the clock was set back"],
)
def test_receipts_are_in_the_order_of_messages(received: int, now: int, kept: int):
    assert receipt_in_order(received, 100, now) == kept


def test_jitter_is_of_the_intervals():
    rng = np.random.default_rng(0)
    stamps = 10.0 * np.arange(200) + rng.uniform(-1.0, 1.0, 200)
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for stamp in stamps:
        statistics.add(round(stamp * MS), 0, b"a", None)
    intervals = np.diff(stamps) / 1e3
    expected = np.percentile(np.abs(intervals - np.median(intervals)), 95)
    assert statistics.jitter == pytest.approx(expected, rel=0.01)


def test_clock_offset_and_drift_are_seen_through_queueing():
    rng = np.random.default_rng(0)
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for number in range(20_000):
        stamp = number * 2 * MS
        delay = 30 * MS + 20e-6 * stamp + rng.exponential(3 * MS)  # the clocks drift by 20 us/s
        statistics.add(stamp, stamp + round(delay), b"a", None)
    assert statistics.clock is not None
    assert statistics.clock.offset == pytest.approx(0.030, abs=2e-4)
    assert statistics.clock.drift == pytest.approx(20e-6, rel=0.2)
    assert statistics.late == 0


def test_regular_topic_that_stops_has_fallen_silent():
    statistics = fed(list(range(0, 1000, 10)))
    assert not statistics.has_fallen_silent(1500 * MS)
    assert statistics.has_fallen_silent(2500 * MS)
    assert statistics.silence(2490 * MS) == pytest.approx(1.5)


def test_topic_that_comes_now_and_then_may_be_silent():
    assert not fed([0, 3000]).has_fallen_silent(60_000 * MS)


def test_late_messages_are_counted_whatever_the_clocks_offset():
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for number in range(300):
        delay = 5000 * MS + (200 * MS if number in (150, 151) else 0)
        statistics.add(number * MS, number * MS + delay, b"a", None)
    assert statistics.late == 2


@pytest.mark.parametrize(
    ("order", "mark"), [("<", b"\x00\x01\x00\x00"), (">", b"\x00\x00\x00\x00")]
)
def test_stamp_is_read_from_bytes_of_either_order(order: str, mark: bytes):
    data = mark + struct.pack(f"{order}iI", 12, 345) + b"rest"
    assert header_stamp(data) == 12_000_000_345


def test_message_too_short_for_a_stamp():
    assert header_stamp(b"\x00\x01\x00\x00\x01") is None


@pytest.mark.parametrize("unknown", [0, -1])
def test_times_that_the_middleware_does_not_know_are_those_of_now(unknown: int):
    def times(received: int, published: int) -> tuple[int, int]:
        info = {"received_timestamp": received, "source_timestamp": published}
        return times_of(info, last_ns=0, now_ns=100)

    assert times(90, 80) == (90, 80)
    assert times(90, unknown) == (90, 90)
    assert times(unknown, unknown) == (100, 100)


@pytest.mark.parametrize(("pace", "ahead"), [(3, 0), (1, 10**18), (1, 0)])
def test_simulated_time_has_no_offset_from_the_computers(pace: int, ahead: int):
    statistics = TopicStatistics(max_gap_ns=100 * MS)
    for index in range(1000):
        statistics.add(index * MS, ahead + pace * index * MS, b"a", None)
    told = topic_values(statistics, now_ns=ahead)
    words = {
        name: told[f"clock {name}"].startswith("none (") for name in ("offset (s)", "drift (s/s)")
    }
    assert words == {"offset (s)": ahead > 0, "drift (s/s)": pace > 1}
    assert told["late"] == ("unknown" if pace > 1 else "0")


def test_what_is_kept_of_clocks_does_not_grow(monkeypatch: pytest.MonkeyPatch):
    """A recorder watches for days, and looks at all of it once a second."""
    monkeypatch.setattr(topic_statistics, "_MOST_BLOCKS", 32)
    statistics, rng = TopicStatistics(max_gap_ns=10**9), np.random.default_rng(0)
    late = rng.exponential(5.0, 12_800)
    for index, delay in enumerate(late.tolist()):
        stamp = 10 * MS * index
        log = stamp + 3 * MS + round(1e-4 * stamp + delay * MS)
        statistics.add(stamp, log, b"a", None)
    assert len(statistics._quickest) <= 2 * 32
    assert statistics.clock.drift == pytest.approx(1e-4, rel=0.02)
    assert statistics.clock.offset == pytest.approx(0.003, abs=3e-4)
