# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A signal of a proposal."""

from __future__ import annotations

from dataclasses import dataclass

from sysid_ros.proposal.channels import Channel


@dataclass(frozen=True)
class Line:
    """One signal of the proposal.

    Attributes:
      kind: actuator, sensor, qpos, qvel, effort or wrench.
      name: In the model.
      channel: Where it comes from.
      doubt: What a person should check; empty where nothing.
      grounds: Why it is believed, where that is not plain from names; empty where it is.
      placed: Type and joint of a sensor that the model lacks; empty for one that it has.
    """

    kind: str
    name: str
    channel: Channel
    doubt: str = ""
    grounds: str = ""
    placed: tuple[str, str] | tuple[()] = ()

    @property
    def values(self) -> dict[str, str]:
        """The line as the experiment file has it."""
        found = {self.kind: self.name}
        if self.placed:
            found |= {"type": self.placed[0], "at": self.placed[1]}
        return {**found, "topic": self.channel.topic, "field": self.channel.field}
