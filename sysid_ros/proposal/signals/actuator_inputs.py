# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assignment of recorded commands to actuators, by evidence in order of strength.

Names come first, then the order of arrays without names. Correlation decides only where it is
decisive; what is weaker stays a comment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco

from sysid_ros.engine.elements import joint_of
from sysid_ros.engine.signals import control_names
from sysid_ros.experiment import UNITS
from sysid_ros.proposal.signals.asked_bases import as_angle, doubted_beside, of_base
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.names import Match, match_names, similarity
from sysid_ros.proposal.signals.open_drives import Evidence, OpenDrives, possibly_asked
from sysid_ros.proposal.signals.ordered_inputs import by_order
from sysid_ros.proposal.signals.orders import Order
from sysid_ros.proposal.signals.recorded_commands import (
    asked_beside,
    called_as_others,
    called_by_topics,
    command_arrays,
    in_numbered_topics,
    likeliest,
    named_commands,
    of_one_quantity,
    of_quantity,
    of_robot,
    spaces_of,
)
from sysid_ros.proposal.signals.rotor_speeds import as_thrusts, lifting_rotors, turns_both_ways
from sysid_ros.recording.messages import message_type

_NO_NUMBERS = ("/Bool", "/String")
_OF_ROTOR = "is the {channel.quantity} of {channel.topic} the control of {drive.name}?"
_SPEED = "velocity"


@dataclass(frozen=True)
class Assigned:
    """Lines of actuators, and lines that are only possible."""

    lines: tuple[Line, ...] = ()
    possible: tuple[Line, ...] = ()


@dataclass(frozen=True)
class _Commands:
    """The recorded commands, by how an actuator may be assigned to them."""

    channels: Sequence[Channel]
    of_base: Sequence[Channel]  # its speeds and steering angles
    named: Mapping[str, list[Channel]]  # by topic, those that messages or topics name
    arrays: Mapping[str, list[Channel]]  # in an order, by topic and field
    unchanging: Sequence[list[Channel]]  # both, of topics that never change

    @classmethod
    def of(
        cls, channels: Sequence[Channel], drives: Sequence[Drive], positions: Collection[Channel]
    ) -> _Commands:
        """Sort the commands among the channels."""
        asked = [one for one in channels if one.command and not one.msgtype.endswith(_NO_NUMBERS)]
        of_base = [one for one in asked if message_type(one.msgtype).of_base]
        commands = [one for one in asked if one not in of_base]
        arrays = of_robot(command_arrays(commands), positions)
        alone = [found[0] for found in arrays.values() if len(found) == 1]
        singles = {one.topic for one in alone}
        arrays |= {f"{one[0].topic} to {one[-1].topic}": one for one in in_numbered_topics(alone)}
        still = named_commands(commands, drives, singles, moving=False)
        return cls(
            commands,
            [one for one in of_base if one.moves],
            named_commands(commands, drives, singles),
            arrays,
            [*still.values(), *command_arrays(commands, moving=False).values()],
        )


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
    told = Evidence(model, positions, orders)
    commands = _Commands.of(channels, drives, positions.values())
    open_ = OpenDrives(list(drives))
    _so_called(open_, commands, told)
    _in_arrays(open_, commands, told)
    of_base(open_, commands.of_base, told)
    _speeds_of_rotors(open_, commands.arrays, told)
    turned = [one for one in channels if not one.command and one.quantity == _SPEED]
    _speeds_of_rotors(open_, of_robot(command_arrays(turned), positions.values()), told)
    _of_another_kind(open_, list(commands.arrays.values()))
    _unchanging(open_, commands.unchanging)
    open_.take((), possibly_asked(model, open_.drives, channels, positions))
    lines = [doubted_beside(commands.of_base, drives, one) for one in open_.lines]
    lines = [as_angle(commands.of_base, drives, one) for one in lines]
    lines = as_thrusts(model, drives, lines)
    return Assigned(tuple(lines), tuple(open_.possible))


def _so_called(open_: OpenDrives, commands: _Commands, told: Evidence) -> None:
    """Assign what names tell: messages' own, topics', and those of what was measured."""
    spaces = spaces_of(told.positions.values())
    drives = open_.drives
    for quantity in dict.fromkeys(drive.quantity for drive in drives):
        own = [drive for drive in drives if drive.quantity == quantity]
        others = [drive for drive in drives if drive not in own]
        named = {
            topic: [one for one in group if not called_as_others(one, own, others)]
            for topic, group in commands.named.items()
        }
        _by_name(open_, own, of_quantity(named, quantity), spaces)
    telling = [one for group in commands.named.values() for one in group]
    rotors = [drive for drive in open_.drives if drive.thrusts]
    _rest_by_name(open_, rotors, telling, _OF_ROTOR)  # in rpm or as a share of the most
    for drive in [one for one in open_.drives if one.quantity == "position"]:
        joint = joint_of(told.model, drive.actuator)
        measured = None if joint is None else told.positions.get(joint)
        if len(found := asked_beside(commands.channels, measured)) == 1:
            open_.take([Line("actuator", drive.name, found[0])])
    _rest_by_name(open_, open_.drives, [one for one in telling if not one.quantity])


def _in_arrays(open_: OpenDrives, commands: _Commands, told: Evidence) -> None:
    """Assign arrays without names: those whose topics name a part of the robot, then the rest."""
    for called, own in called_by_topics(open_.drives, commands.arrays):
        others = [one for one in open_.drives if one not in called]
        fair = [one for one in own if not told.followed_by_others(called, others, one)]
        by_order(open_, called, fair, told, last=False)
    groups = _groups(open_.drives)
    # What one group leaves undecided may be plain once the others have theirs.
    for group, last in [*((one, False) for one in groups), *((one, True) for one in groups)]:
        left = {
            key: found
            for key, found in commands.arrays.items()
            if len(open_.unused(found)) == len(found)
        }
        alike = of_quantity(left, group[0].quantity if of_one_quantity(group) else "")
        by_order(open_, group, list(alike.values()), told, last=last)


def _speeds_of_rotors(
    open_: OpenDrives, arrays: Mapping[str, list[Channel]], told: Evidence
) -> None:
    """Arrays of how fast rotors are to turn or, of ESCs, do turn, of which their thrusts are."""
    rotors = lifting_rotors(told.model, open_.drives)
    speeds = [open_.unused(one) for one in of_quantity(arrays, _SPEED).values()]
    fair = [one for one in speeds if not any(map(turns_both_ways, one))]
    by_order(open_, rotors, fair, told, last=True)


def _unchanging(open_: OpenDrives, topics: Sequence[list[Channel]]) -> None:
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


def _of_another_kind(open_: OpenDrives, arrays: Sequence[list[Channel]]) -> None:
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
    open_: OpenDrives,
    drives: Sequence[Drive],
    topics: Mapping[str, list[Channel]],
    spaces: Collection[str],
) -> None:
    """Assign commands that messages name, to drives of one quantity; of one topic where several do.

    Of two robots in one recording it is the one whose positions were taken, in some namespaces.
    """

    def rank(group: Sequence[Channel]) -> tuple[int, bool]:
        return len(group), not spaces_of(group).isdisjoint(spaces)

    for given in sorted(topics.values(), key=rank, reverse=True):
        left, group = open_.left_of(drives), likeliest(given, drives[0].quantity)
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
    open_: OpenDrives, drives: Sequence[Drive], channels: Sequence[Channel], doubt: str = ""
) -> None:
    """Assign what is left to the drives that it surely names, with a doubt about both."""
    left = open_.unused(channels)
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


def velocity_inputs(
    model: mujoco.MjModel, lines: Sequence[Line], channels: Sequence[Channel]
) -> list[Line]:
    """Lines of the velocities that were commanded in the same messages as pids' positions."""
    inputs, recorded = control_names(model), {(one.topic, one.field): one for one in channels}
    found = []
    for line in lines:
        name, unit = f"{line.name}.velocity", f"{line.unit}/s" if line.unit else ""
        field = line.channel.field.replace("positions[", "velocities[")
        field = field.replace("position[", "velocity[")
        rate = recorded.get((line.channel.topic, field))
        known = line.kind == "actuator" and name in inputs and (not unit or unit in UNITS)
        if known and rate is not None and rate is not line.channel and rate.moves:
            found.append(replace(line, name=name, channel=rate, unit=unit))
    return found
