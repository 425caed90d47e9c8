# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The joint monitor names what left its limit, and notices silence."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.joint_monitor import JointMonitor, MotionLimits

JOINTS = ("shoulder", "elbow")
LOWER = np.array([-1.0, -2.0])
UPPER = np.array([1.5, 0.5])
RATE = np.array([2.0, 3.0])


def monitor(timeout: float = 0.2) -> JointMonitor:
    limits = MotionLimits(LOWER, UPPER, RATE, np.array([5.0, np.inf]))
    return JointMonitor(JOINTS, limits, timeout=timeout)


NOTHING = np.full(2, np.nan)
ZERO = np.zeros(2)


def test_monitor_is_content_with_motion_within_limits():
    watch = monitor()
    watch.observe(1.0, np.zeros(2), np.zeros(2), np.array([4.9, 100.0]))
    assert watch.fault(1.1) is None


@pytest.mark.parametrize(
    ("position", "velocity", "effort", "words"),
    [
        ([1.6, 0.0], NOTHING, NOTHING, "position of joint 'shoulder' is 1.6, above"),
        ([0.0, -2.1], NOTHING, NOTHING, "position of joint 'elbow' is -2.1, below"),
        ([0.0, np.nan], NOTHING, NOTHING, "position of joint 'elbow' is nan"),
        (ZERO, [0.0, -3.1], NOTHING, "velocity of joint 'elbow' is -3.1, beyond"),
        (ZERO, NOTHING, [-6.0, 0.0], "effort of joint 'shoulder' is -6, beyond"),
    ],
)
def test_monitor_names_the_joint_that_left_its_limit(position, velocity, effort, words):
    watch = monitor()
    watch.observe(0.0, np.array(position), np.array(velocity), np.array(effort))
    assert words in (watch.fault(0.0) or "")
    watch.observe(0.1, np.zeros(2), np.zeros(2), np.zeros(2))
    assert words in (watch.fault(0.1) or "")  # a fault stays until it is cleared
    watch.clear()
    assert watch.fault(0.1) is None


def test_monitor_notices_joint_states_that_stop_or_never_come():
    watch = monitor(timeout=0.2)
    assert watch.fault(0.0) == "no joint states have arrived"
    watch.observe(1.0, np.zeros(2), NOTHING, NOTHING)
    assert watch.fault(1.2) is None
    assert watch.fault(1.35) == "no joint states for 0.35 s"
