# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that the recording lacks, beside those that nobody sent."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.recording.mapping.lost_commands import with_lost_commands

PERIOD = 0.02
SENT = PERIOD * np.arange(200) + np.random.default_rng(3).uniform(0.0, 0.003, 200)
MOTION = np.sin(2.0 * SENT)[:, None]
LOST = np.array([17, 61, 62, 140])


def test_what_is_lost_of_a_stream_lies_between_what_is_not() -> None:
    left = np.delete(np.arange(200), LOST)
    times, values = with_lost_commands(SENT[left], MOTION[left], 0.1)
    assert len(times) == 200 and np.all(np.diff(times) > 0.0)
    assert np.abs(times - SENT).max() < 0.004
    held = np.abs(MOTION[LOST - 1] - MOTION[LOST]).max()
    assert np.abs(values - np.sin(2.0 * times)[:, None]).max() < 0.05 * held


def test_what_nobody_sent_is_not_filled_in() -> None:
    moving = np.cumsum(np.where(np.isin(np.arange(200), LOST), 0.0, 0.01))[:, None]
    changed = np.flatnonzero(np.diff(moving[:, 0], prepend=-1.0) != 0.0)
    assert len(changed) == 196  # of a stream that is silent while nothing changes
    steps = np.floor(SENT / 0.5)[:, None]  # and of one of jumps
    for values, kept in ((moving, changed), (steps, np.delete(np.arange(200), LOST))):
        assert len(with_lost_commands(SENT[kept], values[kept], 0.1)[0]) == len(kept)


@pytest.mark.parametrize("lost", [range(50, 60), range(0, 200, 3)])
def test_gaps_and_streams_without_a_rate_stay(lost) -> None:
    left = np.delete(np.arange(200), list(lost))
    assert len(with_lost_commands(SENT[left], MOTION[left], 0.1)[0]) == len(left)


def test_few_commands_stay() -> None:
    assert len(with_lost_commands(SENT[:3], MOTION[:3], 0.1)[0]) == 3
