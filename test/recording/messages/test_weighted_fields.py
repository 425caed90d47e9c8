# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of a message's numbers with weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_typestore

from sysid_ros.errors import DataError
from sysid_ros.recording.messages import is_played, numbers_of, parse_fields

FIELDS = {name: own for name, (_, own) in get_typestore(Stores.ROS2_JAZZY).fielddefs.items()}
PATHS = ["data[-1]", "linear.x", 'position["a-b"]', "position[arm+tool]", "q[motor_id=3]"]
WEIGHTS = st.floats(1e-6, 1e6).flatmap(lambda size: st.sampled_from([size, -size]))


@given(
    st.lists(
        st.tuples(WEIGHTS, st.sampled_from(PATHS), st.sampled_from([1, 2])), min_size=1, max_size=4
    )
)
def test_what_is_written_is_read(terms: list[tuple[float, str, int]]) -> None:
    text = " ".join(
        f"{'-' if weight < 0.0 else '+'} {abs(weight)!r} * {path}{'^2' if power == 2 else ''}"
        for weight, path, power in terms
    )
    assert [(one.weight, str(one.path), one.power) for one in parse_fields(text)] == terms


@pytest.mark.parametrize("path", [*PATHS, "points[*].positions[elbow]", "pose.orientation"])
def test_a_field_by_itself_counts_once(path: str) -> None:
    assert [(one.weight, str(one.path)) for one in parse_fields(path)] == [(1.0, path)]
    assert is_played(path) == ("*" in path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a field path"),
        ("linear.x angular.z", "is not a field path"),
        ("linear.x +", "is not a field path"),
        ("2 * 3 * linear.x", "is not a field path"),
        ("linear.x * angular.z", "is not a field path"),
        ("0 * linear.x + angular.z", "a weight is 0"),
        ("2 * linear.x^3", "is not a field path"),
        ("points[*].positions[a]^2", "whole trajectories have no sum"),
        ("1e999 * linear.x", "beyond all numbers"),
        ("points[*].positions[a] + points[*].positions[b]", "whole trajectories have no sum"),
    ],
)
def test_what_is_no_sum_is_refused(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        parse_fields(text)


def test_a_sum_is_of_single_numbers() -> None:
    kind = "geometry_msgs/msg/Twist"
    found = numbers_of("30 * linear.x - 4.5 * angular.z", kind, FIELDS)
    assert (list(map(str, found.paths)), found.weights) == (["linear.x", "angular.z"], (30.0, -4.5))
    assert numbers_of("linear", kind, FIELDS).weights == ()
    with pytest.raises(DataError, match="a sum is of single numbers, such as linear"):
        numbers_of("linear + angular", kind, FIELDS)
