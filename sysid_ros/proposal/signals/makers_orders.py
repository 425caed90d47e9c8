# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names of motors that messages tell by their place alone, in the order that a maker wrote down."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import mujoco

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.names import match_names

# Unitree's quadrupeds begin at the right, where models mostly begin at the left
# (unitree_sdk2, robot/go2/go2_const.h, and unitree_legged_sdk, quadruped.h: FR_, FL_, RR_, RL_).
_LEGS = ("FR", "FL", "RR", "RL")
_OF_LEGS = tuple(f"{leg}_{part}" for leg in _LEGS for part in ("hip", "thigh", "calf"))
_ORDERS: Mapping[str, tuple[str, ...]] = {
    "unitree_go/*": _OF_LEGS,
    "*unitree_legged_msgs/*": _OF_LEGS,
}  # by pattern of types
_MOTOR = re.compile(r"motor_?(?:state|cmd)\[(\d+)\]", re.IGNORECASE)


def with_makers_names(model: mujoco.MjModel, channels: Sequence[Channel]) -> list[Channel]:
    """Name the motors of messages whose maker says which is which, where joints are called so."""
    joints = [str(model.joint(joint).name) for joint in range(model.njnt)]
    fitting = {
        pattern: names
        for pattern, names in _ORDERS.items()
        if sum(match.sure for match in match_names(names, joints).values()) == len(names)
    }
    return [_named(one, fitting) for one in channels] if fitting else list(channels)


def _named(channel: Channel, orders: Mapping[str, Sequence[str]]) -> Channel:
    names = next((one for key, one in orders.items() if fnmatchcase(channel.msgtype, key)), ())
    place = _MOTOR.match(channel.field)
    if channel.name or place is None or int(place[1]) >= len(names):
        return channel
    return replace(channel, name=names[int(place[1])])
