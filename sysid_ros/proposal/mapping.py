# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assignment of recorded numbers to joints' positions and actuators' inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import scipy

from sysid_ros.diagnosis import is_effort, is_servo
from sysid_ros.proposal.bodies import body_lines
from sysid_ros.proposal.channels import Channel
from sysid_ros.proposal.lines import Line
from sysid_ros.proposal.names import match_names, similarity

_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_FOLLOWS = 0.7  # correlation from which a joint follows a command
_LAGS = (0.0, 0.02, 0.05, 0.1, 0.2)  # s


@dataclass(frozen=True)
class Mapping:
    """The signals of a proposal, and what has none.

    Attributes:
      lines: The signals of hinges, slides and actuators.
      bodies: Those of free joints and of sensors on bodies.
      unmapped: Sentences about joints and actuators without a signal.
      joints: Names of the hinges and slides whose position is measured.
    """

    lines: tuple[Line, ...]
    bodies: tuple[Line, ...]
    unmapped: tuple[str, ...]
    joints: tuple[str, ...]

    @property
    def signals(self) -> tuple[Line, ...]:
        """Everything that is mapped."""
        return self.lines + self.bodies


def map_channels(model: mujoco.MjModel, channels: Sequence[Channel]) -> Mapping:
    """Propose the signal map of a model.

    Args:
      model: The compiled model.
      channels: What was recorded.
    """
    moving = [channel for channel in channels if channel.moves]
    positions = _positions(model, moving)
    lines = [_position_line(model, joint, *found) for joint, found in positions.items()]
    joints = [model.joint(joint).name for joint in positions]
    unmapped = _rivals(moving, list(positions.values()))
    unmapped += [
        f"joint {model.joint(joint).name!r} has no measured position"
        for joint in _scalar_joints(model)
        if joint not in positions
    ]
    used = {(line.channel.topic, line.channel.field) for line in lines}
    free = [one for one in moving if (one.topic, one.field) not in used]
    for found in (_efforts(model, free, positions), _servos(model, free, positions)):
        lines += found
    driven = {line.name for line in lines if line.kind == "actuator"}
    unmapped += [
        f"actuator {model.actuator(a).name!r} has no input; its control is taken as zero"
        for a in range(model.nu)
        if model.actuator(a).name not in driven
    ]
    if not model.nu:
        lines += _joint_efforts(model, free, positions)
    bodies = body_lines(model, moving)
    return Mapping(tuple(lines), tuple(bodies), tuple(unmapped), tuple(joints))


Positions = dict[int, tuple[Channel, bool]]


def _scalar_joints(model: mujoco.MjModel) -> list[int]:
    return [j for j in range(model.njnt) if int(model.jnt_type[j]) in _SCALAR]


def _positions(model: mujoco.MjModel, channels: Sequence[Channel]) -> Positions:
    """The measured position of each joint, by name, or in order where no name is alike."""
    measured = [c for c in channels if c.quantity == "position" and not c.command]
    measured = _one_source(measured)
    joints = _scalar_joints(model)
    names = [str(model.joint(joint).name) for joint in joints]
    matches = match_names(names, [channel.name for channel in measured])
    found: Positions = {
        joint: (measured[matches[name].index], matches[name].sure)
        for joint, name in zip(joints, names, strict=True)
        if name in matches
    }
    taken = {match.index for match in matches.values()}
    rest = [channel for i, channel in enumerate(measured) if i not in taken]
    open_joints = [joint for joint in joints if joint not in found]
    if len(rest) >= len(open_joints):
        for joint, channel in zip(open_joints, rest, strict=False):
            found[joint] = (channel, False)
    return dict(sorted(found.items()))


def _one_source(channels: list[Channel]) -> list[Channel]:
    """The channels of one topic: the one that has most, JointState before others."""
    topics = {channel.topic: channel.msgtype for channel in channels}
    if not topics:
        return []

    def rank(topic: str) -> tuple[bool, int, int]:
        count = sum(channel.topic == topic for channel in channels)
        return topics[topic] == "sensor_msgs/msg/JointState", count, -len(topic)

    best = max(topics, key=rank)
    return [channel for channel in channels if channel.topic == best]


def _rivals(channels: Sequence[Channel], chosen: Sequence[tuple[Channel, bool]]) -> list[str]:
    """Topics that have every joint as well, such as those of a second robot of the same kind."""
    if not chosen:
        return []
    used = chosen[0][0].topic
    names = {channel.name for channel, _ in chosen}
    others: dict[str, set[str]] = {}
    for channel in channels:
        if channel.msgtype == chosen[0][0].msgtype and channel.quantity == "position":
            others.setdefault(channel.topic, set()).add(channel.name)
    return [
        f"{topic} has the same joints; is {used} the right one?"
        for topic, known in others.items()
        if topic != used and names <= known
    ]


def _position_line(model: mujoco.MjModel, joint: int, channel: Channel, sure: bool) -> Line:
    name = str(model.joint(joint).name)
    doubt = "" if sure else f"is {channel.field} the position of {name}?"
    for sensor in range(model.nsensor):
        is_position = int(model.sensor_type[sensor]) == int(mujoco.mjtSensor.mjSENS_JOINTPOS)
        if is_position and int(model.sensor_objid[sensor]) == joint and model.sensor(sensor).name:
            return Line("sensor", str(model.sensor(sensor).name), channel, doubt)
    return Line("qpos", name, channel, doubt)


def _joint_of(model: mujoco.MjModel, actuator: int) -> int | None:
    if int(model.actuator_trntype[actuator]) != int(mujoco.mjtTrn.mjTRN_JOINT):
        return None
    return int(model.actuator_trnid[actuator, 0])


def _efforts(
    model: mujoco.MjModel, channels: Sequence[Channel], positions: Positions
) -> list[Line]:
    """Inputs of motors: the measured effort of their joints, or else a command."""
    motors = [a for a in range(model.nu) if is_effort(model, a) and _joint_of(model, a) is not None]
    lines: list[Line] = []
    left = []
    for actuator in motors:
        joint = _joint_of(model, actuator)
        measured = _same_joint(channels, positions, joint, "effort")
        if measured is None:
            left.append(actuator)
        else:
            lines.append(Line("actuator", str(model.actuator(actuator).name), measured))
    return lines + _by_name_or_order(model, left, _commands(channels, "effort"))


def _joint_efforts(
    model: mujoco.MjModel, channels: Sequence[Channel], positions: Positions
) -> list[Line]:
    """Measured efforts on the joints of a model without actuators, such as a URDF."""
    lines = []
    for joint in positions:
        measured = _same_joint(channels, positions, joint, "effort")
        if measured is not None:
            lines.append(Line("effort", str(model.joint(joint).name), measured))
    return lines


def _same_joint(
    channels: Sequence[Channel], positions: Positions, joint: int | None, quantity: str
) -> Channel | None:
    """Another measurement from the message that has a joint's position."""
    if joint not in positions:
        return None
    position = positions[joint][0]
    for channel in channels:
        same = channel.topic == position.topic and channel.name == position.name
        if same and position.name and channel.quantity == quantity and not channel.command:
            return channel
    return None


def _commands(channels: Sequence[Channel], quantity: str) -> list[Channel]:
    """Commands that may be of a quantity; those that say so where there are any."""
    commands = [
        channel
        for channel in channels
        if channel.command
        and channel.quantity in (quantity, "")
        and not channel.msgtype.endswith("/Bool")
    ]
    telling = [c for c in commands if c.quantity == quantity]
    return telling or commands


def _by_name_or_order(
    model: mujoco.MjModel, actuators: list[int], commands: list[Channel]
) -> list[Line]:
    if not actuators:
        return []
    names = [_best_name(model, actuator, commands) for actuator in actuators]
    matches = match_names(names, [command.name for command in commands])
    lines = []
    unnamed = [command for command in commands if not command.name]
    for place, (actuator, name) in enumerate(zip(actuators, names, strict=True)):
        label = str(model.actuator(actuator).name)
        if name in matches:
            channel, sure = commands[matches[name].index], matches[name].sure
            doubt = "" if sure else f"is {channel.field} the input of {label}?"
            lines.append(Line("actuator", label, channel, doubt))
        elif place < len(unnamed):
            doubt = "" if len(unnamed) == 1 else "the order of commands is a guess"
            lines.append(Line("actuator", label, unnamed[place], doubt))
    return lines


def _best_name(model: mujoco.MjModel, actuator: int, commands: list[Channel]) -> str:
    """The actuator's name or its joint's, whichever the commands know."""
    joint = _joint_of(model, actuator)
    names = [str(model.actuator(actuator).name)]
    if joint is not None:
        names.append(str(model.joint(joint).name))
    return max(
        names,
        key=lambda name: max((similarity(name, c.name) for c in commands), default=0.0),
    )


def _servos(model: mujoco.MjModel, channels: Sequence[Channel], positions: Positions) -> list[Line]:
    """Inputs of position servos, by name, or by which joint follows which command."""
    servos = [a for a in range(model.nu) if is_servo(model, a) and _joint_of(model, a) in positions]
    commands = _commands(channels, "position")
    named = [command for command in commands if command.name]
    if not servos or not commands:
        return []
    if named:
        return _by_name_or_order(model, servos, named)
    table = np.array(
        [
            [_following(positions[_joint_of(model, a) or 0][0], command) for command in commands]
            for a in servos
        ]
    )
    rows, columns = scipy.optimize.linear_sum_assignment(-np.abs(table))
    lines = []
    for row, column in zip(rows, columns, strict=True):
        follows = abs(table[row, column])
        label = str(model.actuator(servos[row]).name)
        doubt = ""
        if follows < _FOLLOWS and len(commands) > 1:
            doubt = f"{label} follows {commands[column].field} with a correlation of {follows:.2f}"
        lines.append(Line("actuator", label, commands[column], doubt))
    return lines


def _following(position: Channel, command: Channel) -> float:
    """The largest correlation of a position with an earlier command, over all recordings."""
    best = 0.0
    for lag in _LAGS:
        asked, reached = [], []
        for times, values, sent, wanted in zip(
            position.times, position.values, command.times, command.values, strict=True
        ):
            if len(sent) and len(times):
                index = np.searchsorted(sent, times - lag, side="right") - 1
                known = index >= 0
                asked.append(wanted[index[known]])
                reached.append(values[known])
        if not asked:
            continue
        one, other = np.concatenate(asked), np.concatenate(reached)
        if len(one) > 8 and np.ptp(one) > 0.0 and np.ptp(other) > 0.0:
            found = float(np.corrcoef(one, other)[0, 1])
            best = found if abs(found) > abs(best) else best
    return best
