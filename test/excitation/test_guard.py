# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The last guard: whatever it is given, what it lets through is never a step."""

from __future__ import annotations

import numpy as np
import pytest
from excitation_limits import assert_no_step
from hypothesis import given
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
LIMITS = CommandLimits(np.array([-1.0]), np.array([1.0]), VELOCITY, ACCELERATION)


@given(st.lists(st.floats(), max_size=40), st.lists(st.integers(0, 39), max_size=3))
def test_no_nonsense_gets_through_as_a_step(values, gaps):
    guard = CommandGuard(LIMITS, PERIOD, np.zeros(1))
    passed = [np.zeros(1), np.zeros(1)]
    for tick, value in enumerate(values):
        if tick in gaps:
            guard.left_alone(7)
        passed.append(guard.passed(np.array([[value]]))[0])
    while not guard.at_rest:
        passed.append(guard.slowed()[0])
    assert_no_step(np.array(passed), PERIOD, VELOCITY, ACCELERATION)


class Leap:
    """A reference that breaks its promise once the motion has been checked."""

    joints = ("a",)
    duration = 10.0
    rests = False

    def values(self, times):
        return np.where(times < 5.0, 0.1, -0.9)[:, None]


def test_a_mistake_in_the_plan_becomes_a_soft_stop_that_is_named():
    path = ExcitationPath(Leap(), np.zeros(1), ramp=2.0)
    playback = Playback(path, LIMITS, period=PERIOD)
    motion = Motion(playback, CommandGuard(LIMITS, PERIOD, np.zeros(1)), period=PERIOD, timeout=1.0)
    commands = [np.zeros(1), np.zeros(1)]
    while not motion.finished:
        commands.append(motion.advance(PERIOD)[0])
    assert "held back" in (motion.fault(PERIOD) or "")
    assert commands[-1] == pytest.approx(0.1, abs=0.01)  # it stopped where it was
    assert_no_step(np.array(commands), PERIOD, VELOCITY, ACCELERATION)


def test_what_keeps_messages_from_going_out_is_named():
    still = TabulatedReference(("a",), np.array([0.0, 9.0]), np.zeros((2, 1)), ACCELERATION)
    playback = Playback(ExcitationPath(still, np.zeros(1)), LIMITS, period=PERIOD)
    motion = Motion(playback, CommandGuard(LIMITS, PERIOD, np.zeros(1)), period=PERIOD, timeout=0.2)
    motion.advance(PERIOD)
    assert motion.fault(0.15) is None
    assert motion.fault(1.0) == "no command went out for 1.00 s"
    assert motion.fault(-3.0) == "the clock was set back by 3.00 s"
    for _ in range(50):
        assert motion.fault(0.05) is None
        motion.advance(0.05)
    for since in (0.05, 0.0):  # asked again right after the last message, too
        assert "commands go out 0.05 s apart where 0.01 s" in (motion.fault(since) or "")
