# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The stop that a message announces: few points of which a controller makes the curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray

_LONGEST = 5  # periods between two points, or it leads aside of where the next message expects it
_FARTHEST = 0.1  # s between two points, longer ones would lead aside of the way
_FADED_IN = 10  # points over which the curve leaves the commands for their B-spline
_AT_REST = 4  # periods at the end in which the curve may come to rest after the commands have
_SLACK = 1e-9  # per second squared, of accelerations that are only rounding


@dataclass(frozen=True)
class AnnouncedStop:
    """Points of ``n`` joints that a controller joins by cubics, the last one at rest."""

    times: FloatArray  # (m,) s after the command before it
    positions: FloatArray  # (m, n)
    velocities: FloatArray  # (m, n) per second


def announced_stop(commands: FloatArray, before: FloatArray, period: float) -> AnnouncedStop:
    """Thin a command and the stop after it to the points of a message.

    The next point is the farthest to which a cubic accelerates no more than the commands do, so
    they are near each other where braking begins or ends: a cubic across such a kink would exceed
    their acceleration by a third to two thirds.

    Args:
      commands: The command and the stop (m, n), one period apart.
      before: The command (n,) before them.
      period: Seconds between commands.
    """
    moving = np.flatnonzero(np.any(np.diff(commands, axis=0) != 0.0, axis=1))
    if not moving.size:
        return AnnouncedStop(np.array([period]), commands[:1], np.zeros_like(commands[:1]))
    rest = np.repeat(commands[-1:], _AT_REST, axis=0)
    whole = np.concatenate([before[None], commands[: moving[-1] + 2], rest, commands[-1:]])
    velocities = (whole[2:] - whole[:-2]) / (2.0 * period)
    most = np.abs(np.diff(whole, n=2, axis=0)).max(axis=0) / period**2 + _SLACK
    positions = _faded_in(whole[1:])[:-1]
    longest = min(_LONGEST, max(1, round(_FARTHEST / period)))
    places = [0]
    while places[-1] < len(positions) - 1:
        cubics = slice(places[-1], places[-1] + longest + 1)
        places.append(places[-1] + _farthest(positions[cubics], velocities[cubics], period, most))
    times = period * (1.0 + np.array(places, dtype=np.float64))
    return AnnouncedStop(times, positions[places], velocities[places])


def _faded_in(commands: FloatArray) -> FloatArray:
    """Points (m, n) of the commands' B-spline, which fades in from the first, where a robot is.

    Its acceleration runs straight from one second difference of the commands to the next, so it
    keeps the limits that they keep, where a cubic through the commands themselves rings at each
    kink of their speed, by up to half.
    """
    share = np.minimum(np.arange(1, len(commands) - 1) / _FADED_IN, 1.0)[:, None]
    points: FloatArray = commands.copy()
    points[1:-1] += share * np.diff(commands, n=2, axis=0) / 6.0
    return points


def _farthest(
    positions: FloatArray, velocities: FloatArray, period: float, most: FloatArray
) -> int:
    """The row to which a cubic from the first leads within ``most``, or exceeds it least."""
    lengths = period * np.arange(1, len(positions), dtype=np.float64)[:, None]
    ways = 6.0 * (positions[1:] - positions[0]) / lengths
    start = np.abs(ways - 4.0 * velocities[0] - 2.0 * velocities[1:])
    end = np.abs(ways - 2.0 * velocities[0] - 4.0 * velocities[1:])
    excess = (np.maximum(start, end) / lengths / most).max(axis=1)
    within = np.flatnonzero(excess <= 1.0)
    return 1 + int(within[-1] if within.size else excess.argmin())
