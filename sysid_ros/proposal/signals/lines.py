# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A signal of a proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sysid_ros.experiment import added_input
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.recording.mapping import SignalKind
from sysid_ros.recording.messages import is_command, message_type, reports_command

SERVOS = (SignalKind.SERVO.value, SignalKind.VELOCITY_SERVO.value)  # that a model lacks


@dataclass(frozen=True)
class Line:
    """One signal of the proposal."""

    kind: str  # actuator, sensor, qpos, qvel, effort, servo, velocity_servo or wrench
    name: str  # in the model
    channel: Channel  # where it comes from
    doubt: str = ""  # what a person should check; empty where nothing
    grounds: str = ""  # why it is believed, where that is not plain from names; empty where it is
    # type and joint of a sensor that the model lacks; empty for one that it has
    placed: tuple[str, str] | tuple[()] = ()
    scale: float = 1.0  # of the model's unit, for one of the message's
    unit: str = ""  # of the message, where a name says so
    # the line itself, where an experiment file has it already
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def values(self) -> dict[str, Any]:
        """The line as the experiment file has it."""
        if self.given:
            return dict(self.given)
        found: dict[str, Any] = {self.kind: self.name}
        if self.placed:
            found |= {"type": self.placed[0], "at": self.placed[1]}
        found |= {"topic": self.channel.topic, "field": self.channel.field}
        more = {
            "unit": self.unit,
            "clock": self.channel.clock,
            "interpolation": self.interpolation,
        }
        if self.scale != 1.0:
            found["scale"] = self.scale
        if not self.input and message_type(self.channel.msgtype).z_down:
            found["z_down"] = True
        return found | {key: value for key, value in more.items() if value}

    @property
    def input(self) -> str:
        """Name of the actuator that the line drives; empty of what is measured."""
        if self.kind == "actuator":
            return self.name
        added = self.kind in (SignalKind.EFFORT.value, *SERVOS)
        return added_input(SignalKind(self.kind), self.name) if added else ""

    @property
    def interpolation(self) -> str:
        """The way its samples are joined, where it is not that of its message type; empty else.

        The reference that a controller's state tells moves on between two messages, unlike a
        command that holds until the next one. Held, it would be late by half the time between them.
        So would what is measured in a type of which an experiment does not know that.
        """
        told = self.channel.msgtype, self.channel.field
        measured = not self.channel.command and is_command(*told, self.channel.topic)
        return "linear" if self.input and (reports_command(*told) or measured) else ""
