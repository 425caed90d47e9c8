# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numbers of topics that ask for nothing, as what joints measure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import mujoco

from sysid_ros.engine.elements import joint_of
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import drives_of
from sysid_ros.proposal.signals.measured_positions import scalar_joints
from sysid_ros.proposal.signals.names import in_a_row, match_names, similarity
from sysid_ros.proposal.signals.recorded_commands import is_bare, named_part
from sysid_ros.recording.messages import is_asked, message_type

_PLAIN = "std_msgs/"
_OF_MANY = (_PLAIN, "trajectory_msgs/", "geometry_msgs/")  # types of which topics say all
_INWARDS = "in"  # the namespace of what a driver listens to, beside its "out"
_MEASURED = ("position", "velocity")
_SAME_NAME = 0.9  # similarity from which a part of a topic is a joint's name


def with_measured_numbers(model: mujoco.MjModel, channels: Sequence[Channel]) -> list[Channel]:
    """The channels, those of topics that ask for nothing as what joints measure.

    Of a type that topics with and without such a word have, as a vendor's for targets and angles,
    the others tell what was reached; a bare number beside a servo's input is its position. A plain
    number says of itself neither what it is nor whether it is asked for. It is taken for a position
    or velocity of the joint in its topic's name if the topic calls it so, if no state has that, and
    if the recording has other topics that ask for something. So is an array, beside one as long;
    and a maker's number where a whole base is asked to move, as what its wheels do then.
    """
    both = {one.msgtype for one in channels if one.command and is_asked(one.topic)}
    both = {msgtype for msgtype in both if not msgtype.startswith(_OF_MANY)}
    channels = [
        replace(one, command=one.command and (one.msgtype not in both or is_asked(one.topic)))
        for one in channels
    ]
    served = {
        name: joint
        for drive in drives_of(model)
        if drive.quantity == "position" and (joint := joint_of(model, drive.actuator)) is not None
        for name in drive.names
    }
    channels = [
        _of_servo(model, one, served) if one.msgtype in both and not one.command else one
        for one in channels
    ]
    joints = [str(model.joint(joint).name) for joint in scalar_joints(model)]
    asked = any(
        one.command and (is_asked(one.topic) or not one.msgtype.startswith(_PLAIN))
        for one in channels
    )
    told = {(one.name, one.quantity) for one in channels if not one.command and one.name}
    based = any(one.moves and one.command and message_type(one.msgtype).of_base for one in channels)
    channels = [
        _measured(one, joints, told) if asked and _may_be(one, based=based) else one
        for one in channels
    ]
    if any(quantity == "position" for _, quantity in told):
        return channels
    return _reached(_of_named_fields(channels, joints))


def _of_named_fields(channels: list[Channel], joints: Sequence[str]) -> list[Channel]:
    """The channels, a maker's numbers whose fields are called as joints under these names.

    Fields that but count on (``joint_1`` to ``joint_6``) are as an array without names. Of a type
    with positions, what no topic asks for was measured, as Kinova's ``JointAngles`` are, where
    another topic asks.
    """

    def asks(one: Channel) -> bool:
        return is_asked(one.topic) or _INWARDS in one.topic.split("/")

    own = [one for one in channels if not one.name and one.field.isidentifier()]
    named: dict[tuple[str, str], str] = {}
    for topic in {one.topic for one in own if not one.msgtype.startswith(_OF_MANY)}:
        fields = [one.field for one in own if one.topic == topic]
        sure = {name: one for name, one in match_names(joints, fields).items() if one.sure}
        if len(sure) > 1:
            named |= {(topic, fields[one.index]): name for name, one in sure.items()}
        else:
            named |= {(topic, field): "" for field in in_a_row(fields)}
    told = [one for one in own if (one.topic, one.field) in named and not asks(one)]
    kinds = {one.msgtype for one in told if one.quantity == "position"}
    reached = {(one.topic, one.field) for one in told if one.msgtype in kinds}
    if not any(map(asks, channels)):
        return channels
    return [
        replace(one, name=named[one.topic, one.field], command=False)
        if (one.topic, one.field) in reached
        else one
        for one in channels
    ]


def _reached(channels: list[Channel]) -> list[Channel]:
    """The channels, arrays beside others as long that are asked for as measured positions.

    They say that they are positions, or but that they are what was reached. What else their topic
    tells and does not ask for was measured as well.
    """

    def place(one: Channel) -> tuple[str, str]:
        return one.topic, re.sub(r"\[[^\]]*\]", "[]", one.field)

    arrays = [one for one in channels if "[" in one.field and not one.name]
    numbers = Counter(map(place, arrays))
    asked = {numbers[place(one)] for one in arrays if is_asked(one.topic)}
    told = {
        one.topic: "position" if plain else ""
        for one in arrays
        for plain in [one.msgtype.startswith(_PLAIN)]
        if one.quantity == "position" or (plain and not one.quantity and not one.command)
        if not is_asked(one.topic) and numbers[place(one)] in asked
    }
    return [
        replace(one, command=False, quantity=told[one.topic] or one.quantity)
        if one.topic in told and not is_asked(re.sub(r"\[[^\]]*\]", "", one.field))
        else one
        for one in channels
    ]


def _of_servo(model: mujoco.MjModel, one: Channel, served: Mapping[str, int]) -> Channel:
    """A number of which neither type nor topic says what it is, as its servo's position."""
    part, score = named_part(one.topic, list(served))
    if one.quantity or one.name or not is_bare(one) or score < _SAME_NAME:
        return one
    joint = served[max(served, key=lambda name: similarity(name, part))]
    return replace(one, name=str(model.joint(joint).name), quantity="position")


def _may_be(one: Channel, *, based: bool) -> bool:
    """Tell whether a channel may be a measured number: a plain one that nobody is asked for.

    So may be a maker's where a base is asked (``based``), but for what asks it.
    """
    plain = one.msgtype.startswith(_PLAIN)
    of_many = one.msgtype.startswith(_OF_MANY) or message_type(one.msgtype).of_base
    told = plain or (based and not one.name and not of_many)
    asked = is_asked(one.topic) or is_asked(one.field)
    return told and "[" not in one.field and one.quantity in _MEASURED and not asked


def _measured(one: Channel, joints: Sequence[str], told: Collection[tuple[str, str]]) -> Channel:
    """A number as that of the joint that its field or else its topic names, if no state has it."""
    spaces = [part for part in one.topic.split("/") if part]
    for parts in ([] if is_bare(one) else [one.field], spaces):
        alike = [(similarity(name, part), name) for name in joints if name for part in parts]
        score, name = max(alike, default=(0.0, ""))
        if score >= _SAME_NAME:
            taken = (name, one.quantity) in told
            return one if taken else replace(one, name=name, command=False)
    return one
