# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The stop that a message announces: what a controller makes of its points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from sysid_ros.excitation import (
    CommandLimits,
    ExcitationPath,
    Playback,
    SplineReference,
    announced_stop,
)

ONES = np.ones(2)
PERIOD = 0.01
KNOTS = np.linspace(0.0, 6.0, 13)
SHAPE = np.array([np.sin(KNOTS) * np.sin(0.5 * KNOTS), 0.8 * np.sin(2.0 * KNOTS)]).T
TABLE = SHAPE * np.sin(np.pi * KNOTS / 6.0)[:, None] ** 2
PATH = ExcitationPath(SplineReference(("a", "b"), KNOTS, TABLE), np.array([0.1, -0.1]))


@pytest.mark.parametrize(
    ("rate", "acceleration", "stop_time"), [(1.7, 4.25, 0.3), (3.0, 6.0, 0.3), (3.0, 12.0, 0.1)]
)
def test_the_curve_keeps_the_limits_and_the_way(rate: float, acceleration: float, stop_time: float):
    limits = CommandLimits(-2.0 * ONES, 2.0 * ONES, rate * ONES, acceleration * ONES)
    playback = Playback(PATH, limits, period=PERIOD, stop_time=stop_time, announces=True)
    most = 0.0
    for place in np.arange(2.0, 8.0, 0.1):
        commands = playback.stop_from(place)
        stop = announced_stop(commands, PATH.commands(np.array([place - PERIOD]))[0], PERIOD)
        np.testing.assert_array_equal(stop.positions[[0, -1]], commands[[0, -1]])
        assert stop.times[0] == PERIOD and not stop.velocities[-1].any()
        assert len(stop.times) <= 12  # a message is small
        curve = CubicHermiteSpline(stop.times, stop.positions, stop.velocities)
        times = np.linspace(stop.times[0], stop.times[-1], 500)
        assert np.abs(curve(times, 1)).max() <= rate
        most = max(most, np.abs(curve(times, 2)).max())
        way = curve(PERIOD * np.arange(1, len(commands) + 1, dtype=np.float64))
        np.testing.assert_allclose(way, commands, atol=2e-3)
    assert 0.8 * acceleration < most <= 1.05 * acceleration


def test_who_stands_announces_one_point():
    stop = announced_stop(np.array([[0.1, 0.2], [0.1, 0.2]]), np.array([0.1, 0.2]), PERIOD)
    np.testing.assert_array_equal(stop.positions, [[0.1, 0.2]])
    assert stop.times.tolist() == [PERIOD] and not stop.velocities.any()


@pytest.mark.parametrize("period", [0.04, 0.1])
def test_with_few_commands_per_second_the_curve_stays_on_the_way(period: float):
    limits = CommandLimits(-2.0 * ONES, 2.0 * ONES, 3.0 * ONES, 12.0 * ONES)
    playback = Playback(PATH, limits, period=period, stop_time=0.3, announces=True)
    for place in np.arange(2.0, 8.0, 0.2):
        commands = playback.stop_from(place)
        stop = announced_stop(commands, PATH.commands(np.array([place - period]))[0], period)
        curve = CubicHermiteSpline(stop.times, stop.positions, stop.velocities)
        times = np.linspace(stop.times[0], stop.times[-1], 200)
        way = PATH.commands(np.arange(place - 0.1, place + 1.0, 1e-3))
        aside = np.abs(way[:, None] - curve(times)).max(axis=2).min(axis=0)
        assert aside.max() < 4e-3
