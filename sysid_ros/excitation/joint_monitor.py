# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Watches measured joints while a robot moves."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.following import WRAPS, FollowingWatch, is_whole_turn
from sysid_ros.excitation.limits import MotionLimits

_POSITION, _VELOCITY, _EFFORT = range(3)
_KINDS = ("position", "velocity", "effort")
_RECENT = 20  # messages, of which one at least is hardly late
_LEAP = 1.0  # s for which a position that leapt at rest is not believed
_STILL = 0.05  # of its velocity limit: below, a joint is at rest
_REST = 0.25  # s over which that is measured, at least


class JointMonitor:
    """Joins the joint states of all parts of a robot, and says why a motion must stop.

    At rest the latest measurement counts, unless the one before was elsewhere. From :meth:`start`
    to :meth:`end` a fault stays, what was measured at the start must go on being measured, and
    header stamps must keep up with the clock as they did at the start (the clocks of two computers
    may differ).
    """

    def __init__(
        self,
        joints: tuple[str, ...],
        limits: MotionLimits,
        following: FollowingWatch,
        *,
        timeout: float,
    ) -> None:
        """Watch ``n`` joints.

        Args:
          joints: Their names, in the order of the limits.
          limits: What they may do.
          following: Compares them with their commands.
          timeout: Seconds without joint states of a joint after which the motion must stop.
        """
        n = len(joints)
        self._joints = joints
        self._limits = limits
        self._following = following
        self._timeout = timeout
        self._moving = False
        self._values = np.full((3, n), np.nan)
        self._instants = np.full((3, n), -np.inf)  # when they were measured, by this clock
        self._received = np.full(n, -np.inf)
        self._leapt = np.full(n, -np.inf)  # when a position was last far from the one before
        self._leaps = np.zeros(n)  # how far that was
        self._since = np.full(n, -np.inf)  # when it was last seen as at rest or not
        self._places = np.full(n, np.nan)  # and where
        self._moved = np.full(n, -np.inf)  # when it was last not at rest
        self._offsets = np.full(n, np.inf)  # from header stamps to this clock
        self._recent: deque[float] = deque(maxlen=_RECENT)  # the same of the latest messages
        self._expected = np.zeros((3, n), dtype=bool)  # measured at the start
        self._fault: str | None = None
        self.astray = False  # since the start it was not seen to do what it was told

    @property
    def positions(self) -> FloatArray:
        """The latest positions (n,); NaN where none has arrived."""
        return np.array(self._values[_POSITION])

    @property
    def clock_offset(self) -> float | None:
        """Time in s from header stamps to this clock, of the quickest of late; None without any."""
        return min(self._recent, default=None)

    @property
    def complete(self) -> bool:
        """True if positions of all joints have arrived."""
        return bool(np.all(np.isfinite(self._instants[_POSITION])))

    @property
    def farthest(self) -> FloatArray:
        """Largest distance (n,) of joints from their commands since the start; zero for efforts."""
        return np.array(self._following.farthest)

    def observe(
        self,
        now: float,
        names: Sequence[str],
        position: Sequence[float],
        velocity: Sequence[float] = (),
        effort: Sequence[float] = (),
        *,
        stamp: float = 0.0,
    ) -> None:
        """Take one message with some of the joints, each list as long as ``names`` or empty.

        Args:
          now: Seconds, on a clock that only goes on.
          names: Joints of the message, others than the watched ones among them.
          position: In rad or m.
          velocity: In rad/s or m/s.
          effort: In N m or N.
          stamp: Of the header, in seconds of another clock; zero for none.
        """
        order = {name: index for index, name in enumerate(names)}
        if stamp > 0.0 and not order.keys().isdisjoint(self._joints):
            self._recent.append(now - stamp)
        for joint, name in enumerate(self._joints):
            if (index := order.get(name)) is None:
                continue
            instant = self._dated(joint, now, stamp)
            self._received[joint] = now
            if index < len(position) and not self._moving:
                way = abs(position[index] - self._values[_POSITION, joint])
                if way > self._following.tolerance[joint]:
                    self._leapt[joint], self._leaps[joint] = now, way
                self._note_place(joint, now, position[index])
            for kind, data in enumerate((position, velocity, effort)):
                if index < len(data):
                    self._values[kind, joint] = data[index]
                    self._instants[kind, joint] = max(instant, self._instants[kind, joint])
        found = self._out_of_limits()
        self._fault = (self._fault or found) if self._moving else found

    def start(self, now: float, command: FloatArray) -> None:
        """Expect from now on that the robot, which obeys ``command`` (n,), moves."""
        self._moving, self.astray = True, False
        self._expected = np.isfinite(self._values)
        self._instants[self._expected] = now  # planning may have kept messages waiting
        self._received[:] = now
        self._following.start(now, command)

    def end(self) -> None:
        """Forget faults: the motion is over."""
        self._moving = False
        self._expected[:] = False
        self._since[:] = -np.inf  # it was told to be elsewhere
        self._fault = self._out_of_limits()

    def commanded(self, now: float, command: FloatArray) -> None:
        """Take a command (n,) that was published."""
        self._following.commanded(now, command)

    def fault(self, now: float) -> str | None:
        """Return the reason to stop a motion at ``now``, or not to begin; ``None`` without one."""
        if not self._moving:
            return self._fault or self._silence(now) or self._leap(now)
        # Also after another fault, as the drives of a joint that met something may let go then.
        found = self._silence(now) or self._following.fault(now, self._values)
        self._fault, self.astray = self._fault or found, self.astray or found is not None
        return self._fault

    def _dated(self, joint: int, now: float, stamp: float) -> float:
        """Time of a measurement by this clock, if its stamps have kept their offset."""
        if stamp <= 0.0:
            return now
        offset = now - stamp
        if self._moving:
            offset = min(offset, self._offsets[joint])
        self._offsets[joint] = offset
        return float(stamp + offset)

    def _silence(self, now: float) -> str | None:
        if not np.any(np.isfinite(self._received)):
            return "no joint states have arrived"
        missing = ~np.isfinite(self._instants[_POSITION])
        if np.any(missing):
            return f"no position of joint {self._joints[int(np.argmax(missing))]!r} has arrived"
        # What was received in the future was received before the clock was set back.
        silent = np.where(self._received > now, np.inf, now - self._received)
        if np.all(silent > self._timeout):
            return f"no joint states {_long(silent.min())}"
        if np.any(silent > self._timeout):
            longest = int(np.argmax(silent))
            return f"no joint states of joint {self._joints[longest]!r} {_long(silent.max())}"
        needed = self._expected.copy()
        needed[_POSITION] = True
        ages = np.where(needed, now - self._instants, 0.0)
        if np.any(ages > self._timeout):
            kind, joint = np.unravel_index(np.argmax(ages), ages.shape)
            return (
                f"{_KINDS[kind]} of joint {self._joints[joint]!r} is {ages[kind, joint]:.2f} s "
                "old, by the stamps of its messages or because the latest do not have it"
            )
        return None

    def _leap(self, now: float) -> str | None:
        """Say which position is not known: a motion that began at a wrong one would be a step."""
        for i in np.flatnonzero(np.abs(now - self._leapt) <= _LEAP)[:1]:
            tolerance = self._following.tolerance[i]
            turned = is_whole_turn(self._leaps[i], tolerance)
            return (
                f"position of joint {self._joints[i]!r} leaps by {self._leaps[i]:.4g}, more than "
                f"its tolerance {tolerance:.4g}"
                f"{WRAPS if turned else ': do two nodes publish its joint states?'}"
            )
        return None

    def _note_place(self, joint: int, now: float, place: float) -> None:
        """Note when a joint that is told nothing was faster than one at rest."""
        took, way = abs(now - self._since[joint]), abs(place - self._places[joint])
        if moved := way > _STILL * self._limits.velocity[joint] * max(took, _REST):
            self._moved[joint] = now
        if moved or not took < _REST:
            self._since[joint], self._places[joint] = now, place

    def unrest(self, now: float) -> str:
        """Say which joint is moved by somebody else; empty if none is.

        A motion of positions that began at ``now``, s, would stop it at once.
        """
        for i in np.flatnonzero(np.abs(now - self._moved) <= _REST)[:1]:
            return (
                f"joint {self._joints[i]!r} moves, faster than {_STILL:.0%} of its velocity limit "
                f"{self._limits.velocity[i]:.4g}: a motion begins at rest"
            )
        return ""

    def _out_of_limits(self) -> str | None:
        limits = self._limits
        position, velocity, effort = self._values
        arrived = np.isfinite(self._instants[_POSITION])
        unknown = ~np.isfinite(self._values)
        lost = unknown & self._expected
        lost[_POSITION] |= unknown[_POSITION] & arrived
        if np.any(lost):
            kind, joint = np.unravel_index(np.argmax(lost), lost.shape)
            return (
                f"{_KINDS[kind]} of joint {self._joints[joint]!r} is "
                f"{self._values[kind, joint]:.4g}, which says nothing about its limit"
            )
        checks = (
            (position < limits.lower, position, limits.lower, "position", "below"),
            (position > limits.upper, position, limits.upper, "position", "above"),
            (np.abs(velocity) > limits.velocity, velocity, limits.velocity, "velocity", "beyond"),
            (np.abs(effort) > limits.effort, effort, limits.effort, "effort", "beyond"),
        )
        for broken, value, limit, what, side in checks:
            if np.any(broken):
                i = int(np.argmax(broken))
                return (
                    f"{what} of joint {self._joints[i]!r} is {value[i]:.4g}, "
                    f"{side} its limit {limit[i]:.4g}"
                )
        return None


def _long(silent: float) -> str:
    return f"for {silent:.2f} s" if np.isfinite(silent) else "since the clock was set back"
