# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The place that a controller has reached on its trajectory, by what it says it does."""

from __future__ import annotations

from collections import deque

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.timed_trajectory import TimedTrajectory

_STEP = 1e-3  # s between places that are compared
_BACK, _AHEAD = 3.0, 0.5  # s around the expected place that are looked at
_EXPECTED = 1e-3  # rad or m of difference that count as much as one second of surprise
_MOMENT = 0.1  # s in which a difference of velocities or accelerations would be one of positions
_SHARP = 0.01  # share of what tells the place that may be mere expectation
_LEFT = 1e-3  # rad or m from its beginning, below which a controller may still stand there
_SURE = 1e-3  # s by which expectation may move the place
_MESSAGES = 8  # of which one came without delay


class TrajectoryProgress:
    """Finds the place on a trajectory where a controller is.

    Its clock may differ from ours, it begins when the goal has reached it, and it may go slower
    than the points say. So the place is where the positions that it says it commands lie on the
    trajectory, near the place that the time since the last message lets expect.
    """

    def __init__(self, trajectory: TimedTrajectory, now: float, begun: float | None = None) -> None:
        """Expect that the trajectory begins at ``now``, in seconds of our clock.

        Args:
          trajectory: The trajectory.
          now: Our time at its first point, s.
          begun: The controller's time at its zero, s, where that is known.
        """
        self._trajectory = trajectory
        self._grid = np.arange(trajectory.times[0], trajectory.duration + _STEP, _STEP)
        self._table = _comparable(trajectory.states(self._grid))
        self._place, self._seen = float(trajectory.times[0]), now
        self._stamp = 0.0
        # Our time at the trajectory's zero, by each of the last messages; the quickest is right.
        self._zeros = deque([now - self._place], maxlen=_MESSAGES)
        self._located = begun is not None
        self.begun = begun  # the controller's time at the trajectory's zero, s
        self.away = np.zeros(len(trajectory.joints))  # of its reference from the trajectory

    @property
    def located(self) -> bool:
        """True if the controller has told where it is, which it cannot as long as it stands."""
        return self._located

    @property
    def told(self) -> float:
        """Time on the trajectory where the controller last told that it was, at least its begin."""
        return self._place

    @property
    def at_end(self) -> bool:
        """True if the controller has told that it is at the trajectory's end."""
        return self._place >= self._trajectory.duration - _STEP

    def place(self, now: float) -> float:
        """Time on the trajectory that the controller should have reached by our time ``now``.

        It may be as far ahead of the controller as our clock was late at one of the last messages.
        """
        return min(now - min(self._zeros), self._trajectory.duration)

    def command(self, now: float) -> FloatArray:
        """The positions (n,) that the controller should command by our time ``now``."""
        return np.asarray(self._trajectory.commands(np.array([self.place(now)]))[0])

    def observe(self, now: float, stamp: float, reference: FloatArray) -> None:
        """Take one message.

        Args:
          now: Our time, s.
          stamp: The controller's time, s; 0 for none.
          reference: What it commanded then, (k, n): positions, and as far as it tells them
            velocities and accelerations. They tell the time where a motion begins slowly.
        """
        timed = stamp > 0.0 and self._stamp > 0.0
        expected = self._place + (stamp - self._stamp if timed else now - self._seen)
        first, last = np.searchsorted(self._grid, (expected - _BACK, expected + _AHEAD))
        near = slice(min(int(first), len(self._grid) - 1), max(int(last), int(first) + 1))
        seen = _comparable(reference[:, None, :])
        away = np.sum((self._table[near, : seen.shape[1]] - seen) ** 2, axis=1)
        costs = away + (_EXPECTED * (self._grid[near] - expected)) ** 2
        best = int(np.argmin(costs))
        step, bend = _vertex(costs, best)
        place = float(self._grid[near][best]) + _STEP * step
        self._place, self._seen, self._stamp = place, now, stamp
        if not self._located:
            self._zeros.clear()  # only expected so far
            only_expected = 2.0 * (_EXPECTED * _STEP) ** 2 / max(bend, 1e-300)
            sure = abs(place - expected) * only_expected < _SURE
            left = float(np.linalg.norm(seen[0] - self._table[0, : seen.shape[1]])) > _LEFT
            self._located = left and sure and only_expected < _SHARP
        self._zeros.append(now - place)
        self.away = np.abs(self._trajectory.commands(np.array([place]))[0] - reference[0])
        if stamp > 0.0:
            self.begun = stamp - place


def _comparable(states: FloatArray) -> FloatArray:
    """Positions, velocities and accelerations (k, m, n) as rows (m, k n) of like weight."""
    weights = np.array([1.0, _MOMENT, 0.5 * _MOMENT**2])[: len(states), None, None]
    return np.concatenate(list(weights * states), axis=1)


def _vertex(costs: FloatArray, best: int) -> tuple[float, float]:
    """The least of costs (m,) between its neighbours: -0.5 to 0.5 steps away, and its bend."""
    if not 0 < best < len(costs) - 1:
        return 0.0, 0.0
    before, here, after = costs[best - 1 : best + 2]
    bend = float(before - 2.0 * here + after)
    return float(np.clip(0.5 * (before - after) / max(bend, 1e-300), -0.5, 0.5)), bend
