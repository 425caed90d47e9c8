# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators' lengths, or their rates, beside commands at several lags: what they have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import mujoco
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sysid_ros.arrays import FloatArray
from sysid_ros.assignment import assigned
from sysid_ros.engine.elements import joint_of, takes_velocity
from sysid_ros.engine.signals import value_at
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import moved_by

_GOOD = 0.1  # of an actuator's motion, 1 - r^2, that a command may leave unexplained
_BETTER = 0.25  # of what another command leaves unexplained, that the right one may leave
_LAGS = (0.0, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2)  # s
_MOST_INSTANTS = 4000
_FEWEST = 16
_SHOWN = 1e-3  # of the largest command, below which how commands differ shows no weights
_MEAN = 0.05  # s, over which both sides are averaged: a coarse encoder's rate is mostly its steps


def correlations(
    model: mujoco.MjModel,
    positions: Mapping[int, Channel],
    actuators: Sequence[int],
    commands: Sequence[Channel],
) -> FloatArray:
    """The size of the correlation of lengths of actuators with earlier commands.

    What is asked for a velocity is compared with the rate of its length. Every signal is put on
    one grid once; one matrix product per lag correlates all with all.

    Args:
      model: The compiled model.
      positions: Measured positions by joint.
      actuators: Of the rows; those whose joints are not measured have correlations of zero.
      commands: Of the columns.

    Returns:
      (number of actuators, number of commands).
    """
    best: FloatArray = np.zeros((len(actuators), len(commands)))
    for lengths, asked in _lagged(model, positions, actuators, commands):
        best = np.maximum(best, np.abs(_standard(lengths).T @ _standard(asked)))
    return best


def weighted_sum(
    model: mujoco.MjModel,
    positions: Mapping[int, Channel],
    actuator: int,
    commands: Sequence[Channel],
) -> tuple[FloatArray, float]:
    """The sum of earlier commands that an actuator's length, or its rate, follows best.

    Args:
      model: The compiled model.
      positions: Measured positions by joint.
      actuator: The one that follows.
      commands: The terms of the sum.

    Returns:
      The weight of each command, (n,), and what share of the motion's power it leaves: all where
      nothing measures that, or it stands.
    """
    best, least = np.zeros(len(commands)), 1.0
    for lengths, asked in _lagged(model, positions, [actuator], commands):
        length, terms = lengths[:, 0] - lengths.mean(), asked - asked.mean(axis=0)
        weights, power = np.linalg.lstsq(terms, length, _SHOWN)[0], float(length @ length)
        left = float(np.sum((length - terms @ weights) ** 2)) / power if power > 0.0 else 1.0
        if left < least:
            best, least = weights, left
    return best, least


def _lagged(
    model: mujoco.MjModel,
    positions: Mapping[int, Channel],
    actuators: Sequence[int],
    commands: Sequence[Channel],
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Lengths of actuators and commands some time before, by lag; nothing where few are known."""
    channels = list(positions.values())
    count = len(channels[0].times) if channels else 0
    parts = [_grid(channels, commands, part) for part in range(count)]
    grids = [(part, grid) for part, grid in enumerate(parts) if len(grid) >= _FEWEST]
    if not grids:
        return
    lengths = np.concatenate(
        [_mean(_lengths(model, positions, actuators, times, part), times) for part, times in grids]
    )
    for lag in _LAGS:
        asked = [_mean(_held(commands, times - lag, part), times) for part, times in grids]
        yield lengths, np.concatenate(asked)


def decisive(left: float, other: float) -> bool:
    """Tell from what two commands leave of a motion, 1 - r^2, whether the first is what it asks."""
    return left < _GOOD and left < _BETTER * other


def decided(left: FloatArray) -> list[int]:
    """The column of each row: its own, but for cycles of rows that are decisively another's."""
    best = dict(enumerate(assigned(left).tolist()))
    chosen = list(range(len(left)))
    seen: set[int] = set()
    for start in best:
        cycle, at = [], start
        while at not in seen and at not in cycle:
            cycle.append(at)
            at = best[at]
        seen.update(cycle)
        if all(decisive(left[row, best[row]], left[row, row]) for row in cycle):
            for row in cycle:
                chosen[row] = best[row]
    return chosen


def _grid(channels: Sequence[Channel], commands: Sequence[Channel], part: int) -> FloatArray:
    """Instants of one recording that positions and commands have in common."""
    sampled = [one.times[part] for one in channels if len(one.times[part]) > 1]
    sent = [one.times[part] for one in commands if part < len(one.times) and len(one.times[part])]
    if len(sampled) < len(channels) or len(sent) < len(commands) or not sent:
        return np.empty(0)
    first = max(float(times[0]) for times in (*sampled, *sent)) + _LAGS[-1]
    last = min(float(times[-1]) for times in sampled)
    interval = min(float(np.median(np.diff(times))) for times in sampled)
    count = int(min((last - first) / max(interval, 1e-6), _MOST_INSTANTS))
    return np.linspace(first, last, count) if count > 1 else np.empty(0)


def _lengths(
    model: mujoco.MjModel,
    positions: Mapping[int, Channel],
    actuators: Sequence[int],
    times: FloatArray,
    part: int,
) -> FloatArray:
    """Lengths of actuators over their transmissions, (n, actuators); zero where unknown."""
    measured = {
        joint: np.interp(times, channel.times[part], channel.values[part])
        for joint, channel in positions.items()
    }
    found: FloatArray = np.zeros((len(times), len(actuators)))
    others: list[int] = []
    for column, actuator in enumerate(actuators):
        joint = joint_of(model, actuator)
        if joint is None:
            others.append(column)
        elif joint in measured:
            found[:, column] = measured[joint]
    if not len(measured) == model.nq == model.nv:
        told = {str(model.joint(joint).name) for joint in measured}
        moved = {column: moved_by(model, actuators[column]) for column in others}
        others = [column for column in others if moved[column] and moved[column] <= told]
    if others:
        data = mujoco.MjData(model)
        for i in range(len(times)):
            for joint, values in measured.items():
                data.qpos[model.jnt_qposadr[joint]] = values[i]
            mujoco.mj_fwdPosition(model, data)
            found[i, others] = data.actuator_length[[actuators[column] for column in others]]
    for column, actuator in enumerate(actuators):
        if takes_velocity(model, actuator):
            found[:, column] = np.gradient(found[:, column], times)
    return found


def _held(commands: Sequence[Channel], times: FloatArray, part: int) -> FloatArray:
    """Commands in force at some instants, (n, commands)."""
    ways = ["zoh" if one.held else "linear" for one in commands]
    columns = [
        value_at(one.times[part], one.values[part], times, way)
        for one, way in zip(commands, ways, strict=True)
    ]
    return np.stack(columns, axis=1)


def _mean(table: FloatArray, times: FloatArray) -> FloatArray:
    """Columns averaged over a while about each of some even instants (n,)."""
    count = min(max(1, round(_MEAN / (times[1] - times[0]))), len(table))
    padded = np.pad(table, ((count // 2, (count - 1) // 2), (0, 0)), mode="edge")
    return np.asarray(sliding_window_view(padded, count, axis=0).mean(axis=-1))


def _standard(table: FloatArray) -> FloatArray:
    """Columns without their mean, of length one; zero where they are constant."""
    centred = table - table.mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    return np.asarray(centred / np.where(size > 1e-12, size, np.inf))
