# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The joint monitor: limits, silence, parts, stamps, and joints that do not follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sysid_ros.excitation import ExcitationError, FollowingWatch, JointMonitor, MotionLimits

JOINTS = ("shoulder", "elbow")
LIMITS = MotionLimits(
    lower=np.array([-1.0, -2.0]),
    upper=np.array([1.5, 0.5]),
    velocity=np.array([2.0, 3.0]),
    acceleration=np.array([4.0, 6.0]),
    effort=np.array([5.0, np.inf]),
)
ZERO = [0.0, 0.0]


def monitor(
    timeout: float = 0.2,
    tolerance: float = 0.2,
    delay: float = 0.1,
    is_effort: bool = False,
    limits: MotionLimits = LIMITS,
) -> JointMonitor:
    following = FollowingWatch(JOINTS, np.full(2, tolerance), delay=delay, is_effort=is_effort)
    return JointMonitor(JOINTS, limits, following, timeout=timeout)


def moving(**options) -> JointMonitor:
    """A monitor of a motion that began at 1.0 s, everything measured and zero."""
    watch = monitor(**options)
    watch.observe(1.0, JOINTS, ZERO, ZERO, ZERO)
    watch.start(1.0, np.zeros(2))
    return watch


def test_monitor_is_content_with_motion_within_limits():
    watch = monitor()
    watch.observe(1.0, JOINTS, ZERO, ZERO, [4.9, 100.0])
    assert watch.fault(1.1) is None


@pytest.mark.parametrize(
    ("position", "velocity", "effort", "words"),
    [
        ([1.6, 0.0], (), (), "position of joint 'shoulder' is 1.6, above"),
        ([0.0, -2.1], (), (), "position of joint 'elbow' is -2.1, below"),
        ([0.0, np.nan], (), (), "position of joint 'elbow' is nan"),
        (ZERO, [0.0, -3.1], (), "velocity of joint 'elbow' is -3.1, beyond"),
        (ZERO, (), [-6.0, 0.0], "effort of joint 'shoulder' is -6, beyond"),
    ],
)
def test_monitor_names_the_joint_that_left_its_limit(position, velocity, effort, words):
    watch = moving()
    watch.observe(1.0, JOINTS, position, velocity, effort)
    assert words in (watch.fault(1.0) or "")
    watch.observe(1.1, JOINTS, ZERO, ZERO, ZERO)
    assert words in (watch.fault(1.1) or "")  # a fault stays until the motion is over
    watch.end()
    assert watch.fault(1.1) is None


def test_at_rest_the_latest_measurement_counts():
    watch = monitor()
    watch.observe(0.0, JOINTS, [0.0, 0.9])
    assert "above its limit" in (watch.fault(0.0) or "")
    watch.observe(0.1, JOINTS, ZERO)
    assert "leaps" in (watch.fault(0.1) or "")
    watch.observe(1.2, JOINTS, ZERO)
    assert watch.fault(1.2) is None


def test_no_motion_begins_where_two_nodes_say_otherwise_of_one_joint():
    """As a node with sliders beside the robot's driver: to begin at its word would be a step."""
    watch = monitor(tolerance=0.2)
    for step in range(5):
        watch.observe(0.1 * step, JOINTS, [0.0, 0.3])
        watch.observe(0.1 * step + 0.01, JOINTS, ZERO)
        assert "position of joint 'elbow' leaps" in (watch.fault(0.1 * step + 0.01) or "")
    for now in (0.6, 0.7):
        watch.observe(now, JOINTS, [0.15, 0.0])  # no more than a joint may be off
    watch.observe(1.5, JOINTS, [0.15, 0.0])
    assert watch.fault(1.5) is None


@pytest.mark.parametrize("speed", [0.0, 0.04, 0.2, -2.0])  # of the velocity limit
def test_a_joint_that_somebody_moves_is_told_from_one_that_rests(speed):
    watch, noise = monitor(), 1e-3 * np.random.default_rng(0).standard_normal(101)
    for step in range(101):
        places = [0.005 * speed * LIMITS.velocity[0] * step + noise[step], 0.5]
        watch.observe(0.005 * step, JOINTS, places)
        if not step:
            assert not watch.unrest(0.0)  # that it was not heard of before is no motion
    said = watch.unrest(0.5)
    assert ("'shoulder' moves" in said) == (abs(speed) > 0.05) and bool(said) == ("moves" in said)
    for step in range(1, 5):
        watch.observe(0.5 + 0.1 * step, JOINTS, places)
    assert not watch.unrest(0.9)


def test_who_was_brought_elsewhere_by_a_motion_rests_there():
    watch = monitor()
    watch.observe(0.0, JOINTS, ZERO)
    watch.start(0.1, np.array(ZERO))
    watch.observe(0.2, JOINTS, [0.3, 0.0])
    watch.end()
    for step in range(3):
        watch.observe(0.21 + 0.01 * step, JOINTS, [0.3, 0.0])
        assert not watch.unrest(0.21 + 0.01 * step)


def test_a_continuous_joint_where_its_angle_wraps_is_told_from_two_nodes():
    """Which of both angles its controller holds is not known: to begin there may be a turn."""
    wide = np.full(2, 7.0)
    watch = monitor(limits=replace(LIMITS, lower=-wide, upper=wide))
    for now, angle in ((0.0, 3.141), (0.01, -3.1411)):
        watch.observe(now, JOINTS, [0.0, angle])
    said = watch.fault(0.01) or ""
    assert "leaps by 6.282" in said and "a whole turn" in said and "two nodes" not in said
    watch.observe(2.0, JOINTS, [0.0, -3.1411])
    assert watch.fault(2.0) is None
    watch.start(2.0, np.array([0.0, -3.1411]))
    watch.observe(2.01, JOINTS, [0.0, 3.141])
    said = watch.fault(2.01) or ""
    assert "does not follow" in said and "a whole turn" in said


def test_monitor_notices_joint_states_that_stop_or_never_come():
    watch = monitor(timeout=0.2)
    assert watch.fault(0.0) == "no joint states have arrived"
    watch.observe(1.0, JOINTS, ZERO)
    assert watch.fault(1.2) is None
    assert watch.fault(1.35) == "no joint states for 0.35 s"


def test_what_came_before_a_simulation_began_anew_does_not_count():
    watch = monitor(timeout=0.2)
    watch.observe(100.0, JOINTS, ZERO)
    assert watch.fault(3.0) == "no joint states since the clock was set back"
    watch.observe(3.0, JOINTS[:1], ZERO[:1])
    assert watch.fault(3.1) == "no joint states of joint 'elbow' since the clock was set back"
    watch.observe(3.1, JOINTS, ZERO)
    assert watch.fault(3.1) is None


@pytest.mark.parametrize("kind", [1, 2])
def test_a_measurement_that_turns_nan_is_a_fault(kind):
    watch = moving()
    data = [ZERO, ZERO, ZERO]
    data[kind] = [0.0, np.nan]
    watch.observe(1.1, JOINTS, *data)
    assert "of joint 'elbow' is nan" in (watch.fault(1.1) or "")


def test_what_was_never_measured_may_be_nan():
    watch = monitor()
    nothing = [np.nan, np.nan]
    watch.observe(1.0, JOINTS, ZERO, nothing, nothing)
    watch.start(1.0, np.zeros(2))
    watch.observe(1.1, JOINTS, ZERO, nothing, nothing)
    assert watch.fault(1.15) is None


def test_a_measurement_that_is_left_out_grows_old():
    watch = moving()
    for now in (1.1, 1.2, 1.3):
        watch.observe(now, JOINTS, ZERO, ZERO)  # no efforts any more
    assert "effort of joint 'shoulder' is 0.30 s old" in (watch.fault(1.3) or "")


def test_joint_states_in_parts_are_joined_and_each_part_has_its_age():
    watch = monitor()
    watch.observe(1.0, ["wrist", "elbow"], [9.0, 0.1])
    assert not watch.complete
    assert watch.fault(1.0) == "no position of joint 'shoulder' has arrived"
    watch.observe(1.05, ["shoulder"], [0.2])
    assert watch.complete and watch.fault(1.05) is None
    np.testing.assert_allclose(watch.positions, [0.2, 0.1])
    watch.start(1.05, np.array([0.2, 0.1]))
    for now in (1.1, 1.2, 1.3):
        watch.observe(now, ["shoulder"], [0.2])
    assert watch.fault(1.3) == "no joint states of joint 'elbow' for 0.25 s"


def test_stamps_that_fall_behind_their_offset_at_the_start_are_old():
    watch = monitor()
    watch.observe(100.0, JOINTS, ZERO, stamp=7.0)  # another computer's clock
    watch.start(100.0, np.zeros(2))
    for step in range(1, 5):
        watch.observe(100.0 + 0.1 * step, JOINTS, ZERO, stamp=7.0 + 0.1 * step)
        assert watch.fault(100.0 + 0.1 * step) is None
    for step in range(5, 8):  # messages go on to arrive, with what was measured long ago
        watch.observe(100.0 + 0.1 * step, JOINTS, ZERO, stamp=7.4)
    assert "position of joint 'shoulder' is 0.30 s old, by the stamps" in (watch.fault(100.7) or "")


def test_messages_that_were_kept_waiting_say_nothing_of_the_clock():
    watch = monitor()
    assert watch.clock_offset is None
    watch.observe(100.02, JOINTS, ZERO, stamp=7.0)
    watch.observe(100.5, JOINTS, ZERO, stamp=7.1)
    watch.observe(100.6, ("another",), [0.0], stamp=9.0)
    assert watch.clock_offset == pytest.approx(93.02)
    for step in range(30):  # it was set
        watch.observe(101.0 + 0.01 * step, JOINTS, ZERO, stamp=3.0 + 0.01 * step)
    assert watch.clock_offset == pytest.approx(98.0)


def test_stamps_of_zero_are_none():
    watch = monitor()
    watch.observe(100.0, JOINTS, ZERO, stamp=0.0)
    watch.start(100.0, np.zeros(2))
    watch.observe(101.0, JOINTS, ZERO, stamp=0.0)
    assert watch.fault(101.0) is None


def go_on(watch: JointMonitor, steps: int, command, position, velocity=lambda now: ZERO):
    """Fault after some steps of 10 ms, each with a command and a measurement."""
    for step in range(1, steps + 1):
        now = 1.0 + 0.01 * step
        watch.commanded(now, np.array(command(now)))
        watch.observe(now, JOINTS, position(now), velocity(now), [0.0, 1e-3 * step])
        if fault := watch.fault(now):
            return fault
    return None


def swing(now):
    return [0.5 * np.sin(now - 1.0), -0.5 * np.sin(now - 1.0)]


def test_a_servo_that_lags_follows():
    late = lambda now: swing(max(now - 0.09, 1.0))  # noqa: E731
    assert go_on(moving(tolerance=0.01), 400, swing, late) is None


def test_a_joint_that_does_not_follow_is_named():
    half = lambda now: [swing(now)[0], 0.5 * swing(now)[1]]  # noqa: E731
    fault = go_on(moving(tolerance=0.1), 400, swing, half)
    assert fault is not None and fault.startswith("joint 'elbow' does not follow")


def test_frozen_positions_are_noticed_before_they_are_far_away():
    fault = go_on(moving(tolerance=0.2), 400, swing, lambda now: ZERO)
    assert fault is not None and fault.startswith("position of joint 'shoulder' is frozen")
    assert "moved by 0.1" in fault  # half the tolerance


def test_under_effort_a_position_is_frozen_that_the_velocity_contradicts():
    watch = moving(is_effort=True)
    fault = go_on(watch, 400, lambda now: [1.0, 1.0], lambda now: ZERO, lambda now: [0.5, 0.0])
    assert fault is not None and "'shoulder' is frozen" in fault and "should have gone" in fault


def test_under_effort_a_joint_may_stand_still():
    watch = moving(is_effort=True)
    assert go_on(watch, 400, lambda now: [1.0, 1.0], lambda now: ZERO) is None  # efforts change


def test_under_effort_joint_states_that_never_change_are_noticed():
    watch = moving(is_effort=True)
    for step in range(1, 199):
        watch.observe(1.0 + 0.01 * step, JOINTS, ZERO, ZERO, ZERO)
        assert watch.fault(1.0 + 0.01 * step) is None
    for step in range(199, 210):
        watch.observe(1.0 + 0.01 * step, JOINTS, ZERO, ZERO, ZERO)
        watch.fault(1.0 + 0.01 * step)
    assert "no joint state has changed" in (watch.fault(3.1) or "")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"upper": np.array([-1.0, 0.5])}, "are not below upper"),
        ({"acceleration": np.array([0.0, 1.0])}, "must be positive"),
        ({"effort": np.ones(3)}, "different numbers of joints"),
    ],
)
def test_limits_that_make_no_sense_are_refused(changed, words):
    with pytest.raises(ExcitationError, match=words):
        MotionLimits(**{**vars(LIMITS), **changed})
