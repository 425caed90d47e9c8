# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names of joints as the model has them, where place or topic says more than the message.

Motors that messages tell by their place alone are in the order that a maker wrote down. Of two
robots of one model (``left/elbow`` and ``right/elbow``) messages often say ``elbow``, each on
topics of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import mujoco

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.names import match_names, words_of

# Unitree's quadrupeds begin at the right, where models mostly begin at the left
# (unitree_sdk2, robot/go2/go2_const.h, and unitree_legged_sdk, quadruped.h: FR_, FL_, RR_, RL_).
_LEGS = ("FR", "FL", "RR", "RL")
_OF_LEGS = tuple(f"{leg}_{part}" for leg in _LEGS for part in ("hip", "thigh", "calf"))
_ORDERS: Mapping[str, tuple[str, ...]] = {
    "unitree_go/*": _OF_LEGS,
    "*unitree_legged_msgs/*": _OF_LEGS,
}  # by pattern of types
_MOTOR = re.compile(r"motor_?(?:state|cmd)\[(\d+)\]", re.IGNORECASE)


def with_told_names(model: mujoco.MjModel, channels: Sequence[Channel]) -> list[Channel]:
    """Name motors as their maker does, and joints of one of several robots as the model does.

    Args:
      model: The compiled model.
      channels: What was recorded.
    """
    joints = [str(model.joint(joint).name) for joint in range(model.njnt)]
    named = _by_makers(joints, channels)
    robots = _robots(joints)
    return [_of_robot(one, robots) for one in named] if robots else named


def _by_makers(joints: Sequence[str], channels: Sequence[Channel]) -> list[Channel]:
    """Name the motors of messages whose maker says which is which, where joints are called so."""
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


def _robots(joints: Sequence[str]) -> dict[str, frozenset[str]]:
    """The words of each robot's name, of several in a model whose joints are called alike."""
    split = [joint.rpartition("/") for joint in joints if "/" in joint]
    alike = Counter(last for _, _, last in split)
    spaces = dict.fromkeys(space for space, _, last in split if alike[last] > 1)
    return {space: words_of(space) for space in spaces}


def _of_robot(channel: Channel, robots: Mapping[str, Collection[str]]) -> Channel:
    """Put the robot's name before that of a joint, where the topic names one robot."""
    parts = channel.topic.split("/")[1:-1]
    told: frozenset[str] = frozenset().union(*map(words_of, parts))
    fitting = [space for space, words in robots.items() if words and told.issuperset(words)]
    if not channel.name or "/" in channel.name or len(fitting) != 1:
        return channel
    return replace(channel, name=f"{fitting[0]}/{channel.name}")
