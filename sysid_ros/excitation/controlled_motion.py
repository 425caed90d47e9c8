# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One motion that a controller times: what it is given, how far it has come, and how it stops."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.limits import CommandLimits
from sysid_ros.excitation.path import ExcitationPath, check_limits
from sysid_ros.excitation.playback import Playback
from sysid_ros.excitation.reference import ExcitationError
from sysid_ros.excitation.steps import StepLimits
from sysid_ros.excitation.timed_trajectory import (
    TimedTrajectory,
    timed_path,
    trajectory_through,
)

_LEAD = 0.15  # s that a stop may take to reach the controller
_PAST = 0.05  # s of the way behind the controller that a stop begins with


class ControlledMotion:
    """A path as one trajectory, and the trajectories that end it early along the same path."""

    def __init__(
        self, path: ExcitationPath, limits: CommandLimits, *, period: float, stop_time: float
    ) -> None:
        """Plan it.

        Args:
          path: From rest to rest.
          limits: Of positions.
          period: Seconds between points.
          stop_time: Least length of a soft stop in seconds.

        Raises:
          ExcitationError: The curve through the points leaves a limit; names joint, time and value.
        """
        self._path = path
        self._limits = limits
        self._period = period
        self._playback = Playback(path, limits, period=period, stop_time=stop_time)
        self.trajectory = timed_path(path, period)
        check_limits(self.trajectory, limits)

    def stop_at(self, place: float) -> TimedTrajectory | None:
        """The way to rest for a controller that is at ``place`` seconds.

        Its times are those of the whole trajectory. It begins a little behind the place, goes on
        at full speed while it is on its way to the controller, and brakes from there. A trajectory
        that takes longer than that to arrive is joined with a step.

        Returns:
          The trajectory; ``None`` where the motion is over before.

        Raises:
          ExcitationError: Its points are not within the limits, which is a mistake in this package.
        """
        first = max(np.ceil((place - _PAST) / self._period), 0.0)
        last = np.ceil((place + _LEAD) / self._period)
        if last * self._period >= self._path.duration:
            return None
        before = self._path.commands(self._period * np.arange(first, last))
        braking = self._playback.stop_from(float(last * self._period))
        positions = np.concatenate([before, braking, braking[-1:], braking[-1:]])
        self._refuse_steps(positions)
        times = self._period * (first + np.arange(len(positions)))
        return trajectory_through(self._path.joints, times, positions)

    def _refuse_steps(self, positions: FloatArray) -> None:
        steps = StepLimits.at(self._period, self._limits)
        if not steps.allow(positions[2:], positions[1:-1], positions[:-2]).all():
            raise ExcitationError("a soft stop within the limits could not be planned")
