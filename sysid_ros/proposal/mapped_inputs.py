# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The inputs of a model that are mapped, as its parameters depend on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sysid_ros.proposal.signals import SERVOS, Line
from sysid_ros.proposal.signals import Mapping as Signals
from sysid_ros.recording.messages import parse_fields


@dataclass(frozen=True)
class Inputs:
    """The mapped inputs of a model."""

    held: Mapping[str, bool]  # by name whether it is a command, which is held, rather than measured
    topics: Mapping[str, str]  # by name the topic that it comes from
    alone: frozenset[str]  # topics from which nothing else is mapped
    # servos that the model lacked, of which nothing is known, and their joints
    guessed: Mapping[str, str] = field(default_factory=dict)
    # labels of sensors whose axes have offsets, with the kind of each
    unzeroed: Mapping[str, str] = field(default_factory=dict)
    # s, by topic, from one of its commands to the next; none of whole trajectories
    intervals: Mapping[str, float] = field(default_factory=dict)
    # those that are told squares of what was recorded, as rotors' thrusts are of their speeds
    squares: frozenset[str] = frozenset()
    received: frozenset[str] = frozenset()  # topics that their receipt dates, not a stamp
    measured: frozenset[str] = frozenset()  # labels of all else that is mapped

    @classmethod
    def of(cls, mapping: Signals, unzeroed: Mapping[str, str]) -> Inputs:
        """Return what drives the model, and the topics that nothing else is mapped from.

        Without servos that are told where their joints stand: of these nothing shows.
        """
        driven = [line for line in mapping.lines if line.input]
        lines = [line for line in driven if line.channel.command or line.channel.moves]
        measured = [line for line in mapping.signals if line not in lines]
        others = {line.channel.topic for line in measured}
        topics = {line.input: line.channel.topic for line in lines}
        squared = [
            line.input
            for line in lines
            if any(term.power > 1 for term in parse_fields(line.channel.field))
        ]
        return cls(
            {line.input: line.channel.command for line in lines},
            topics,
            frozenset(topics.values()) - others,
            {line.input: line.name for line in lines if line.kind in SERVOS},
            unzeroed,
            {line.channel.topic: line.channel.interval for line in lines if line.channel.held},
            frozenset(squared),
            frozenset(line.channel.topic for line in lines if not line.channel.behind),
            frozenset(_label(line) for line in measured),
        )


def _label(line: Line) -> str:
    """The name by which parameters call a signal."""
    return f"{line.name}_{line.kind}" if line.kind in ("qpos", "qvel") else line.name
