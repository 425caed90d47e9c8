# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Efforts of joints: as what motors exert, or as what their sensors show."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.elements import control_range, is_effort, joint_of, n_actuators
from sysid_ros.engine.signals import value_at
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import moved_by
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.measured_positions import Positions
from sysid_ros.proposal.signals.names import SURE, similarity

_LAGS = np.arange(0.0, 0.051, 0.001)  # s, from a command to the effort that follows it
_FOLLOWED = 0.8  # of an effort's power, that its command explains
_OF_OTHERS = re.compile(r"ext|grav|coriolis|friction|bias|resid|limit|max|dtau|dot", re.IGNORECASE)
_OF_MOTOR = (
    "the effort is as large as the command of {name}, and not {force:.4g} times as large, so that "
    "it is taken as the motor's input, before its gear"
)


def motor_efforts(
    model: mujoco.MjModel, channels: Sequence[Channel], positions: Positions
) -> list[Line]:
    """The measured efforts of joints as the inputs of their motors, before gears and gains.

    Of several motors on a joint the first one gives all of it.
    """
    lines: dict[int, Line] = {}
    for actuator in range(n_actuators(model)):
        joint = joint_of(model, actuator)
        measured = _effort_on(joint, channels, positions)
        if joint is None or joint in lines or measured is None or not is_effort(model, actuator):
            continue
        force = float(model.actuator_gear[actuator, 0] * model.actuator_gainprm[actuator, 0])
        name, scale = str(model.actuator(actuator).name), float(f"{1.0 / (force or 1.0):.10g}")
        doubt = _doubt(model, joint, measured, positions)
        lines[joint] = Line("actuator", name, measured, doubt, scale=scale)
    return list(lines.values())


def before_gears(
    model: mujoco.MjModel, efforts: Sequence[Line], commands: Mapping[str, Channel]
) -> list[Line]:
    """Efforts of motors, of which those that repeat a command are the motors' own, as currents are.

    Not so where the motor could not be told as much, but what is left behind its gear: a model
    whose motors take a share of their most is driven by a robot that is told joints' torques.

    Args:
      model: The compiled model.
      efforts: Lines from :func:`motor_efforts`, as if they were the joints'.
      commands: What was asked of motors, by their names, in the units of their inputs.
    """
    return [
        replace(line, scale=1.0, doubt=_OF_MOTOR.format(name=line.name, force=1.0 / line.scale))
        if line.name in commands
        and _repeats(line, commands[line.name])
        and not _is_of_joint(model, line, commands[line.name])
        else line
        for line in efforts
    ]


def _is_of_joint(model: mujoco.MjModel, effort: Line, command: Channel) -> bool:
    """Return whether a motor's range of inputs is beyond a command, and its joint's is not."""
    low, high = control_range(model, model.actuator(effort.name).id)
    size = float(np.sqrt(np.mean(np.concatenate(command.values) ** 2)))
    return size * abs(effort.scale) <= float(max(-low, high)) < size


def _repeats(effort: Line, command: Channel) -> bool:
    """Return whether a motor's effort is as large as its command, rather than as its joint's."""
    measured, best = effort.channel, (0.0, 1.0)
    if not measured.times or not command.times:
        return False
    times, wanted = measured.times[0], measured.values[0]
    for lag in _LAGS:
        told = value_at(command.times[0], command.values[0], times - lag, "zoh")
        known = np.isfinite(told) & np.isfinite(wanted)
        product, power = float(told[known] @ wanted[known]), float(told[known] @ told[known])
        whole = power * float(wanted[known] @ wanted[known])
        if product > 0.0 and whole > 0.0:
            best = max(best, (product**2 / whole, product / power))
    followed, ratio = best
    force = 1.0 / effort.scale
    return (
        followed > _FOLLOWED and force > 0.0 and abs(math.log(ratio)) < abs(math.log(ratio / force))
    )


def joint_efforts(
    model: mujoco.MjModel, channels: Sequence[Channel], positions: Positions
) -> list[Line]:
    """Efforts on the joints of a model without actuators, such as a URDF.

    They are measured, or else what a controller's state says that it put out.
    """
    put_out = {one.name: one for one in channels if one.command and _is_output(one)}
    lines = []
    for joint in positions:
        name = str(model.joint(joint).name)
        effort = _effort_on(joint, channels, positions) or put_out.get(positions[joint][0].name)
        if effort is not None:
            lines.append(Line("effort", name, effort, _doubt(model, joint, effort, positions)))
    return lines


def _is_output(one: Channel) -> bool:
    return one.quantity == "effort" and one.field.startswith("output.") and one.name != ""


def torque_sensors(
    model: mujoco.MjModel, channels: Sequence[Channel], positions: Positions
) -> list[Line]:
    """Measured efforts where servos follow a reference that was not recorded."""
    lines = []
    taken = {str(model.sensor(s).name): s for s in range(model.nsensor)}
    for joint in positions:
        measured = _effort_on(joint, channels, positions)
        if measured is None or not _is_driven(model, joint):
            continue
        own = next(
            (name for name, s in taken.items() if name and _shows_torque(model, s, joint)), ""
        )
        name = str(model.joint(joint).name)
        new = next(n for n in (f"{name}_torque", f"{name}_measured_torque") if n not in taken)
        placed = () if own else ("jointactuatorfrc", name)
        doubt = _doubt(model, joint, measured, positions)
        lines.append(Line("sensor", own or new, measured, doubt, placed=placed))
    return lines


def _doubt(model: mujoco.MjModel, joint: int, effort: Channel, positions: Positions) -> str:
    """A doubt about an effort under a name that is a guess for the position, too."""
    (position, sure), name = positions[joint], str(model.joint(joint).name)
    if sure or not position.name or similarity(name, position.name) >= SURE:
        return ""  # or told by several numbers of that name
    return f"is {effort.field} the effort of {name}?"


def _shows_torque(model: mujoco.MjModel, sensor: int, joint: int) -> bool:
    kind = int(mujoco.mjtSensor.mjSENS_JOINTACTFRC)
    return int(model.sensor_type[sensor]) == kind and int(model.sensor_objid[sensor]) == joint


def _is_driven(model: mujoco.MjModel, joint: int) -> bool:
    name = str(model.joint(joint).name)
    return any(name in moved_by(model, actuator) for actuator in range(n_actuators(model)))


def _effort_on(
    joint: int | None, channels: Sequence[Channel], positions: Positions
) -> Channel | None:
    """The measured effort in the message that has a joint's position."""
    if joint not in positions:
        return None
    position = positions[joint][0]
    part = position.field.rpartition(".")[0]  # a motor of an array, or a state in a message
    efforts = [
        one
        for one in channels
        if one.topic == position.topic and one.name == position.name
        if one.quantity == "effort" and not one.command
    ]
    beside = [one for one in efforts if one.field.rpartition(".")[0] == part]
    if position.name:
        return next(iter([*beside, *efforts]), None)
    if part:
        return beside[0] if beside else None
    return _in_step(position, efforts)


def _in_step(position: Channel, efforts: Sequence[Channel]) -> Channel | None:
    """The number of an array of efforts beside a nameless array of positions, as KUKA's and others.

    Of several arrays the one that is called as the positions are (``measured_torque`` beside
    ``measured_joint_position``); what is estimated of others' forces acts on no motor.
    """
    place = position.field.rpartition("[")[2]
    alike = [
        one for one in efforts
        if one.row == position.row > 0 and one.field.rpartition("[")[2] == place
        if not _OF_OTHERS.search(one.field)
    ]  # fmt: skip
    first = re.split(r"[_\[]", position.field)[0]
    called = [one for one in alike if re.split(r"[_\[]", one.field)[0] == first]
    found = called or alike
    return found[0] if len(found) == 1 else None
