# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gains of drives from the set points that were recorded beside their torque.

Where torque is sampled once in each set point that a drive holds, it shows no sawtooth, however
much of one it has: see :mod:`~sysid_ros.engine.regressor.held_set_points`. What torque changes by
from sample to sample, beside set points and positions, tells the gains. A drive that joins its set
points looks the same, so that a person is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import value_at
from sysid_ros.experiment import UNITS
from sysid_ros.proposal.signals import Channel, Line

_SHORTEST, _LONGEST = 0.7, 1.9  # of the time between samples of torque; longer ones show in these
_LATEST = 0.03  # s, by which a set point acts late
_TRIED = 4  # lags in each time between samples
_APART = 0.02  # s, over which increments are larger than noise
_FEWEST = 200  # increments
_LEFT = 0.3  # of the variance of torque's increments, that a drive may leave
_FOLLOWS = 0.1  # of a position's variance, that its set point may leave
_ALIKE = 0.5  # of a scale; soft drives follow by less than they are asked for
_TURNS = (2.0 * np.pi, 360.0)
_SCALES = (1.0, np.pi / 180.0, 180.0 / np.pi)
_Part = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Drive:
    """The gains of a joint's drive, in units of the model, and the topic of its set points."""

    stiffness: float  # N m/rad or N/m
    damping: float  # N m s/rad or N s/m
    topic: str  # where its set points are


def drives_once_sampled(
    joints: Mapping[str, tuple[Line, Line]], channels: Sequence[Channel]
) -> dict[str, Drive]:
    """Drives of which torque is sampled about once in each recorded set point, by joint.

    Args:
      joints: Lines of position and of torque.
      channels: Everything that was recorded.
    """
    asked = [one for one in channels if one.command and one.quantity in ("position", "")]
    asked = [one for one in asked if one.moves]
    found: dict[str, Drive] = {}
    taken: set[tuple[str, str]] = set()
    for joint, (position, torque) in joints.items():
        drives = [
            (left, drive, (one.topic, one.field))
            for one in asked
            if one.name in ("", joint) and (one.topic, one.field) not in taken
            for left, drive in [_drive(position, torque, one)]
            if drive is not None
        ]
        if drives:
            _, found[joint], place = min(drives, key=lambda one: one[0])
            taken.add(place)
    return found


def _drive(position: Line, torque: Line, asked: Channel) -> tuple[float, Drive | None]:
    """The drive of a joint that is asked for something, and the share of torque that it leaves."""
    parts = [one for one in _together(position, torque, asked) if _once_sampled(*one[:2])]
    if not parts:
        return np.inf, None
    scale = _scale(parts)
    if scale is None:
        return np.inf, None
    step = _step(parts[0][0])
    lags = np.arange(0.0, _LATEST, step / _TRIED)
    left, gains = min((_gains(parts, scale, float(lag)) for lag in lags), key=lambda one: one[0])
    if left > _LEFT or gains[0] <= 0.0:
        return np.inf, None
    return left, Drive(float(gains[0]), max(float(gains[1]), 0.0), asked.topic)


def _together(position: Line, torque: Line, asked: Channel) -> Iterator[_Part]:
    """Yield of each recording instants of torque and of set points, positions, torque, and these.

    Positions and torque are in the model's units.
    """
    where, what = position.channel, torque.channel
    recorded = (where.times, where.values, what.times, what.values, asked.times, asked.values)
    for there, placed, times, values, then, wanted in zip(*recorded, strict=False):
        if min(len(there), len(times) - _FEWEST, len(then)) > 1:
            moved = np.interp(times, there, _without_turns(placed)) * _unit(position)
            yield times, then, moved, values * _unit(torque), _without_turns(wanted)


def _once_sampled(times: FloatArray, then: FloatArray) -> bool:
    """Tell whether torque is sampled about once in each set point."""
    return bool(_SHORTEST < _step(then) / _step(times) < _LONGEST)


def _step(times: FloatArray) -> float:
    return float(np.median(np.diff(times)))


def _scale(parts: Sequence[_Part]) -> float | None:
    """The factor that makes set points positions in the model's units; none of others' ones."""
    best = None
    times, then, moved, _, wanted = max(parts, key=lambda one: float(np.ptp(one[2])))
    for lag in np.linspace(0.0, 10.0 * _LATEST, 31):
        asked = value_at(then, wanted, times - lag, "zoh")
        if np.ptp(asked) == 0.0 or np.ptp(moved) == 0.0:
            return None
        left = 1.0 - float(np.corrcoef(asked, moved)[0, 1]) ** 2
        if best is None or left < best[0]:
            best = left, float(np.polyfit(asked, moved, 1)[0])
    if best is None or best[0] > _FOLLOWS:
        return None
    return next((one for one in _SCALES if abs(best[1] / one - 1.0) < _ALIKE), None)


def _gains(parts: Sequence[_Part], scale: float, lag: float) -> tuple[float, FloatArray]:
    """The share of torque's increments that set points leave at a lag, and both gains, (2,)."""
    tables, sides = [], []
    for times, then, moved, torque, wanted in parts:
        ahead = scale * value_at(then, wanted, times - lag, "zoh") - moved
        both = np.column_stack([ahead, -np.gradient(moved, times), torque, times])
        apart = max(1, round(_APART / _step(times)))
        change = both[apart:] - both[:-apart]
        whole = change[:, 3] < (apart + 0.5) * _step(times)
        tables.append(change[whole, :2])
        sides.append(change[whole, 2])
    table, side = np.concatenate(tables), np.concatenate(sides)
    gains = np.asarray(np.linalg.lstsq(table, side, rcond=1e-9)[0])
    return float(np.sum((side - table @ gains) ** 2) / max(np.sum(side**2), 1e-300)), gains


def _without_turns(values: FloatArray) -> FloatArray:
    """Angles without the jumps where a turn is over."""
    turn = next((one for one in _TURNS if np.ptp(values) <= 1.01 * one), None)
    return values if turn is None else np.asarray(np.unwrap(values, period=turn))


def _unit(line: Line) -> float:
    return line.scale * UNITS.get(line.unit, 1.0)
