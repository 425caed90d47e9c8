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
    """

    kind: str
    name: str
    channel: Channel
    doubt: str = ""
    grounds: str = ""
