# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators that await an input, and what the recording tells of it beside names.

A servo whose joint stays where it is throughout is told that place: without an input it would take
the joint to zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import control_range, is_servo, joint_of, n_actuators
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.correlations import correlations, decisive, weighted_sum
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.names import match_names
from sysid_ros.proposal.signals.orders import Order

_MAY_FOLLOW = 0.9  # correlation of a joint with what it may be asked for


@dataclass(frozen=True)
class Evidence:
    """Tells which command is whose, where no name does."""

    model: mujoco.MjModel
    positions: Mapping[int, Channel]  # measured, by joint
    orders: Sequence[Order]  # of names, that the recording states

    def followed(self, drives: Sequence[Drive], commands: Sequence[Channel]) -> FloatArray:
        """Return how well each drive follows each command, as (drives, commands)."""
        actuators = [drive.actuator for drive in drives]
        return correlations(self.model, self.positions, actuators, commands)

    def followed_sum(self, drive: Drive, commands: Sequence[Channel]) -> tuple[FloatArray, float]:
        """Return the weights with which a drive follows a sum of commands, and what it leaves."""
        return weighted_sum(self.model, self.positions, drive.actuator, commands)

    def followed_by_others(
        self, own: Sequence[Drive], others: Sequence[Drive], commands: Sequence[Channel]
    ) -> bool:
        """Return whether others follow a command of an array decisively better than its own do."""
        left = 1.0 - self.followed((*own, *others), commands) ** 2
        mine = left[: len(own)].min(axis=0, initial=1.0)
        theirs = left[len(own) :].min(axis=0, initial=1.0)
        return any(decisive(*pair) for pair in zip(theirs, mine, strict=True))


@dataclass
class OpenDrives:
    """Actuators that are still to be assigned, and the lines of those that have been."""

    drives: list[Drive]
    lines: list[Line] = field(default_factory=list)
    possible: list[Line] = field(default_factory=list)  # for which the evidence does not decide

    def take(self, lines: Sequence[Line], possible: Sequence[Line] = ()) -> None:
        """Add lines, whose actuators are open no more."""
        self.lines += lines
        self.possible += possible
        taken = {line.name for line in (*lines, *possible)}
        self.drives = [drive for drive in self.drives if drive.name not in taken]

    def left_of(self, drives: Sequence[Drive]) -> list[Drive]:
        """Return those of some actuators that are still open."""
        return [drive for drive in drives if drive in self.drives]

    def unused(self, commands: Sequence[Channel]) -> list[Channel]:
        """Return those of some commands that no actuator has."""
        used = {(line.channel.topic, line.channel.field) for line in self.lines}
        return [one for one in commands if (one.topic, one.field) not in used]


def standing_servos(
    model: mujoco.MjModel, standing: Mapping[int, Channel], told: Sequence[Line]
) -> list[Line]:
    """Lines that tell servos without an input the places at which their joints stand.

    None beside sensors of torque, which drive the robot only where no actuator's input is known.

    Args:
      model: The compiled model.
      standing: The measured position of joints that never move, by joint.
      told: Lines of what drives the model.
    """
    if any(line.kind == "sensor" for line in told):
        return []
    driven, found = {line.name for line in told if line.kind == "actuator"}, []
    for actuator in range(n_actuators(model)):
        name, joint = str(model.actuator(actuator).name), joint_of(model, actuator)
        plain = is_servo(model, actuator) and model.actuator_gear[actuator, 0] == 1.0
        if not (name and plain) or name in driven or joint is None or joint not in standing:
            continue
        places = np.concatenate(standing[joint].values)
        low, high = control_range(model, actuator)
        if model.jnt_limited[joint]:
            low = max(low, model.jnt_range[joint, 0])
            high = min(high, model.jnt_range[joint, 1])
        if low <= places.min() and places.max() <= high:
            doubt = (
                f"{model.joint(joint).name} stays at {places[0]:.4g} throughout; was it held "
                "there, and is it measured at all?"
            )
            found.append(Line("actuator", name, standing[joint], doubt))
    return found


def possibly_asked(
    model: mujoco.MjModel,
    drives: Sequence[Drive],
    channels: Sequence[Channel],
    positions: Mapping[int, Channel],
) -> list[Line]:
    """Lines of servos without an input, of states that name their joints and are not the measured.

    States of controllers carry what they ask for in fields that do not say so. A second encoder
    looks alike, so that nothing is decided.

    Args:
      model: The compiled model.
      drives: Actuators without an input.
      channels: Everything that was recorded.
      positions: Measured positions by joint.
    """
    measured = {one.topic for one in positions.values()}
    asking = [drive for drive in drives if drive.quantity == "position"]
    others = [
        one for one in channels
        if one.name and one.moves and one.quantity == "position"
        and not one.command and one.topic not in measured
    ]  # fmt: skip
    names = [drive.names[-1] for drive in asking]
    matches = match_names(names, [one.name for one in others])
    found = []
    for drive, name in zip(asking, names, strict=True):
        if name not in matches or not matches[name].sure:
            continue
        one = others[matches[name].index]
        follows = float(correlations(model, positions, [drive.actuator], [one])[0, 0])
        if follows > _MAY_FOLLOW:
            grounds = (
                f"{drive.name} has no input, and {name} follows this with a correlation of "
                f"{follows:.2f}, unless it is measured twice"
            )
            found.append(Line("actuator", drive.name, one, grounds=grounds))
    return found
