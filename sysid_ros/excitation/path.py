# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The way a motion takes: away from rest, along a reference, and back."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.limits import CommandLimits
from sysid_ros.excitation.reference import ExcitationError, Reference

_CHECK_STEP = 1e-3  # s
# What the check forgives is rounding.
_SLACK = 1e-6
_RATE_SLACK = 1e-4


class Way(Protocol):
    """A motion from rest to rest, as commands over its own time."""

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints, in the order of the commands."""

    @property
    def duration(self) -> float:
        """Length in seconds."""

    @property
    def rest(self) -> FloatArray:
        """The command (n,) before it."""

    def commands(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""


class ExcitationPath:
    """A reference with a soft start and a soft end.

    The command is ``rest + w(s) * (reference(s) - rest)`` at path time ``s``: ``w`` rises smoothly
    from 0 to 1 in the first ``ramp`` seconds and falls back in the last ones, so the motion leaves
    from and returns to ``rest`` (the measured posture, or zero effort). A reference that begins and
    ends at rest itself is played whole, between a way of ``ramp`` seconds to its beginning and one
    back from its end.
    """

    def __init__(self, reference: Reference, rest: FloatArray, *, ramp: float = 2.0) -> None:
        """Lay the way.

        Args:
          reference: What to play, for ``n`` joints.
          rest: Command (n,) before and after the motion.
          ramp: Length of the soft start and end in seconds, at most half of the duration.

        Raises:
          ExcitationError: The ramp is not positive or too long, or sizes disagree.
        """
        if not 0 < ramp <= (np.inf if reference.rests else reference.duration / 2):
            raise ExcitationError(
                f"a ramp of {ramp} s does not fit a motion of {reference.duration} s: it must be "
                "positive, and two ramps must fit"
            )
        if len(rest) != len(reference.joints):
            raise ExcitationError(f"{len(rest)} rest values for {len(reference.joints)} joints")
        self._around = ramp if reference.rests else 0.0
        self.rest = np.array(rest, dtype=np.float64)
        self._reference = reference
        self._ramp = ramp

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints, in the order of the commands."""
        return self._reference.joints

    @property
    def duration(self) -> float:
        """Length in seconds, with the ways there and back."""
        return self._reference.duration + 2.0 * self._around

    def commands(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at path times (m,) in seconds; at rest before and after the motion."""
        edge = np.minimum(times, self.duration - times) / self._ramp
        away = self._reference.values(times - self._around) - self.rest
        result: FloatArray = self.rest + smooth_step(edge)[:, None] * away
        return result


def smooth_step(x: FloatArray) -> FloatArray:
    """Quintic from 0 to 1 with zero first and second derivatives at both ends."""
    x = np.minimum(np.maximum(x, 0.0), 1.0)  # np.clip takes four times as long for a few numbers
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x**2))


def check_limits(path: Way, limits: CommandLimits) -> None:
    """Refuse a motion that would leave its limits, looked at every millisecond, before it moves.

    Raises:
      ExcitationError: Names the joint, the time, the value and the limit.
    """
    times = np.arange(0.0, path.duration + 2.0 * _CHECK_STEP, _CHECK_STEP)
    values = path.commands(times)
    unknown = ~np.isfinite(values).all(axis=0)  # which no comparison below would notice
    for column in np.flatnonzero(unknown)[:1]:
        raise ExcitationError(f"the command of joint {path.joints[column]!r} is not a number")
    steps = np.diff(values, axis=0, prepend=values[:1])
    rates = np.abs(steps) / _CHECK_STEP
    turns = np.abs(np.diff(steps, axis=0, append=steps[-1:])) / _CHECK_STEP**2
    checks = (
        (values < limits.lower - _SLACK, values, limits.lower, "goes below its lower limit"),
        (values > limits.upper + _SLACK, values, limits.upper, "goes above its upper limit"),
        (_exceeds(rates, limits.rate), rates, limits.rate, "moves faster than its limit"),
        (
            _exceeds(turns, limits.acceleration),
            turns,
            limits.acceleration,
            "accelerates more than its limit",
        ),
    )
    for broken, data, limit, words in checks:
        if np.any(broken):
            worst = np.argmax(np.where(broken, np.abs(data - limit), 0.0))
            row, column = np.unravel_index(worst, data.shape)
            raise ExcitationError(
                f"the command of joint {path.joints[column]!r} {words} "
                f"{limit[column]:.4g} after {times[row]:.2f} s (it would be "
                f"{data[row, column]:.4g}); shrink the motion or lengthen its ramp"
            )


def _exceeds(values: FloatArray, limit: FloatArray) -> FloatArray:
    # Second differences of numbers around 1 at every millisecond are rounded to about 1e-9.
    return np.asarray(values > limit * (1.0 + _RATE_SLACK) + 1e-6)
