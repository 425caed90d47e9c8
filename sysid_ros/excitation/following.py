# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Notices joints that do not do what they are told."""

from __future__ import annotations

from collections import deque

import numpy as np

from sysid_ros.arrays import FloatArray

_FROZEN = 2.0  # s without any change that is too long under commands that are efforts
_TURN = 2.0 * np.pi
WRAPS = (
    "; that is a whole turn: its driver tells angles within one turn, so keep the motion away from "
    "where they wrap"
)


def is_whole_turn(way: float, tolerance: float) -> bool:
    """Return whether a position is off, in rad, as where a driver wraps the angle of a joint."""
    return bool(abs(way - _TURN) <= min(tolerance, 0.5))


class FollowingWatch:
    """Compares measured positions with the commands of the last moments.

    A servo lags behind, so a position is held against the whole range of the commands of the last
    ``delay`` seconds. A position that does not change at all while its command travels half the
    tolerance is frozen. A commanded effort says nothing about where the joint should be: then a
    position is frozen that stays while the measured velocity would have carried it away, and so
    are joint states of which no number changes for 2 s.
    """

    def __init__(
        self,
        joints: tuple[str, ...],
        tolerance: FloatArray,
        *,
        delay: float,
        is_effort: bool = False,
    ) -> None:
        """Watch ``n`` joints.

        Args:
          joints: Their names.
          tolerance: Largest distance (n,) in rad or m.
          delay: Seconds that a joint may take to follow.
          is_effort: Whether commands are efforts rather than positions.
        """
        self._joints = joints
        self.tolerance = tolerance
        self._delay = delay
        self._is_effort = is_effort
        self.start(0.0, np.zeros(len(joints)))

    def start(self, now: float, command: FloatArray) -> None:
        """Begin with a robot that obeys ``command`` (n,)."""
        self.farthest = np.zeros(len(command))  # from its commands so far, (n,) rad or m
        self._commands: deque[tuple[float, FloatArray]] = deque([(now, command)])
        self._looked = now
        self._since = np.full(len(command), now)
        self._seen = np.full((3, len(command)), np.nan)
        self._any_since = now
        self._low, self._high = command, command
        self._travel = np.zeros(len(command))

    def commanded(self, now: float, command: FloatArray) -> None:
        """Take a command (n,) that was published."""
        self._commands.append((now, command))
        while len(self._commands) > 1 and self._commands[1][0] <= now - self._delay:
            self._commands.popleft()  # the first was in force when the window began
        self._low = np.minimum(self._low, command)
        self._high = np.maximum(self._high, command)

    def fault(self, now: float, measured: FloatArray) -> str | None:
        """Say which joint does not follow.

        Args:
          now: Seconds.
          measured: Positions, velocities and efforts, (3, n); NaN where there is none.
        """
        self._look(now, measured)
        position = measured[0]
        if self._is_effort:
            return self._frozen(now, position, self._travel, "it should have gone") or (
                f"no joint state has changed for {now - self._any_since:.2f} s"
                if now - self._any_since > _FROZEN
                else None
            )
        window = np.array([command for _, command in self._commands])
        low, high = window.min(axis=0), window.max(axis=0)
        away = np.maximum(low - position, position - high)
        self.farthest = np.maximum(self.farthest, away)
        for i in np.flatnonzero(away > self.tolerance)[:1]:
            turned = is_whole_turn(away[i], self.tolerance[i])
            return (
                f"joint {self._joints[i]!r} does not follow: it is at {position[i]:.4g}, "
                f"{away[i]:.4g} from its commands of the last {self._delay:.2g} s "
                f"(tolerance {self.tolerance[i]:.4g}){WRAPS if turned else ''}"
            )
        return self._frozen(now, position, self._high - self._low, "its command moved")

    def _look(self, now: float, measured: FloatArray) -> None:
        """Note which joints have changed since the last look."""
        moved = measured[0] != self._seen[0]
        if not np.array_equal(measured, self._seen, equal_nan=True):
            self._any_since = now
        self._travel += np.nan_to_num(np.abs(measured[1])) * (now - self._looked)
        self._since = np.where(moved, now, self._since)
        self._travel = np.where(moved, 0.0, self._travel)
        newest = self._commands[-1][1]
        self._low = np.where(moved, newest, self._low)
        self._high = np.where(moved, newest, self._high)
        self._seen, self._looked = measured.copy(), now

    def _frozen(self, now: float, position: FloatArray, way: FloatArray, words: str) -> str | None:
        still = now - self._since
        for i in np.flatnonzero((still > self._delay) & (way > 0.5 * self.tolerance))[:1]:
            return (
                f"position of joint {self._joints[i]!r} is frozen: it has stayed at exactly "
                f"{position[i]:.4g} for {still[i]:.2f} s while {words} by {way[i]:.3g}"
            )
        return None
