# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion whose process is held up anywhere: what counts is when a message is ready."""

from __future__ import annotations

import numpy as np
import pytest
from excitation_limits import assert_no_step
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.excitation import (
    CommandGuard,
    CommandLimits,
    ExcitationPath,
    Motion,
    Playback,
    TabulatedReference,
)

PERIOD = 0.01
VELOCITY, ACCELERATION = np.array([2.0]), np.array([20.0])
LIMITS = CommandLimits(np.array([-2.0]), np.array([9.0]), VELOCITY, ACCELERATION)
TIMES = np.array([0.0, 5.0])
FAST = TabulatedReference(("a",), TIMES, np.array([[0.0], [5.0]]), ACCELERATION)  # 1 rad/s


class HeldUp:
    """A clock that is looked at in vain: each look finds it later by what was given, then by 0."""

    def __init__(self, *delays: float) -> None:
        self.time, self._delays = 0.0, list(delays)

    def __call__(self) -> float:
        self.time += self._delays.pop(0) if self._delays else 0.0
        return self.time


def a_motion(timeout: float = 60.0) -> Motion:
    path = ExcitationPath(FAST, np.zeros(1), ramp=1.0)
    playback, guard = Playback(path, LIMITS, period=PERIOD), CommandGuard(LIMITS, PERIOD, path.rest)
    return Motion(playback, guard, period=PERIOD, timeout=timeout)


def at_full_speed(timeout: float = 60.0) -> Motion:
    motion = a_motion(timeout)
    for _ in range(200):
        motion.advance(PERIOD)
    assert motion.last - motion.before == pytest.approx(0.01)
    return motion


TURN = ACCELERATION[0] * PERIOD**2 * 1.002


def test_a_message_that_was_held_up_while_it_was_made_begins_from_rest():
    motion = at_full_speed()
    last = motion.last
    message = motion.message(0.0, HeldUp(PERIOD, 0.3))
    assert message is not None and message.instant == pytest.approx(PERIOD + 0.3)
    assert 0.0 <= message.commands[0] - last <= TURN
    assert motion.last == last  # what is not published changes nothing


def test_a_message_ready_within_half_a_period_of_the_last_is_not_sent():
    motion = at_full_speed()
    last, before = motion.last, motion.before
    assert motion.message(0.0, HeldUp(0.4 * PERIOD)) is None
    assert motion.last == last and motion.before == before
    message = motion.message(0.0, HeldUp(1.4 * PERIOD))
    assert message is not None and message.commands[0] - last == pytest.approx(0.01)


def test_a_stall_beyond_the_timeout_is_named_wherever_it_came():
    message = at_full_speed(timeout=0.2).message(0.0, HeldUp(PERIOD, 0.3))
    assert message is not None
    assert message.motion.fault(0.0) == "no command went out for 0.31 s"


DELAY = st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.4, 0.9, 1.5, 3.0, 30.0])


@settings(max_examples=60)
@given(st.dictionaries(st.integers(0, 399), st.tuples(DELAY, DELAY), max_size=40))
def test_messages_keep_their_limits_at_the_instants_at_which_they_are_ready(late):
    motion, sent, due, time = a_motion(), 0.0, PERIOD, 0.0
    obeyed = [np.zeros(1), np.zeros(1)]  # what the receiver has: two of the same where it stood
    for tick in range(400):
        before, made = (PERIOD * delay for delay in late.get(tick, (0.0, 0.0)))
        clock = HeldUp(max(due, time) + before, made)
        message, time = motion.message(sent, clock), clock.time
        due = PERIOD * (1.0 + np.floor(max(due, time) / PERIOD + 1e-9))  # as a timer catches up
        if message is None:
            continue
        gap, motion, sent = message.instant - sent, message.motion, message.instant
        assert gap >= 0.5 * PERIOD
        obeyed += [obeyed[-1], message.commands[0]] if gap > 2.0 * PERIOD else [message.commands[0]]
        if gap > 2.0 * PERIOD:  # the receiver stood
            assert np.abs(obeyed[-1] - obeyed[-2]) <= TURN
    assert_no_step(np.array(obeyed), PERIOD, VELOCITY, ACCELERATION)
