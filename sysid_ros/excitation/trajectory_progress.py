# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The place that a controller has reached on its trajectory, by what it says it does."""

from __future__ import annotations

from collections import deque

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.timed_trajectory import TimedTrajectory

_STEP = 1e-3  # s between places that are compared
_BACK, _AHEAD = 1.0, 0.5  # s around the expected place that are looked at
_EXPECTED = 1e-3  # rad or m of difference that count as much as one second of surprise
_MESSAGES = 8  # of which one came without delay
_SLOW = 0.02  # rad/s or m/s below which positions do not tell the time


class TrajectoryProgress:
    """Finds the place on a trajectory where a controller is.

    Its clock may differ from ours, it begins when the goal has reached it, and it may go slower
    than the points say. So the place is where the positions that it says it commands lie on the
    trajectory, near the place that the time since the last message lets expect.
    """

    def __init__(self, trajectory: TimedTrajectory, now: float) -> None:
        """Expect that the trajectory begins at ``now``, in seconds of our clock."""
        self._trajectory = trajectory
        self._grid = np.arange(trajectory.times[0], trajectory.duration + _STEP, _STEP)
        self._table = trajectory.commands(self._grid)
        self._place, self._seen = float(trajectory.times[0]), now
        self._stamp = 0.0
        # Our time at the trajectory's zero, by each of the last messages; the quickest is right.
        self._zeros = deque([now - self._place], maxlen=_MESSAGES)
        self.begun: float | None = None  # the controller's time at the trajectory's zero, s
        self.away = np.zeros(len(trajectory.joints))  # of its reference from the trajectory

    def place(self, now: float) -> float:
        """Time on the trajectory that the controller should have reached by our time ``now``."""
        return min(now - min(self._zeros), self._trajectory.duration)

    def command(self, now: float) -> FloatArray:
        """The positions (n,) that the controller should command by our time ``now``."""
        return np.asarray(self._trajectory.commands(np.array([self.place(now)]))[0])

    def observe(self, now: float, stamp: float, reference: FloatArray) -> None:
        """Take one message.

        Args:
          now: Our time, s.
          stamp: The controller's time, s; 0 for none.
          reference: Positions (n,) that it commanded then.
        """
        timed = stamp > 0.0 and self._stamp > 0.0
        expected = self._place + (stamp - self._stamp if timed else now - self._seen)
        first, last = np.searchsorted(self._grid, (expected - _BACK, expected + _AHEAD))
        near = slice(min(int(first), len(self._grid) - 1), max(int(last), int(first) + 1))
        places = self._grid[near]
        away = np.sum((self._table[near] - reference) ** 2, axis=1)
        place = float(places[np.argmin(away + (_EXPECTED * (places - expected)) ** 2)])
        place = self._refined(place, expected, reference)
        self._place, self._seen, self._stamp = place, now, stamp
        if self.begun is None:
            self._zeros.clear()  # only expected so far
        self._zeros.append(now - place)
        self.away = np.abs(self._trajectory.commands(np.array([place]))[0] - reference)
        if stamp > 0.0:
            self.begun = stamp - place

    def _refined(self, place: float, expected: float, reference: FloatArray) -> float:
        """One step of Gauss-Newton from the nearest of the compared places."""
        position, velocity, _ = self._trajectory.states(np.array([place]))[:, 0]
        speed = float(velocity @ velocity)
        if speed < _SLOW**2:
            return min(max(expected, float(self._grid[0])), self._trajectory.duration)
        step = float((reference - position) @ velocity) / speed
        return place + float(np.clip(step, -_STEP, _STEP))
