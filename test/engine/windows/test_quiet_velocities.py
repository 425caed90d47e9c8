# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Velocities that windows start with, of slow or noisy position sensors."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.windows.measured_joints import filtered_velocity, quiet_cutoff

SPEED = 0.5  # rad/s, the velocity's standard deviation
MOST = 30.0  # Hz


def recorded(rate: float, noise: float, hertz: float) -> tuple[np.ndarray, ...]:
    """Stamps, noisy positions and true velocities of two sines."""
    times = np.arange(0.0, 20.0, 1.0 / rate)
    angles = 2.0 * np.pi * hertz * np.array([1.0, 0.41])
    velocity = SPEED * np.cos(np.outer(times, angles)).sum(axis=1)
    position = SPEED * (np.sin(np.outer(times, angles)) / angles).sum(axis=1)
    return times, position + np.random.default_rng(3).normal(0.0, noise, len(times)), velocity


@pytest.mark.parametrize(
    ("rate", "noise"), [(25.0, 1e-3), (60.0, 1e-3), (100.0, 1e-3), (50.0, 1e-2)]
)
def test_a_slow_or_noisy_sensor_tells_the_speed_of_a_slow_motion(rate: float, noise: float) -> None:
    times, positions, velocity = recorded(rate, noise, 0.6)
    inside = slice(int(rate), -int(rate))
    error = (filtered_velocity(times, positions, MOST)(times) - velocity)[inside]
    unfiltered = (np.gradient(positions, times) - velocity)[inside]
    assert np.std(error) < 0.35 * np.std(unfiltered)
    assert np.std(error) < (0.02 if noise == 1e-3 else 0.12)


@pytest.mark.parametrize(
    ("rate", "noise", "hertz"), [(200.0, 5e-5, 0.6), (1000.0, 1e-4, 0.6), (60.0, 5e-5, 5.0)]
)
def test_of_an_encoder_the_filter_is_as_it_is_set(rate: float, noise: float, hertz: float) -> None:
    _, positions, _ = recorded(rate, noise, hertz)
    assert quiet_cutoff(positions, rate, MOST) == MOST


def test_a_fast_motion_keeps_its_speed_beside_noise() -> None:
    times, positions, velocity = recorded(100.0, 5e-3, 4.0)
    cutoff = quiet_cutoff(positions, 100.0, MOST)
    assert 6.0 < cutoff < 25.0
    error = filtered_velocity(times, positions, MOST)(times) - velocity
    assert np.std(error[100:-100]) < 0.4


def test_noise_alone_has_hardly_any_speed() -> None:
    positions = np.random.default_rng(5).normal(0.0, 1e-3, 2000)
    slope = filtered_velocity(np.arange(2000) / 100.0, positions, MOST)
    assert np.std(slope(np.arange(2000) / 100.0)) < 2e-3
    assert quiet_cutoff(positions[:20], 100.0, MOST) == MOST  # too few to tell


def test_a_move_in_two_minutes_keeps_its_speed() -> None:
    times = np.arange(0.0, 120.0, 0.01)
    since = np.maximum(times - 3.0, 0.0)
    fall = np.exp(-4.0 * np.pi * since)  # of a step through a critically damped system
    position = 0.5 * (1.0 - fall * (1.0 + 4.0 * np.pi * since))
    velocity = 0.5 * (4.0 * np.pi) ** 2 * since * fall
    noisy = position + np.random.default_rng(2).normal(0.0, 2e-3, len(times))
    found = filtered_velocity(times, noisy, MOST)(times)
    moves = velocity > 0.1
    assert 0.97 < found[moves] @ velocity[moves] / (velocity @ velocity) < 1.02
    unfiltered = np.gradient(noisy, times)
    assert np.std((found - velocity)[moves]) < 0.6 * np.std((unfiltered - velocity)[moves])
