# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a controller makes of trajectories that come early or late: it joins them where it is."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.excitation import (
    CommandGuard,
    CommandLimits,
    ExcitationPath,
    FloatArray,
    Motion,
    Playback,
    TabulatedReference,
    announced_stop,
    check_limits,
)

PERIOD = 0.01
VELOCITY, ACCELERATION = np.array([2.5]), np.array([30.0])
LIMITS = CommandLimits(np.array([-2.0]), np.array([9.0]), VELOCITY, ACCELERATION)
TABLE = np.array([[0.0], [0.0], [3.0], [1.0], [2.0], [0.0], [0.0]])
REFERENCE = TabulatedReference(
    ("a",), np.array([0.0, 0.5, 2.0, 3.0, 4.0, 5.0, 5.5]), TABLE, 0.8 * ACCELERATION
)


class Controller:
    """Joins the points of the latest message by cubics, the first from where it is."""

    def __init__(self, rest: FloatArray) -> None:
        self._times, self._curve = np.zeros(1), np.array([[rest, np.zeros_like(rest)]])

    def told(self, time: float, commands: FloatArray, before: FloatArray) -> None:
        """Take a message that arrives at ``time``, s."""
        stop = announced_stop(commands, before, PERIOD)
        points = np.stack([stop.positions, stop.velocities], axis=1)
        self._curve = np.concatenate([self.at(time)[None], points])
        self._times = np.concatenate([[time], time + stop.times])

    def at(self, time: float) -> FloatArray:
        """Position and velocity (2, n) at ``time``, s."""
        row = int(np.searchsorted(self._times, time, side="right")) - 1
        if row + 1 >= len(self._times):
            return np.array([self._curve[-1][0], np.zeros_like(self._curve[-1][0])])
        length, passed = self._times[row + 1] - self._times[row], time - self._times[row]
        (position, velocity), (goal, last) = self._curve[row : row + 2]
        way = (goal - position) / length
        second = (3.0 * way - 2.0 * velocity - last) / length
        third = (velocity + last - 2.0 * way) / length**2
        return np.array(
            [
                position + passed * (velocity + passed * (second + passed * third)),
                velocity + passed * (2.0 * second + 3.0 * passed * third),
            ]
        )


def moved(gaps: list[float], stop_at: int | None = None) -> tuple[FloatArray, float]:
    """Play with messages so many periods apart, and then one period.

    Returns:
      Positions and velocities every millisecond, (m, 2, n), and when the last message came, s.
    """
    path = ExcitationPath(REFERENCE, np.zeros(1), ramp=0.5)
    check_limits(path, LIMITS)
    playback = Playback(path, LIMITS, period=PERIOD, announces=True)
    guard = CommandGuard(LIMITS, PERIOD, path.rest)
    motion, controller = Motion(playback, guard, period=PERIOD, timeout=60.0), Controller(path.rest)
    time, seen = 0.0, []
    for tick in range(2000):
        gap = PERIOD * (gaps[tick] if tick < len(gaps) else 1.0)
        instants = time + np.arange(0.0, gap - 1e-9, 1e-3)
        seen += [controller.at(instant) for instant in instants]
        time += gap
        if tick == stop_at:
            motion.stop()
        controller.told(time, motion.advance(gap), motion.before)
        if motion.finished:
            break
    seen += [controller.at(time + passed) for passed in np.arange(0.0, 1.0, 1e-3)]
    assert not guard.acted
    return np.array(seen), time


def test_messages_that_come_evenly_keep_a_controller_within_the_limits():
    """A stop that began at the message's own command would slow it down there each time."""
    seen, _ = moved([])
    accelerations = np.abs(np.diff(seen[:, 1], axis=0)) / 1e-3
    assert accelerations.max() <= 1.15 * ACCELERATION[0]  # where the path has a corner
    assert np.percentile(accelerations, 99.0) <= 0.9 * ACCELERATION[0]
    assert np.percentile(accelerations, 90.0) <= 0.1 * ACCELERATION[0]


LATENESS = {
    "even": lambda chance: np.ones(600),
    "uneven": lambda chance: chance.uniform(0.5, 1.5, 600),
    "late": lambda chance: chance.uniform(1.0, 2.0, 600),
    "stalls": lambda chance: np.where(chance.random(600) < 0.05, chance.uniform(1, 30, 600), 1.0),
}


@pytest.mark.parametrize("stop_at", [None, 150])
@pytest.mark.parametrize("kind", LATENESS)
def test_messages_that_come_unevenly_do_not_jerk_a_controller(kind: str, stop_at: int | None):
    """What is left is where it was asked to go on in the midst of a stop: twice the limit."""
    seen, _ = moved(LATENESS[kind](np.random.default_rng(0)).tolist(), stop_at)
    positions, velocities = seen[:, 0], seen[:, 1]
    assert np.abs(np.diff(positions, axis=0)).max() <= VELOCITY[0] * 1e-3
    accelerations = np.abs(np.diff(velocities, axis=0)) / 1e-3
    assert accelerations.max() <= 2.2 * ACCELERATION[0]
    assert np.percentile(accelerations, 90.0) <= 0.5 * ACCELERATION[0]
    assert not np.any(velocities[-1])


def test_a_motion_of_uneven_messages_takes_no_longer():
    chance = np.random.default_rng(0)
    _, end = moved(chance.uniform(0.6, 1.4, 700).tolist())
    assert end == pytest.approx(5.5, abs=0.1)
