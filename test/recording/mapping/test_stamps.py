# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which clock dates a message, and what order stamps end up in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.errors import DataError
from sysid_ros.recording.bags import relate
from sysid_ros.recording.mapping import choose_stamps
from sysid_ros.recording.mapping.stamps import put_in_order, rounding
from sysid_ros.recording.messages import TopicColumns
from sysid_ros.recording.messages.stored_message import Clock

LOG = np.array([10, 20, 30])
PUBLISH = np.array([9, 19, 29])
HEADER = np.array([5, 15, 25])


def columns(publish=None, header=None) -> TopicColumns:
    nothing = np.empty((3, 0))
    return TopicColumns(
        "/a", "pkg/msg/A", (), LOG, publish, header, nothing, nothing.astype(bool), ()
    )


@pytest.mark.parametrize(
    ("wanted", "publish", "header", "used", "stamps"),
    [
        (Clock.HEADER, PUBLISH, HEADER, Clock.HEADER, HEADER),
        (Clock.HEADER, PUBLISH, None, Clock.PUBLISH, PUBLISH),
        (Clock.HEADER, None, None, Clock.RECEIVE, LOG),
        (Clock.PUBLISH, PUBLISH, HEADER, Clock.PUBLISH, PUBLISH),
        (Clock.PUBLISH, None, HEADER, Clock.RECEIVE, LOG),
        (Clock.PUBLISH, np.zeros(3, int), HEADER, Clock.RECEIVE, LOG),
        (Clock.RECEIVE, PUBLISH, HEADER, Clock.RECEIVE, LOG),
    ],
)
def test_the_wanted_clock_or_the_next_best(wanted, publish, header, used, stamps) -> None:
    clock, chosen = choose_stamps(columns(publish, header), wanted)
    assert clock is used
    np.testing.assert_array_equal(chosen, stamps)


def test_header_stamps_that_were_never_filled_in() -> None:
    with pytest.raises(DataError, match=r"/a: every header stamp is zero; .*'clock: receive'"):
        choose_stamps(columns(PUBLISH, np.zeros(3, int)), Clock.HEADER)


LATE = 10**9 * np.array([1, 2, 3])


def test_the_stamp_of_one_message_that_is_sent_again_and_again() -> None:
    once = replace(columns(PUBLISH, np.full(3, 7)), log_ns=LATE)
    with pytest.raises(DataError, match=r"/a: every header stamp is the same; .*'clock: receive'"):
        choose_stamps(once, Clock.HEADER)
    goals = replace(once, msgtype="trajectory_msgs/msg/JointTrajectory")
    clock, chosen = choose_stamps(goals, Clock.HEADER)  # each begins when it is sent
    assert clock is Clock.PUBLISH
    np.testing.assert_array_equal(chosen, PUBLISH)


def test_several_messages_of_one_instant_keep_their_stamp() -> None:
    clock, chosen = choose_stamps(columns(PUBLISH, np.full(3, 7)), Clock.HEADER)
    assert clock is Clock.HEADER
    np.testing.assert_array_equal(chosen, [7, 7, 7])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_stamps_in_order(stamps) -> None:
    given_stamps = np.array(stamps)
    ordered = put_in_order(Clock.HEADER, given_stamps, "/a")
    assert ordered.ns.tolist() == sorted(stamps)
    np.testing.assert_array_equal(given_stamps[ordered.rows], ordered.ns)
    assert sorted(ordered.rows) == list(range(len(stamps)))
    assert ordered.unset == 0, "simulation time starts at zero"
    for stamp in set(stamps):
        of_equal = ordered.rows[ordered.ns == stamp]
        assert of_equal.tolist() == sorted(of_equal), "the one received first comes first"
    assert ordered.as_received.tolist() == stamps


def test_stamps_that_jump_back_are_refused_not_sorted() -> None:
    stamps = np.concatenate([np.arange(0, 5 * 10**9, 10**8), np.arange(0, 3 * 10**9, 10**8)])
    with pytest.raises(DataError, match=r"/a: the header stamps jump back by 4.9 s after 4.900 s"):
        put_in_order(Clock.HEADER, stamps, "/a")


@pytest.mark.parametrize("at", [20, 50])
def test_the_recorders_clock_was_set_with_stamps_only_where_both_jump(at: int) -> None:
    """Elsewhere a message that was received early says nothing about that."""
    stamps = 10**17 + np.arange(100) * 10**8
    received = stamps + 10**6
    received[at:] -= 4 * 10**9
    stamps[50:] -= 4 * 10**9
    with pytest.raises(DataError) as error:
        put_in_order(Clock.HEADER, stamps, "/a", received)
    assert ("recover BAG --split" in str(error.value)) == (at == 20)


def test_stamps_that_were_not_yet_set() -> None:
    stamps = 10**18 + np.arange(10)
    stamps[[0, 4]] = 0
    ordered = put_in_order(Clock.HEADER, stamps, "/a")
    assert ordered.unset == 2
    assert ordered.rows.tolist() == [1, 2, 3, 5, 6, 7, 8, 9]


def test_offset_spread_and_drift() -> None:
    """A clock 2 s behind that runs 50 ppm slow, under queueing delays."""
    random = np.random.default_rng(3)
    true = np.arange(0, 100 * 10**9, 10**7)
    stamps = (true * (1.0 - 50e-6)).astype(np.int64) - 2 * 10**9
    queueing = random.exponential(1e-3, len(true))
    relation = relate(stamps, true + (queueing * 1e9).astype(np.int64))
    assert relation.drift == pytest.approx(50e-6, rel=0.02)
    assert relation.offset == pytest.approx(2.0, abs=2e-5), "without queueing"
    assert relation.median == pytest.approx(2.0 + 50 * 50e-6 + 0.7e-3, abs=5e-4)
    assert 1e-3 < relation.spread < 1e-2
    corrected = relation.corrected(stamps, drift=True)
    np.testing.assert_allclose((corrected - true) / 1e9, 0.0, atol=5e-5)
    shifted = relation.corrected(stamps, drift=False)
    np.testing.assert_array_equal(np.diff(shifted), np.diff(stamps))
    assert abs(np.mean(shifted - true)) < 5e4


@given(st.floats(-1e-4, 1e-4), st.floats(-5.0, 5.0), st.integers(0, 2**32 - 1))
def test_a_few_wrong_stamps_do_not_move_the_envelope(drift, offset, seed) -> None:
    random = np.random.default_rng(seed)
    stamps = np.sort(random.integers(0, 60 * 10**9, 3000))
    delays = offset + drift * stamps / 1e9 + random.gamma(2.0, 1e-3, len(stamps))
    delays[random.integers(0, 3000, 5)] -= 3.0  # stamped in the future
    delays[1000:1400] += 0.2  # the recorder was busy
    relation = relate(stamps, stamps + np.rint(delays * 1e9).astype(int))
    assert relation.drift == pytest.approx(drift, abs=1e-5)
    assert relation.offset == pytest.approx(offset, abs=2e-3)


def test_stamps_of_receipt_are_those_of_the_same_clock() -> None:
    stamps = np.arange(0, 10**10, 10**7)
    relation = relate(stamps, stamps)
    assert (relation.median, relation.spread, relation.offset, relation.drift) == (0, 0, 0, 0)


def test_a_single_message_has_no_drift() -> None:
    relation = relate(np.array([1_000_000_000]), np.array([1_500_000_000]))
    assert (relation.median, relation.spread, relation.offset, relation.drift) == (0.5, 0, 0.5, 0)


@pytest.mark.parametrize(
    ("rounded", "nodes", "step"),
    [(1, 1, 0.0), (10_000_000, 1, 0.01), (1_000_000, 1, 0.0), (10_000_000, 2, 0.0)],
)
def test_rounded_stamps_are_told_from_those_of_two_nodes(
    rounded: int, nodes: int, step: float
) -> None:
    """125 messages a second of one node; or pairs of a clock's that goes on by 10 ms."""
    rng = np.random.default_rng(3)
    interval = 8_000_000 if nodes == 1 else 10_000_000
    measured = np.repeat(interval * np.arange(300), nodes)
    received = measured + 2_000_000 + rng.integers(0, 300_000, len(measured))
    table = TopicColumns(
        "/joint_states", "sensor_msgs/msg/JointState", (), np.sort(received), None,
        measured // rounded * rounded, np.sin(1e-9 * received)[:, np.newaxis],
        np.ones((len(measured), 1), dtype=np.bool_), (None,),
    )  # fmt: skip
    assert rounding(table) == step


def test_messages_that_are_sent_again_are_not_rounded() -> None:
    """50 measurements a second, each of which is sent twice under its stamp."""
    measured = np.repeat(20_000_000 * np.arange(150), 2)
    table = TopicColumns(
        "/joint_states", "sensor_msgs/msg/JointState", (), 10_000_000 * np.arange(300), None,
        measured, np.sin(1e-9 * measured)[:, np.newaxis],
        np.ones((len(measured), 1), dtype=np.bool_), (None,),
    )  # fmt: skip
    assert rounding(table) == 0.0


def test_a_stamp_that_is_stuck_for_a_while_is_not_rounded() -> None:
    received = 5_000_000 * np.arange(600)
    measured = np.where((received > 10**9) & (received < 1_500_000_000), 10**9, received)
    table = TopicColumns(
        "/joint_states", "sensor_msgs/msg/JointState", (), received, None, measured,
        np.sin(1e-9 * received)[:, np.newaxis], np.ones((600, 1), dtype=np.bool_), (None,),
    )  # fmt: skip
    assert rounding(table) == 0.0


def test_stamps_stay_rounded_where_one_is_stuck_once() -> None:
    """A driver that was held up reads what came meanwhile at once."""
    received = 1_000_000 * np.arange(2000)
    measured = received // 10_000_000 * 10_000_000
    measured[1000:1025] = measured[1024]
    table = TopicColumns(
        "/joint_states", "sensor_msgs/msg/JointState", (), received, None, measured,
        np.sin(1e-8 * received)[:, np.newaxis], np.ones((2000, 1), dtype=np.bool_), (None,),
    )  # fmt: skip
    assert rounding(table) == pytest.approx(0.01)
