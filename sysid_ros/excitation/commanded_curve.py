# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The curve on which a controller is, by all that it was told: knots that it joins by cubics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.announced_stop import AnnouncedStop

_SAME = 1e-6  # s between two instants that are one


@dataclass(frozen=True)
class CommandedCurve:
    """Knots of ``n`` joints in time; before the first and after the last they rest."""

    times: FloatArray  # (m,) s, increasing
    positions: FloatArray  # (m, n) rad or m
    velocities: FloatArray  # (m, n) per second

    @classmethod
    def resting(cls, time: float, position: FloatArray) -> CommandedCurve:
        """A curve that rests at ``position``, (n,), from ``time`` on."""
        return cls(np.array([time]), position[None], np.zeros((1, len(position))))

    def at(self, time: float) -> FloatArray:
        """Position and velocity (2, n) at ``time``, s."""
        row = int(np.searchsorted(self.times, time, side="right")) - 1
        if row < 0 or row + 1 == len(self.times):
            position = self.positions[max(row, 0)]
            return np.array([position, np.zeros_like(position)])
        length, passed = self.times[row + 1] - self.times[row], time - self.times[row]
        position, velocity = self.positions[row], self.velocities[row]
        way, last = (self.positions[row + 1] - position) / length, self.velocities[row + 1]
        second = (3.0 * way - 2.0 * velocity - last) / length
        third = (velocity + last - 2.0 * way) / length**2
        return np.array(
            [
                position + passed * (velocity + passed * (second + passed * third)),
                velocity + passed * (2.0 * second + 3.0 * passed * third),
            ]
        )

    def continued(self, time: float, stop: AnnouncedStop) -> CommandedCurve:
        """The same curve up to ``time``, and a stop from there on instead of what followed."""
        kept = self.times < time - _SAME
        position, velocity = self.at(time)
        return CommandedCurve(
            np.concatenate([self.times[kept], [time], time + stop.times]),
            np.concatenate([self.positions[kept], position[None], stop.positions]),
            np.concatenate([self.velocities[kept], velocity[None], stop.velocities]),
        )

    def since(self, time: float) -> CommandedCurve:
        """The same curve without what is over at ``time``: a cubic cut in two stays what it is."""
        if time <= self.times[0]:
            return self
        kept = self.times > time + _SAME
        position, velocity = self.at(time)
        return CommandedCurve(
            np.append(time, self.times[kept]),
            np.concatenate([position[None], self.positions[kept]]),
            np.concatenate([velocity[None], self.velocities[kept]]),
        )
