# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names are wanted always, patterns match what is there."""

from __future__ import annotations

import pytest

from sysid_ros.errors import ExperimentError
from sysid_ros.nodes.recorder.topic_selection import TopicSelection

PRESENT = ["/arm/state", "/arm/left/state", "/imu", "/rosout"]


def test_names_are_wanted_even_where_nothing_publishes_them():
    selection = TopicSelection(["/joint_states", "/joint_states"])
    assert selection.matching(PRESENT) == ("/joint_states",)
    assert not selection.has_patterns


def test_shell_pattern_matches_all_levels():
    assert TopicSelection(["/arm/*"]).matching(PRESENT) == ("/arm/left/state", "/arm/state")


def test_regex_must_match_the_whole_name():
    assert TopicSelection([], regex="/(imu|arm)").matching(PRESENT) == ("/imu",)
    assert TopicSelection([], regex="/(imu|arm/.*)").matching(PRESENT) == (
        "/arm/left/state",
        "/arm/state",
        "/imu",
    )


def test_excluded_topics_are_left_out_of_patterns_but_not_of_names():
    selection = TopicSelection(["/*", "/imu"], exclude=["/imu", "/ros*"])
    assert selection.matching(PRESENT) == ("/imu", "/arm/left/state", "/arm/state")


def test_hidden_topics_match_only_patterns_that_ask_for_them():
    hidden = ["/arm/follow/_action/feedback", "/_private", "/arm/state_2"]
    assert TopicSelection(["/*"]).matching(hidden) == ("/arm/state_2",)
    assert TopicSelection([], regex="/.*").matching(hidden) == ("/arm/state_2",)
    assert TopicSelection(["/*/_action/*"]).matching(hidden) == (hidden[0],)
    assert TopicSelection([], regex="/_.*").matching(hidden) == (hidden[1],)
    assert TopicSelection([hidden[0]]).matching(hidden) == (hidden[0],)


def test_wrong_expression_is_shown():
    with pytest.raises(ExperimentError, match=r"regex, '\('"):
        TopicSelection([], regex="(")


def test_nothing_selected_says_what_to_give():
    with pytest.raises(ExperimentError, match="experiment, topics or regex"):
        TopicSelection([])
