# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One motion that a controller times: what it is given, how far it has come, and how it stops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.limits import CommandLimits
from sysid_ros.excitation.path import ExcitationPath, check_limits, smooth_step
from sysid_ros.excitation.playback import Playback
from sysid_ros.excitation.reference import ExcitationError
from sysid_ros.excitation.steps import StepLimits
from sysid_ros.excitation.timed_trajectory import (
    TimedTrajectory,
    b_spline,
    timed_path,
)

# s; a stop that takes longer to arrive is no stop any more. What Fast DDS loses, as to a process
# that was stopped, it sends with its next heartbeat, up to 3 s later.
LONGEST_LEAD = 4.0
_LEAST_LEAD = 0.1  # s on top of what goals have taken so far
_SLOWER = 2.0  # times that a stop may take as long as the slowest goal before it
_PAST = 0.05  # s of the way behind where the controller was that a stop begins with
_SPACING = 0.01  # s between points of a stop, at most
_FADED = 10  # points over which it leaves the way for what is to brake


def lead_after(round_trips: Sequence[float]) -> float:
    """Return how long the next stop may be on its way to the controller, s.

    Args:
      round_trips: s that the controller's answers to earlier goals took.
    """
    slowest = max(round_trips, default=LONGEST_LEAD)
    return min(_LEAST_LEAD + _SLOWER * slowest, LONGEST_LEAD)


class ControlledMotion:
    """A path as one trajectory, and the trajectories that end it early along the same path."""

    def __init__(
        self, path: ExcitationPath, limits: CommandLimits, *, period: float, stop_time: float
    ) -> None:
        """Plan it, in points ``period`` s apart; a soft stop takes at least ``stop_time`` s.

        Raises:
          ExcitationError: The curve through the points leaves a limit; names joint, time and value.
        """
        self._limits = limits
        self.trajectory = timed_path(path, period)
        check_limits(self.trajectory, limits)
        # Points of the whole are points of a stop, which is the same curve then until it brakes.
        self._period = period / math.ceil(period / _SPACING)
        self._playback = Playback(self.trajectory, limits, period=self._period, stop_time=stop_time)

    @property
    def stands_until(self) -> float:
        """The time up to which it stays where it begins, s."""
        positions = self.trajectory.positions
        moved = np.abs(positions - positions[0]).max(axis=1) > 0.0
        return float(self.trajectory.times[max(int(np.argmax(moved)) - 1, 0)])

    def stop_at(self, place: float, lead: float, passed: float) -> TimedTrajectory | None:
        """The way to rest for a controller that should be at ``place`` seconds.

        Its times are those of the whole trajectory. It begins a little behind the place that the
        controller has certainly ``passed``, goes on at full speed until ``lead`` seconds after
        ``place``, while it is on its way to the controller, and brakes from there. Where the whole
        is over before, it is what is left of the whole. One that takes longer than that to arrive
        is joined with a step, and so is one that begins ahead of the controller.

        Returns:
          The trajectory; ``None`` where the controller is at the end already.

        Raises:
          ExcitationError: Its points are not within the limits, which is a mistake in this package.
        """
        first = max(int(np.ceil((passed - _PAST) / self._period)), 0)
        last = int(np.ceil((place + lead) / self._period))
        if last * self._period >= self.trajectory.duration:
            return self._rest_from(first * self._period)
        onward = self.trajectory.states(self._period * np.arange(first, last, dtype=np.float64))
        braking = self._playback.stop_from(last * self._period)
        positions = np.concatenate([onward[0], braking, braking[-1:], braking[-1:]])
        self._refuse_steps(positions)
        states = b_spline(positions, self._period)
        states[:, : last - first] = _faded(onward, states[:, : last - first], self._period)
        times = self._period * (first + np.arange(len(positions), dtype=np.float64))
        return TimedTrajectory(self.trajectory.joints, times, *states)

    def _rest_from(self, time: float) -> TimedTrajectory | None:
        whole = self.trajectory
        first = int(np.searchsorted(whole.times, time))
        if first >= len(whole.times) - 1:
            return None
        tables = (whole.times, whole.positions, whole.velocities, whole.accelerations)
        return TimedTrajectory(whole.joints, *(table[first:] for table in tables))

    def _refuse_steps(self, positions: FloatArray) -> None:
        steps = StepLimits.at(self._period, self._limits)
        if not steps.allow(positions[2:], positions[1:-1], positions[:-2]).all():
            raise ExcitationError("a soft stop within the limits could not be planned")


def _faded(here: FloatArray, there: FloatArray, period: float) -> FloatArray:
    """States (3, m, n) that go over from one curve to another beside it in their last points."""
    lasts = _FADED * period
    x = np.maximum(np.arange(-here.shape[1], 0.0)[:, None] / _FADED + 1.0, 0.0)
    share, rate = smooth_step(x), 30.0 * (x * (1.0 - x)) ** 2 / lasts
    bend = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / lasts**2
    away = there - here
    return np.array(
        [
            here[0] + share * away[0],
            here[1] + share * away[1] + rate * away[0],
            here[2] + share * away[2] + 2.0 * rate * away[1] + bend * away[0],
        ]
    )
