# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that contradict themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from outcomes import outcome as synthetic

from sysid_ros.recording.mapping import doubts_of


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ()),
        ({"interleaved": 200}, ("two nodes seem to publish /joint_states in turn (200 messages)",)),
        ({"conflicts": 3}, ("3 messages of /joint_states contradict others of the same stamp",)),
        ({"conflicts": 3, "messages": 3000}, ()),
        ({"backwards": 2, "farthest_back": 0.4}, ("2 stamps of /joint_states jump back",)),
        ({"backwards": 200, "farthest_back": 1.5 / 500.0}, ()),
    ],
)
def test_doubts_have_a_count(changes: dict[str, int], said: tuple[str, ...]) -> None:
    quality = replace(synthetic().quality[0], **changes)  # type: ignore[arg-type]
    assert doubts_of([quality]) == tuple(f"{one} in trajectory_00" for one in said)
