# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Clocks that are set forward in mid-recording, and stretches in which nothing is recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mapped_signals import COMMAND, SHOULDER, mapped

from sysid_ros.dataset import unusable
from sysid_ros.errors import DataError
from sysid_ros.recording.mapping import doubts_of
from sysid_ros.recording.mapping.clock_steps import steps_forward
from sysid_ros.recording.mapping.dating import date_topics
from sysid_ros.recording.mapping.gaps import silences
from sysid_ros.recording.messages import Clock, TopicColumns

_STEP = 300_000_000
_NOW = 1_700_000_000_000_000_000
_EVERY = 10_000_000


def set_forward(arm, *, stamps: bool, receipt: bool):
    """The arm with clocks that are set forward in the middle."""
    entries = []
    for entry in arm:
        if late := entry.log_ns >= arm[0].log_ns + 500_000_000:
            entry = replace(entry, log_ns=entry.log_ns + _STEP * receipt)
        if late and stamps and entry.topic == "/joint_states":
            stamp = entry.message.header.stamp
            seconds, nanoseconds = divmod(stamp.nanosec + _STEP, 1_000_000_000)
            entry.message.header.stamp = replace(
                stamp, sec=stamp.sec + seconds, nanosec=nanoseconds
            )
        entries.append(entry)
    return entries


@pytest.mark.parametrize(
    ("stamps", "receipt", "named"),
    [(True, False, "/joint_states"), (False, True, "/command"), (True, True, "")],
)
def test_a_clock_that_is_set_forward_is_told_or_no_window_spans_it(
    arm, write_bag, stamps: bool, receipt: bool, named: str
) -> None:
    path = write_bag(set_forward(arm, stamps=stamps, receipt=receipt))
    result = mapped(path, COMMAND, SHOULDER)
    said = doubts_of(result.quality)
    if named:
        (one,) = said
        assert one.startswith(f"the clock that dates {named} was set forward, by 0.3 s at 0.49")
        return
    assert said == ()
    (stretch,) = result.silent
    assert stretch == pytest.approx((0.49, 0.8), abs=1e-9)
    assert unusable(mapped(path, SHOULDER)) == result.silent, "also without commands"
    assert any("Nothing at all was recorded for 0.31 s" in one for one in result.warnings)


@pytest.mark.parametrize(("start", "end"), [(None, 0.45), (0.85, None)])
def test_what_is_cut_off_is_not_told(arm, write_bag, start, end) -> None:
    path = write_bag(set_forward(arm, stamps=True, receipt=False))
    assert doubts_of(mapped(path, SHOULDER, start=start, end=end).quality) == ()


def held_up(stamps: np.ndarray, *, queued: bool) -> np.ndarray:
    """Receipt of messages while a recorder, or this topic, is held up for a second."""
    late = np.maximum(0, stamps[200] + 1_000_000_000 - stamps) * (stamps >= stamps[200])
    return stamps + 500_000 + (late if queued else 1_000_000_000 * (stamps >= stamps[200]))


def test_a_recorder_or_topic_that_is_held_up_is_no_clock() -> None:
    stamps = _NOW + _EVERY * np.arange(600)
    queue = stamps, held_up(stamps, queued=True)
    assert steps_forward({"a": queue, "b": queue}) == {"a": (), "b": ()}
    ends_held_up = held_up(stamps, queued=True)[:225]
    comes_back = stamps + 500_000 + 400_000_000 * (np.arange(600) // 200 == 1)
    for log in (ends_held_up, comes_back):
        both = {"a": (stamps[: len(log)], log), "dated by receipt": (log, log)}
        assert not any(steps_forward(both).values())
    slower = stamps, held_up(stamps, queued=False)  # a filter that is switched on
    steady = stamps, stamps + 400_000
    assert steps_forward({"slower": slower, "steady": steady}) == {"slower": (), "steady": ()}


@pytest.mark.parametrize("slow", [80_000_000, 300_000_000])
@pytest.mark.parametrize("lost", [0, 20, 50])
def test_a_robot_that_comes_to_another_access_point_has_set_no_clock(slow: int, lost: int) -> None:
    """What is sent meanwhile is lost, and what comes then takes less time on its way."""
    stamps = _NOW + _EVERY * np.arange(600)
    log = np.maximum.accumulate(stamps + np.where(np.arange(600) < 300, slow, 1_000_000))
    heard = (np.arange(600) < 300 - lost) | (np.arange(600) >= 300)
    assert steps_forward({"robot": (stamps[heard], log[heard])}) == {"robot": ()}


def test_a_clock_that_is_set_with_the_recorders_is_told_by_one_that_is_not() -> None:
    """A camera of another machine tells that the robot's clock was set with the recorder's."""
    even = _NOW + _EVERY * np.arange(600)
    jumped = even + 2_000_000_000 * (np.arange(600) >= 250)
    found = steps_forward({"camera": (even, jumped), "robot": (jumped - 1000, jumped)})
    assert found["camera"] == ()
    (step,) = found["robot"]
    assert step.size == pytest.approx(2.0)


def test_where_a_set_clock_leaves_too_little_that_is_why(arm, write_bag) -> None:
    """As where a time zone's summer begins."""
    for entry in arm[75:]:
        if entry.topic == "/joint_states":
            entry.message.header.stamp.sec += 3600
    with pytest.raises(DataError) as error:
        mapped(write_bag(arm), COMMAND, SHOULDER)
    said = str(error.value)
    assert "is known for only" in said
    assert "; the clock that dates /joint_states was set forward by 3600 s at 0.49 s" in said


def test_as_many_steps_as_there_are_seconds_are_looked_at_without_reading_all_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A driver whose clock goes to and fro, for as long as one may record."""
    read, plain = [0], np.percentile
    monkeypatch.setattr(np, "percentile", lambda x, q: read.append(len(x)) or plain(x, q))
    stamps = _NOW + _EVERY * np.arange(100_000)
    log = stamps + 500_000 + 60_000_000
    found = steps_forward({"a": (stamps + 60_000_000 * (np.arange(100_000) // 25 % 2), log)})
    assert found == {"a": ()}
    assert 4000 * 50 < sum(read) < 100 * len(stamps)


def test_topics_that_are_sent_together_are_seldom_silent() -> None:
    """Five times a second, a millisecond apart."""
    states = np.arange(0.0, 20.0, 0.2)
    states[50:] += 2.0
    for topics in ([states], [states, states + 0.001], [states, states + 0.001, states[:1]]):
        ((begin, end),) = silences(topics, 0.1)
        assert (begin, end) == pytest.approx((9.8, 12.0), abs=2e-3)


def test_a_simulation_that_was_paused_has_set_no_clock_of_trajectories() -> None:
    """Their stamps, which say when they begin, are the simulation's as well."""
    ticks, none = np.arange(600), np.zeros((600, 1))
    stamps = 5_000_000_000 + _EVERY * ticks
    log = _NOW + _EVERY * ticks + 1_000_000_000 * (ticks > 300)
    topics = {
        topic: TopicColumns(
            topic, kind, (), log[::every] + late, None, stamps[::every],
            none[::every], none[::every] < 1.0, (None,),
        )
        for topic, kind, every, late in (
            ("/joint_states", "sensor_msgs/msg/JointState", 1, 500_000),
            ("/trajectory", "trajectory_msgs/msg/JointTrajectory", 50, 900_000),
        )
    }  # fmt: skip
    signals = [replace(SHOULDER, topic="/joint_states"), replace(COMMAND, topic="/trajectory")]
    dated = date_topics(topics, signals, [], Clock.HEADER)
    assert all(topic.forward == () for topic in dated.topics.values())


def test_copies_of_messages_are_counted_and_said(arm, write_bag) -> None:
    states = [replace(one, log_ns=one.log_ns + 10) for one in arm if one.topic == "/joint_states"]
    result = mapped(write_bag(sorted([*arm, *states], key=lambda one: one.log_ns)), SHOULDER)
    assert doubts_of(result.quality) == ()
    said = "100 messages of /joint_states have the stamp and the values of one before"
    assert any(said in one for one in result.warnings)
