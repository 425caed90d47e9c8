# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Excitation: motions fill their limits without leaving them, and stop softly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.excitation import (
    ExcitationError,
    Playback,
    TabulatedReference,
    check_limits,
    design_multisine,
    read_trajectory,
)

JOINTS = ("shoulder", "elbow")
LOWER = np.array([-1.0, -2.0])
UPPER = np.array([1.5, 0.5])
RATE = np.array([2.0, 3.0])


def sampled(playback: Playback, step: float = 1e-3) -> np.ndarray:
    times = np.arange(0.0, playback.reference.duration, step)
    return np.array([playback.command(time) for time in times])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), duration=st.floats(5.0, 20.0), highest=st.floats(0.5, 3.0))
def test_multisine_stays_within_limits_and_uses_them(seed, duration, highest):
    motion = design_multisine(
        JOINTS, LOWER, UPPER, RATE, duration=duration, lowest=0.1, highest=highest, seed=seed
    )
    times = np.arange(0.0, 10.0, 2e-3)
    values = motion.values(times[times < duration])
    rates = np.abs(np.diff(values, axis=0)) / 2e-3
    assert np.all(values >= LOWER) and np.all(values <= UPPER)
    assert np.all(rates <= RATE)
    # One of the two limits is what stopped the amplitudes from growing.
    if duration >= 10.0:
        reach = (values.max(axis=0) - values.min(axis=0)) / (UPPER - LOWER)
        speed = rates.max(axis=0) / RATE
        assert np.all(np.maximum(reach, speed) > 0.6)


def test_multisine_gives_each_joint_its_own_frequencies():
    motion = design_multisine(JOINTS, LOWER, UPPER, RATE, duration=10.0)
    assert not set(motion.frequencies[0]) & set(motion.frequencies[1])


def test_multisine_without_room_for_harmonics_is_refused():
    with pytest.raises(ExcitationError, match=r"no harmonic of 0\.5 Hz up to 0\.6 Hz"):
        design_multisine(JOINTS, LOWER, UPPER, RATE, duration=5.0, lowest=0.5, highest=0.6)


def test_playback_leaves_from_and_returns_to_rest():
    motion = design_multisine(JOINTS, LOWER, UPPER, RATE, duration=10.0)
    rest = np.array([0.3, -0.1])
    playback = Playback(motion, rest, ramp=2.0)
    values = sampled(playback)
    np.testing.assert_allclose(playback.command(0.0), rest)
    np.testing.assert_allclose(playback.command(10.0), rest)
    np.testing.assert_allclose(playback.command(5.0), motion.values(np.array([5.0]))[0])
    assert np.abs(np.diff(values[:10], axis=0)).max() < 1e-4  # starts without a jump
    assert not playback.finished(9.99) and playback.finished(10.0)


@settings(max_examples=30, deadline=None)
@given(at=st.floats(0.0, 10.0))
def test_stop_brakes_along_the_path_without_speeding_up(at):
    motion = design_multisine(JOINTS, LOWER, UPPER, RATE, duration=10.0)
    playback = Playback(motion, np.zeros(2), stop_time=0.4)
    fastest = np.abs(np.diff(sampled(playback, 5e-3), axis=0)).max()
    playback.stop(at)
    values = sampled(playback, 5e-3)
    assert np.abs(np.diff(values, axis=0)).max() <= fastest + 1e-3
    assert playback.finished(at + 0.4)
    np.testing.assert_allclose(playback.command(at + 0.4), playback.command(at + 5.0))


def test_stop_releases_an_effort():
    times = np.array([0.0, 10.0])
    push = TabulatedReference(("shoulder",), times, np.full((2, 1), 3.0))
    playback = Playback(push, np.zeros(1), ramp=1.0, stop_time=0.2, release=True)
    assert playback.command(5.0)[0] == pytest.approx(3.0)
    playback.stop(5.0)
    assert playback.command(5.2)[0] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("values", "ramp", "words"),
    [
        ([[0.0], [2.0], [2.0], [0.0]], 1.0, "above its upper limit 1"),
        ([[0.0], [-2.0], [-2.0], [0.0]], 1.0, "below its lower limit -1"),
        ([[0.9], [0.9], [0.9], [0.9]], 0.05, "faster than its limit 2"),
    ],
)
def test_motion_beyond_limits_is_refused_before_it_plays(values, ramp, words):
    reference = TabulatedReference(("elbow",), np.arange(4.0), np.array(values))
    playback = Playback(reference, np.zeros(1), ramp=ramp)
    one = np.ones(1)
    with pytest.raises(ExcitationError, match=f"'elbow'.*{words}"):
        check_limits(playback, -one, one, 2 * one)


def test_ramps_longer_than_the_motion_are_refused():
    reference = TabulatedReference(("elbow",), np.array([0.0, 1.0]), np.zeros((2, 1)))
    with pytest.raises(ExcitationError, match="two ramps must fit"):
        Playback(reference, np.zeros(1), ramp=0.6)


def test_trajectory_file_is_read_and_interpolated(tmp_path: Path):
    path = tmp_path / "motion.csv"
    path.write_text("time,shoulder,elbow\n5.0,0,1\n6.0,1,1\n7.0,1,3\n")
    reference = read_trajectory(path)
    assert reference.joints == JOINTS
    assert reference.duration == 2.0
    values = reference.values(np.array([0.5, 1.5]))
    np.testing.assert_allclose(values, [[0.5, 1.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a first line"),
        ("t,a\n0,1\n1,2\n", "needs a first line"),
        ("time,a\n0,1\n1,x\n", "not a table of numbers"),
        ("time,a\n0,1\n1\n", "not a table of numbers"),
        ("time,a\n0,1\n1,nan\n", "finite numbers"),
        ("time,a\n0,1\n0,2\n", "times must increase"),
    ],
)
def test_bad_trajectory_file_is_refused_with_its_name(tmp_path: Path, text: str, words: str):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(ExcitationError, match=words) as caught:
        read_trajectory(path)
    assert "motion.csv" in str(caught.value)


def test_missing_trajectory_file_is_refused(tmp_path: Path):
    with pytest.raises(ExcitationError, match="cannot be read"):
        read_trajectory(tmp_path / "absent.csv")
