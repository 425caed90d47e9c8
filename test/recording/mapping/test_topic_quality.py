# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that contradict themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from outcomes import outcome as synthetic

from sysid_ros.recording.mapping import TopicQuality, doubts_of
from sysid_ros.recording.mapping.dating import DatedTopic
from sysid_ros.recording.mapping.stamps import put_in_order
from sysid_ros.recording.mapping.topic_quality import topic_quality
from sysid_ros.recording.messages import Clock, TopicColumns, parse_field


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ()),
        ({"interleaved": 200}, ("two nodes seem to publish /joint_states in turn (200 messages)",)),
        ({"conflicts": 3}, ("3 messages of /joint_states contradict others of the same stamp",)),
        ({"conflicts": 3, "messages": 3000}, ()),
        (
            {"conflicts": 3, "rounded": 0.01},
            ("3 messages of /joint_states share stamps, which are rounded to 0.01 s",),
        ),
        ({"backwards": 2, "farthest_back": 0.4}, ("2 stamps of /joint_states jump back",)),
        ({"backwards": 200, "farthest_back": 1.5 / 500.0}, ()),
    ],
)
def test_doubts_have_a_count(changes: dict[str, float], said: tuple[str, ...]) -> None:
    quality = replace(synthetic().quality[0], **changes)  # type: ignore[arg-type]
    assert doubts_of([quality]) == tuple(f"{one} in trajectory_00" for one in said)


@pytest.mark.parametrize(("apart", "said"), [(2e-4, False), (0.1, True)])
def test_last_digits_that_come_and_go_are_no_two_courses(apart: float, said: bool) -> None:
    """A controller's output swings to and fro by its last digits while friction holds the joint."""
    command = 12.0 * np.sin(np.arange(600) / 40.0)
    command[200:] = 0.05 + np.resize([0.0, apart], 400)
    assert bool(command_quality(command, 0.02).interleaved) is said


@pytest.mark.parametrize(("interval", "said"), [(0.4, False), (0.02, True)])
def test_levels_that_are_sent_on_change_are_no_two_courses(interval: float, said: bool) -> None:
    """A jog to and fro; a stream of the same looks like two publishers' turns."""
    levels = np.resize([0.1, -0.2], 240) + 0.1 * np.sin(np.arange(240) / 40.0)
    assert bool(command_quality(levels, interval).interleaved) is said


def test_kicks_of_a_differentiated_encoder_are_no_other_course() -> None:
    """Each step to and fro is a spike of one message; a slow publisher has a course as well."""
    times = 0.01 * np.arange(3000)
    rng = np.random.default_rng(2)
    steps = np.round((0.01 * np.sin(times) + rng.normal(0.0, 5e-4, 3000)) / 1e-3)
    held = steps[np.arange(3000) // 3 * 3]  # the encoder is read at a third of the rate
    kicks = 2.5 * np.diff(held, prepend=held[0])
    assert np.mean(kicks != 0.0) > 0.15
    command = 5.0 + 4.0 * np.sin(times + 1.0) + kicks
    assert not command_quality(command, 0.01).interleaved
    shared = np.where(np.arange(3000) % 4 == 0, 12.0 + np.cos(0.7 * times), command - kicks)
    assert command_quality(shared, 0.01).interleaved


def command_quality(commands: np.ndarray, interval: float) -> TopicQuality:
    """The quality of a topic of single numbers that come evenly."""
    stamps = (1e9 * interval * np.arange(len(commands))).astype(np.int64)
    everywhere = np.ones((len(commands), 1), dtype=np.bool_)
    columns = TopicColumns(
        "/cmd", "std_msgs/msg/Float64", (parse_field("data"),), stamps, None, None,
        commands[:, None], everywhere, (None,),
    )  # fmt: skip
    topic = DatedTopic(columns, put_in_order(Clock.RECEIVE, stamps, "/cmd"), 1e-9 * stamps)
    return topic_quality("bag", topic, None, (0.0, np.inf), 0.1)
