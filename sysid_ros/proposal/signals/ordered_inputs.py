# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assignment of commands without names: arrays in a known order, and what motion decides.

An array is in an order that the recording states elsewhere, or else that of the model's actuators
if there are as many. Correlation changes that order only where it is decisive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np
import scipy

from sysid_ros.engine.elements import is_servo
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.correlations import correlations, decided, decisive
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.open_drives import Evidence, OpenDrives
from sysid_ros.proposal.signals.orders import Order
from sysid_ros.proposal.signals.recorded_commands import not_repeated, of_one_quantity
from sysid_ros.recording.messages import is_asked

_FOLLOWS = 0.7  # correlation from which the order of an array is believed


def by_order(
    open_: OpenDrives,
    group: Sequence[Drive],
    arrays: Sequence[list[Channel]],
    told: Evidence,
    *,
    last: bool,
) -> None:
    """Assign the elements of arrays without names; ``last``: nothing else comes to decide."""
    drives = open_.left_of(group)
    if not drives:
        return
    if stated := _in_stated_order(drives, arrays, told.orders):
        open_.take(stated)
    elif fitting := _as_long(drives, arrays):
        best, decides = _followed(told, drives, not_repeated(fitting))
        lines = _in_order(told, drives, best)
        if decides:
            open_.take(lines)
        elif last:
            topics = " or ".join(channels[0].topic for channels in fitting)
            open_.take((), [replace(line, grounds=f"from {topics}", doubt="") for line in lines])
    elif len(group) != len(open_.drives) or of_one_quantity(group):  # else each kind comes next
        rest = [channel for channels in arrays for channel in channels if channel.moves]
        if rest:
            open_.take(*by_motion(told, drives, rest))


def not_followed(
    model: mujoco.MjModel, positions: Mapping[int, Channel], lines: Sequence[Line]
) -> bool:
    """Tell whether numbers in no known order, told to servos of positions, are no positions.

    As torques are, of a robot whose model has servos: hardly one of them is where it was told to
    be. True where there are no lines.

    Args:
      model: The compiled model.
      positions: Measured positions by joint.
      lines: Inputs of actuators.
    """
    asked = [line for line in lines if line.channel.moves]
    actuators = [int(model.actuator(line.name.partition(".")[0]).id) for line in asked]
    named = any(line.channel.name or line.channel.quantity for line in lines)
    if named or not all(is_servo(model, actuator) for actuator in actuators):
        return False
    channels = [line.channel for line in asked]
    followed = np.diag(correlations(model, positions, actuators, channels))
    return not len(followed) or float(np.median(followed)) < _FOLLOWS


def by_motion(
    told: Evidence, drives: Sequence[Drive], channels: Sequence[Channel]
) -> tuple[list[Line], list[Line]]:
    """Commands in no known order: what follows one decisively, and what may follow one."""
    table = told.followed(drives, channels)
    left = 1.0 - table**2
    lines, possible = [], []
    rows, columns = scipy.optimize.linear_sum_assignment(left)
    for row, column in zip(rows, columns, strict=True):
        runner = float(np.delete(left[row], column).min(initial=1.0))
        channel = channels[column]
        grounds = (
            f"{drives[row].name} follows {channel.topic} {channel.field} with a correlation of "
            f"{table[row, column]:.2f}, the next best with {np.sqrt(1.0 - runner):.2f}"
        )
        if decisive(float(left[row, column]), runner):
            lines.append(Line("actuator", drives[row].name, channel, grounds))
        else:
            possible.append(Line("actuator", drives[row].name, channel, grounds))
    return lines, possible


def _in_stated_order(
    drives: Sequence[Drive], arrays: Sequence[list[Channel]], orders: Sequence[Order]
) -> list[Line]:
    """Lines from the first array of whose elements the recording has the names."""
    for channels in arrays:
        if order := _stated(drives, channels, orders):
            places, source = order
            grounds = f"in the order of {source}"
            return [
                Line("actuator", drive.name, channels[place], grounds=grounds)
                for drive, place in zip(drives, places, strict=True)
            ]
    return []


def _stated(
    drives: Sequence[Drive], channels: Sequence[Channel], orders: Sequence[Order]
) -> tuple[list[int], str] | None:
    """The place of each actuator in an array of a length that the recording has names for."""
    space = channels[0].topic.rpartition("/")[0]
    for order in sorted(orders, key=lambda one: not (space and one.source.startswith(space))):
        if len(order.names) != len(channels):
            continue
        known = [
            [place for place, name in enumerate(order.names) if name in drive.names]
            for drive in drives
        ]
        if all(len(places) == 1 for places in known):
            return [places[0] for places in known], order.source
    return None


def _as_long(drives: Sequence[Drive], arrays: Sequence[list[Channel]]) -> list[list[Channel]]:
    """The arrays that have a number for each drive; of targets, where topics are called so.

    A message with places for more motors than the robot has never moves the last ones.
    """
    number = len(drives)
    same = [channels for channels in arrays if len(channels) == number]
    longer = [
        channels[:number] for channels in arrays
        if len(channels) > number and not any(one.moves for one in channels[number:])
    ]  # fmt: skip
    fitting = same or longer
    return [one for one in fitting if is_asked(one[0].topic)] or fitting


def _followed(
    told: Evidence, drives: Sequence[Drive], arrays: Sequence[list[Channel]]
) -> tuple[list[Channel], bool]:
    """The array that actuators follow best, and whether it is the only one or decisively so."""
    if len(arrays) == 1:
        return arrays[0], True
    left = []
    for channels in arrays:
        table = told.followed(drives, channels)
        unexplained = 1.0 - table**2
        left.append(float(unexplained[scipy.optimize.linear_sum_assignment(unexplained)].mean()))
    best, second = np.argsort(left)[:2]
    return arrays[best], decisive(left[best], left[second])


def _in_order(told: Evidence, drives: Sequence[Drive], channels: Sequence[Channel]) -> list[Line]:
    """An array as long as there are actuators, in their order unless motion decides otherwise."""
    table = told.followed(drives, channels)
    chosen = decided(1.0 - table**2)
    lines = []
    for row, (drive, column) in enumerate(zip(drives, chosen, strict=True)):
        line = Line("actuator", drive.name, channels[column])
        own, found = table[row, row], table[row, column]
        if column != row:
            doubt = (
                f"{drive.name} follows {channels[column].field} (correlation {found:.3f}), not "
                f"{channels[row].field} as the array's order has it ({own:.3f})"
            )
            line = replace(line, doubt=doubt)
        elif len(drives) > 1:
            order = "in the order of the model's actuators"
            if own < _FOLLOWS:
                seen = f", and {drive.name} follows it with {own:.2f} only" if own > 0.0 else ""
                line = replace(line, doubt=f"{order}, which is a guess{seen}")
            else:
                line = replace(line, grounds=f"{order} (correlation {own:.2f})")
        lines.append(line)
    return lines
