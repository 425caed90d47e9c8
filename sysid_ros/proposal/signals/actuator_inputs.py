# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assignment of recorded commands to actuators, by evidence in order of strength.

Names come first. An array without names is in an order that the recording states elsewhere, or
else that of the model's actuators if there are as many. Correlation changes that order only where
it is decisive, and decides alone only where it is; what is weaker stays a comment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np
import scipy

from sysid_ros.engine.elements import joint_of
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.correlations import (
    correlations,
    decided,
    decisive,
    followed_by_others,
)
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.names import Match, match_names, similarity
from sysid_ros.proposal.signals.orders import Order
from sysid_ros.proposal.signals.other_states import possibly_asked
from sysid_ros.proposal.signals.recorded_commands import (
    asked_beside,
    called_by_topics,
    command_arrays,
    in_numbered_topics,
    named_commands,
    not_repeated,
    of_one_quantity,
    of_quantity,
    of_robot,
    spaces_of,
)
from sysid_ros.recording.messages import is_asked, message_type

_NO_NUMBERS = ("/Bool", "/String")
_FOLLOWS = 0.7  # correlation from which the order of an array is believed
_OF_ROTOR = "is the {channel.quantity} of {channel.topic} the control of {drive.name}?"


@dataclass(frozen=True)
class Assigned:
    """Lines of actuators, and lines that are only possible."""

    lines: tuple[Line, ...] = ()
    possible: tuple[Line, ...] = ()


@dataclass
class _Open:
    """Actuators that are still to be assigned, and what has been."""

    drives: list[Drive]
    lines: list[Line] = field(default_factory=list)
    possible: list[Line] = field(default_factory=list)

    def take(self, lines: Sequence[Line], possible: Sequence[Line] = ()) -> None:
        self.lines += lines
        self.possible += possible
        taken = {line.name for line in (*lines, *possible)}
        self.drives = [drive for drive in self.drives if drive.name not in taken]


def command_lines(
    model: mujoco.MjModel,
    drives: Sequence[Drive],
    channels: Sequence[Channel],
    positions: Mapping[int, Channel],
    orders: Sequence[Order],
) -> Assigned:
    """Propose the inputs of actuators.

    Args:
      model: The compiled model.
      drives: Actuators without an input.
      channels: Everything that was recorded, also what never changes.
      positions: Measured positions by joint.
      orders: Orders of names that the recording states.
    """
    asked = [one for one in channels if one.command and not one.msgtype.endswith(_NO_NUMBERS)]
    commands = [one for one in asked if not message_type(one.msgtype).of_base]
    spaces = spaces_of(positions.values())
    arrays = of_robot(command_arrays(commands), positions.values())
    singles = {found[0].topic for found in arrays.values() if len(found) == 1}
    named = named_commands(commands, drives, singles)
    alone = [found[0] for found in arrays.values() if len(found) == 1]
    arrays |= {f"{one[0].topic} to {one[-1].topic}": one for one in in_numbered_topics(alone)}
    open_ = _Open(list(drives))
    for quantity in dict.fromkeys(drive.quantity for drive in drives):
        _by_name(open_, quantity, of_quantity(named, quantity), spaces)
    telling = [one for group in named.values() for one in group]
    rotors = [drive for drive in open_.drives if drive.thrusts]
    _rest_by_name(open_, rotors, telling, _OF_ROTOR)  # in rpm or as a share of the most
    for drive in [one for one in open_.drives if one.quantity == "position"]:
        joint = joint_of(model, drive.actuator)
        measured = None if joint is None else positions.get(joint)
        if len(found := asked_beside(commands, measured)) == 1:
            open_.take([Line("actuator", drive.name, found[0])])
    _rest_by_name(open_, open_.drives, [one for one in telling if not one.quantity])
    for called, own in called_by_topics(open_.drives, arrays):
        others = [one for one in open_.drives if one not in called]
        fair = [one for one in own if not followed_by_others(model, positions, called, others, one)]
        _by_order(model, open_, called, fair, positions, orders, last=False)
    groups = _groups(open_.drives)
    # What one group leaves undecided may be plain once the others have theirs.
    for group, last in [*((one, False) for one in groups), *((one, True) for one in groups)]:
        used = {(line.channel.topic, line.channel.field) for line in open_.lines}
        left = {
            key: found
            for key, found in arrays.items()
            if not any((one.topic, one.field) in used for one in found)
        }
        alike = of_quantity(left, group[0].quantity if of_one_quantity(group) else "")
        _by_order(model, open_, group, list(alike.values()), positions, orders, last=last)
    _of_base(model, open_, [one for one in asked if one not in commands and one.moves], positions)
    _of_another_kind(open_, list(arrays.values()))
    still = named_commands(commands, drives, singles, moving=False)
    _unchanging(open_, [*still.values(), *command_arrays(commands, moving=False).values()])
    open_.take((), possibly_asked(model, open_.drives, channels, positions))
    return Assigned(tuple(open_.lines), tuple(open_.possible))


def _of_base(
    model: mujoco.MjModel,
    open_: _Open,
    asked: Sequence[Channel],
    positions: Mapping[int, Channel],
) -> None:
    """Assign what a base is asked for: speeds, but for those of wheels, and steering angles."""
    for drive in open_.drives:
        if drive.quantity == "velocity" and joint_of(model, drive.actuator) is None:
            told = [one for one in asked if one.quantity != "position"]
        else:
            told = [one for one in asked if one.quantity == drive.quantity == "position"]
        if told:
            open_.take(_by_motion(model, [drive], told, positions)[0])


def _unchanging(open_: _Open, topics: Sequence[list[Channel]]) -> None:
    """Commands that never change, by name or as many as there are actuators left."""
    for group in topics:
        drives = open_.drives
        if not drives or any(one.quantity not in ("", drives[0].quantity) for one in group):
            continue
        names, matches = _matched(drives, [one.name for one in group])
        chosen = {
            drive.name: group[matches[name].index]
            for drive, name in zip(drives, names, strict=True)
            if name in matches and matches[name].sure
        }
        if not any(one.name for one in group) and len(group) == len(drives):
            chosen = {drive.name: one for drive, one in zip(drives, group, strict=True)}
        open_.take(
            (),
            [
                Line("actuator", name, one, grounds=f"{one.topic} never changes")
                for name, one in chosen.items()
            ],
        )


def _of_another_kind(open_: _Open, arrays: Sequence[list[Channel]]) -> None:
    """Arrays as long as there are actuators left, which say that they are something else."""
    used = {line.channel.topic for line in (*open_.lines, *open_.possible)}
    for channels in arrays:
        kind = channels[0].quantity
        if channels[0].topic in used or len(channels) != len(open_.drives):
            continue
        possible = [
            Line(
                "actuator",
                drive.name,
                channel,
                f"{channel.topic} says {kind}, {drive.name} takes {drive.quantity or 'another'}",
            )
            for drive, channel in zip(open_.drives, channels, strict=True)
        ]
        open_.take((), possible)
        return


def _groups(drives: Sequence[Drive]) -> list[list[Drive]]:
    """Actuators whose commands may come in one array: all, then those of each quantity."""
    by_quantity: dict[str, list[Drive]] = {}
    for drive in drives:
        by_quantity.setdefault(drive.quantity, []).append(drive)
    groups = [list(drives), *by_quantity.values()]
    return [group for i, group in enumerate(groups) if group and group not in groups[:i]]


def _by_name(
    open_: _Open, quantity: str, topics: Mapping[str, list[Channel]], spaces: Collection[str]
) -> None:
    """Assign commands that messages name; those of one topic where several have them.

    Of two robots in one recording it is the one whose positions were taken, in some namespaces.
    """
    drives = [drive for drive in open_.drives if drive.quantity == quantity]

    def rank(group: Sequence[Channel]) -> tuple[int, bool]:
        return len(group), not spaces_of(group).isdisjoint(spaces)

    for group in sorted(topics.values(), key=rank, reverse=True):
        left = [drive for drive in drives if drive in open_.drives]
        if not left or not group:
            continue
        names, matches = _matched(left, [one.name for one in group])
        lines = []
        for drive, name in zip(left, names, strict=True):
            if name in matches:
                channel, sure = group[matches[name].index], matches[name].sure
                doubt = "" if sure else f"is {channel.field} the input of {drive.name}?"
                lines.append(Line("actuator", drive.name, channel, doubt))
        open_.take(lines)


def _rest_by_name(
    open_: _Open, drives: Sequence[Drive], channels: Sequence[Channel], doubt: str = ""
) -> None:
    """Assign what is left to the drives that it surely names, with a doubt about both."""
    used = {(line.channel.topic, line.channel.field) for line in open_.lines}
    left = [one for one in channels if (one.topic, one.field) not in used]
    if not drives or not left:
        return
    names, matches = _matched(drives, [one.name for one in left])
    sure = [(drive, matches.get(name)) for drive, name in zip(drives, names, strict=True)]
    found = [(drive, left[match.index]) for drive, match in sure if match and match.sure]
    open_.take(
        [
            Line("actuator", drive.name, one, doubt.format(drive=drive, channel=one))
            for drive, one in found
        ]
    )


def _matched(drives: Sequence[Drive], given: Sequence[str]) -> tuple[list[str], dict[str, Match]]:
    """Return what each drive is called, by its actuator or what it moves, and the matches."""
    likest = [
        max(drive.names, key=lambda name: max(similarity(name, one) for one in given))
        for drive in drives
    ]
    tried = [likest, *([drive.names[k] for drive in drives] for k in (0, -1))]
    found = [(names, match_names(names, given)) for names in tried]
    return max(found, key=lambda one: (sum(m.sure for m in one[1].values()), len(one[1])))


def _by_order(
    model: mujoco.MjModel,
    open_: _Open,
    group: Sequence[Drive],
    arrays: Sequence[list[Channel]],
    positions: Mapping[int, Channel],
    orders: Sequence[Order],
    *,
    last: bool,
) -> None:
    """Assign the elements of arrays without names; ``last``: nothing else comes to decide."""
    drives = [drive for drive in group if drive in open_.drives]
    if not drives:
        return
    for channels in arrays:
        order = _stated(drives, channels, orders)
        if order is not None:
            places, source = order
            open_.take(
                [
                    Line(
                        "actuator", drive.name, channels[place], grounds=f"in the order of {source}"
                    )
                    for drive, place in zip(drives, places, strict=True)
                ]
            )
            return
    fitting = (
        [channels for channels in arrays if len(channels) == len(drives)]
        or [
            channels[: len(drives)]  # of a message with places for more motors than the robot has
            for channels in arrays
            if len(channels) > len(drives) and not any(one.moves for one in channels[len(drives) :])
        ]
    )
    if fitting:
        fitting = [one for one in fitting if is_asked(one[0].topic)] or fitting
        best, decides = _followed(model, drives, not_repeated(fitting), positions)
        lines = _in_order(model, drives, best, positions)
        if decides:
            open_.take(lines)
        elif last:
            topics = " or ".join(channels[0].topic for channels in fitting)
            open_.take((), [replace(line, grounds=f"from {topics}", doubt="") for line in lines])
        return
    if len(group) == len(open_.drives) and not of_one_quantity(group):
        return  # each kind by itself comes next
    rest = [channel for channels in arrays for channel in channels if channel.moves]
    if rest:
        lines, possible = _by_motion(model, drives, rest, positions)
        open_.take(lines, possible)


def _followed(
    model: mujoco.MjModel,
    drives: Sequence[Drive],
    arrays: Sequence[list[Channel]],
    positions: Mapping[int, Channel],
) -> tuple[list[Channel], bool]:
    """The array that actuators follow best, and whether it is the only one or decisively so."""
    if len(arrays) == 1:
        return arrays[0], True
    left = []
    for channels in arrays:
        table = correlations(model, positions, [drive.actuator for drive in drives], channels)
        unexplained = 1.0 - table**2
        left.append(float(unexplained[scipy.optimize.linear_sum_assignment(unexplained)].mean()))
    best, second = np.argsort(left)[:2]
    return arrays[best], decisive(left[best], left[second])


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


def _in_order(
    model: mujoco.MjModel,
    drives: Sequence[Drive],
    channels: Sequence[Channel],
    positions: Mapping[int, Channel],
) -> list[Line]:
    """An array as long as there are actuators, in their order unless motion decides otherwise."""
    table = correlations(model, positions, [drive.actuator for drive in drives], channels)
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


def _by_motion(
    model: mujoco.MjModel,
    drives: Sequence[Drive],
    channels: Sequence[Channel],
    positions: Mapping[int, Channel],
) -> tuple[list[Line], list[Line]]:
    """Commands in no known order: what follows one decisively, and what may follow one."""
    table = correlations(model, positions, [drive.actuator for drive in drives], channels)
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
