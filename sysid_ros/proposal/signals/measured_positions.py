# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The measured position of each joint: by name, or in order where messages name none; of tendons.

Of joints whose position nothing tells, as of wheels, the measured velocity counts.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.elements import HINGE, SCALAR, is_servo, joint_of, n_actuators
from sysid_ros.engine.signals import place_unit
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.names import SURE, likeness, match_names, similarity
from sysid_ros.proposal.signals.planar_bases import planar_positions
from sysid_ros.proposal.signals.recorded_commands import in_numbered_topics, named_part, spaces_of

_OF_BODIES = ("geometry_msgs/", "nav_msgs/", "tf2_msgs/")
_PLAIN_INTERFACE = "[position]"  # rather than position_motor of the same joint
_SAME_NAME = 0.9  # similarity from which a part of a topic is a joint's name
_MANY_TURNS = 2.0
_MANY_EXTENTS = 10.0  # of the model
_TOLD = ("measured", "actual", "present", "feedback")  # of what was measured, beside set points

Positions = dict[int, tuple[Channel, bool]]  # by joint, with whether it is sure


def scalar_joints(model: mujoco.MjModel) -> list[int]:
    """The hinges and slides of a model, by number."""
    return [j for j in range(model.njnt) if int(model.jnt_type[j]) in SCALAR]


def velocity_lines(
    model: mujoco.MjModel, channels: Sequence[Channel], positions: Positions
) -> list[Line]:
    """The measured velocities of joints whose position is not among ``positions``, by name.

    What a topic calls as one of these is no other joint's that is named alike. The only velocity of
    a topic has that one's name.
    """
    placed = {(one.topic, one.name) for one, _ in positions.values() if one.name}
    joints = {
        str(model.joint(joint).name): joint
        for joint in scalar_joints(model)
        if joint not in positions and model.joint(joint).name
    }
    told = [one for one in channels if one.quantity == "velocity" and not one.command]
    sources = _sources([one for one in told if (one.topic, one.name) not in placed])
    sources.append(_by_topic(list(joints), sources))
    lines = {}
    for source in sources:
        left = [joint for name, joint in joints.items() if name not in lines]
        for joint, (channel, _) in _named_in(model, left, source).items():
            name = str(model.joint(joint).name)
            lines[name] = Line("qvel", name, channel)
    return list(lines.values())


def measured_positions(model: mujoco.MjModel, channels: Sequence[Channel]) -> Positions:
    """The measured position of each joint, by name, or in order where no name is alike."""
    told = [one for one in channels if one.quantity == "position" and not one.command]
    asked = spaces_of(one for one in channels if one.command and one.moves)
    sources = _sources([one for one in told if not one.msgtype.startswith(_OF_BODIES)], asked)
    # A joint without a name, such as a roller of a wheel, has none by which a file can map it.
    joints = [joint for joint in scalar_joints(model) if model.joint(joint).name]

    def left() -> list[int]:
        return [joint for joint in joints if joint not in found]

    found, rest = _in_best_source(model, joints, sources[0] if sources else [])
    arrays = [rest]
    if not found:
        arrays += [one for one in sources[1:] if len(one) > 1 and not one[0].name]
        arrays += _whole_topics(sources)
    found |= _as_many(model, left(), arrays)
    singles = [source[0] for source in sources if len(source) == 1 and not source[0].name]
    alone = _by_topic([str(model.joint(joint).name) for joint in joints], sources)
    for source in [*sources[1:], alone, _of_drives(model, singles)]:
        found |= _named_in(model, left(), source)
    used = {channel.topic for channel, _ in found.values()}
    numbered = in_numbered_topics(one for one in singles if one.topic not in used)
    found |= _as_many(model, left(), numbered)
    return dict(sorted({**planar_positions(model, channels), **found}.items()))


def tendon_lengths(model: mujoco.MjModel, channels: Sequence[Channel]) -> list[Line]:
    """Propose the signals of the model's sensors of tendons' lengths, as winches tell them.

    Args:
      model: The compiled model.
      channels: What was recorded. A position counts that is named after the sensor or its tendon,
        and after no joint.
    """
    joints = [str(model.joint(joint).name) for joint in range(model.njnt)]
    told = [
        one
        for one in channels
        if one.quantity == "position"
        and not one.command
        and max((similarity(joint, one.name) for joint in joints), default=0.0) < SURE
    ]
    lines = []
    for sensor in np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_TENDONPOS):
        name = str(model.sensor(int(sensor)).name)
        names = [name, str(model.tendon(int(model.sensor_objid[sensor])).name)]
        alike = max(told, key=lambda one: likeness(names, one.name), default=None)
        if name and alike is not None and likeness(names, alike.name) >= SURE:
            lines.append(Line("sensor", name, alike))
    return lines


def _in_best_source(
    model: mujoco.MjModel, joints: Sequence[int], source: Sequence[Channel]
) -> tuple[Positions, list[Channel]]:
    """Positions by the names of one topic, sure where one name is one number; and what is left."""
    names = [str(model.joint(joint).name) for joint in joints]
    counts = Counter(channel.name for channel in source)  # a joint may have several interfaces
    plain = {channel.name for channel in source if channel.field.endswith(_PLAIN_INTERFACE)}
    measured = [
        channel
        for channel in source
        if channel.name not in plain or channel.field.endswith(_PLAIN_INTERFACE)
    ]
    matches = match_names(names, [channel.name for channel in measured])
    found: Positions = {
        joint: (measured[match.index], match.sure and counts[measured[match.index].name] == 1)
        for joint, name in zip(joints, names, strict=True)
        if (match := matches.get(name))
    }
    taken = {match.index for match in matches.values()}
    return found, [channel for i, channel in enumerate(measured) if i not in taken]


def _as_many(
    model: mujoco.MjModel, joints: Sequence[int], arrays: Sequence[list[Channel]]
) -> Positions:
    """The first of some arrays that is as long as there are joints, or driven ones, in order."""
    driven = {joint_of(model, actuator) for actuator in range(n_actuators(model))}
    moved = [joint for joint in joints if joint in driven]  # not a base's passive wheels
    for array, left in itertools.product(arrays, (list(joints), moved)):
        if len(array) == len(left):
            ordered = _in_order(model, left, array)
            return {joint: (one, False) for joint, one in zip(ordered, array, strict=True)}
    return {}


def _by_topic(names: Sequence[str], sources: Sequence[list[Channel]]) -> list[Channel]:
    """Numbers alone on a topic and without a name, under the part of the topic most like one."""
    return [
        replace(source[0], name=named_part(source[0].topic, names)[0])
        for source in sources
        if len(source) == 1 and not source[0].name
    ]


def _of_drives(model: mujoco.MjModel, singles: Sequence[Channel]) -> list[Channel]:
    """Positions whose topics are named after actuators, under the names of their joints."""
    moved = {
        str(model.actuator(actuator).name): str(model.joint(joint).name)
        for actuator in range(n_actuators(model))
        if (joint := joint_of(model, actuator)) is not None and model.actuator(actuator).name
    }
    told = [(one, *named_part(one.topic, list(moved))) for one in singles]
    return [
        replace(one, name=moved[max(moved, key=lambda name: similarity(name, part))])
        for one, part, score in told
        if score >= _SAME_NAME
    ]


def doubted_unit(model: mujoco.MjModel, joint: int, channel: Channel) -> str:
    """A doubt about the unit of a joint without a range that goes far.

    Nothing else tells where its command is in that unit as well; what a position servo drives to a
    place hardly turns more than twice, nor does a slide go ten times as far as the robot is large.
    """
    if model.jnt_limited[joint] or channel.msgtype.startswith(_OF_BODIES):  # in m and rad
        return ""
    name, reach = model.joint(joint).name, float(np.ptp(np.concatenate(channel.values)))
    if int(model.jnt_type[joint]) != HINGE:
        far = reach > _MANY_EXTENTS * float(model.stat.extent)
        far &= place_unit(model, joint) != "mm"
        return f"does {name} move {reach:.3g} m, or is it in mm (unit: mm)?" if far else ""
    served = any(
        joint_of(model, a) == joint and is_servo(model, a) for a in range(n_actuators(model))
    )
    turns = reach / (2.0 * np.pi)
    if not (served and turns > _MANY_TURNS):
        return ""
    return (
        f"does {name} turn {turns:.2g} times, or is it in degrees, and its "
        "command (unit: deg)? The model gives no range to tell by"
    )


def _in_order(
    model: mujoco.MjModel, joints: Sequence[int], channels: Sequence[Channel]
) -> Sequence[int]:
    """Joints in the order in which positions without names suit their ranges best.

    That is the model's, or that of the actuators on them, as drivers of motors count.
    """
    driven = [joint_of(model, actuator) for actuator in range(n_actuators(model))]
    other = [joint for joint in driven if joint is not None]
    if sorted(other) != sorted(joints) or any(channel.name for channel in channels):
        return joints

    def suited(order: Sequence[int]) -> float:
        inside = [
            float(np.mean((low <= values) & (values <= high)))
            for joint, channel in zip(order, channels, strict=True)
            for low, high in [model.jnt_range[joint]]
            for values in channel.values
            if model.jnt_limited[joint] and len(values)
        ]
        return sum(inside)

    return max((other, joints), key=suited)


def _named_in(model: mujoco.MjModel, joints: Sequence[int], source: list[Channel]) -> Positions:
    """Positions of joints that another topic has beyond doubt, such as a gripper's own.

    What has another joint's name is none's that is called alike: ``finger`` not ``finger_mimic``'s.
    """
    every = {str(model.joint(joint).name): joint for joint in scalar_joints(model)}
    names = {name: joint for name, joint in every.items() if joint in joints}

    def is_others(name: str, given: str) -> bool:
        best = max(similarity(one, given) for one in every)
        return best > max(similarity(name, given), _SAME_NAME)

    matches = match_names(list(names), [channel.name for channel in source])
    return {
        names[name]: (source[match.index], True)
        for name, match in matches.items()
        if match.sure and not is_others(name, source[match.index].name)
    }


def _sources(channels: list[Channel], asked: Collection[str] = ()) -> list[list[Channel]]:
    """The channels by topic and array: first JointStates, then those that have most.

    Of some that have as many the one in a namespace in which something is ``asked`` comes first, as
    a follower is told what its leader does.
    One that says that it was measured comes before others. It comes before a JointState that has
    the same joints at less than half of its rate, as another JointState does, unless that is of a
    namespace in which nothing is asked.
    """
    found: dict[tuple[str, str], list[Channel]] = {}
    for channel in channels:
        place = re.sub(r"\[[^\]]*\]", "[]", channel.field)
        found.setdefault((channel.topic, place if "[]" in place else ""), []).append(channel)

    def is_driven(own: Sequence[Channel]) -> bool:
        return not spaces_of(own[:1]).isdisjoint(asked)

    def rank(key: tuple[str, str]) -> tuple[bool, int, bool, bool, int]:
        own = found[key]
        return _is_state(own), len(own), _is_told(own), is_driven(own), -len("".join(key))

    def is_others(own: Sequence[Channel]) -> bool:
        return is_driven(ranked[0]) and bool(spaces_of(own[:1])) and not is_driven(own)

    ranked = [found[key] for key in sorted(found, key=rank, reverse=True)]
    sure = [one for one in ranked[1:] if _is_told(one) or _is_state(one)]
    faster = [one for one in sure if _outruns(one, ranked[0]) and not is_others(one)]
    return [*faster, *(one for one in ranked if one not in faster)]


def _whole_topics(sources: Sequence[list[Channel]]) -> list[list[Channel]]:
    """The numbers without names that topics have in several arrays, in the order of messages."""
    found: dict[str, list[Channel]] = {}
    for one in itertools.chain(*sources):
        if not one.name:
            found.setdefault(one.topic, []).append(one)
    return [sorted(one, key=lambda channel: channel.index) for one in found.values()]


def _is_state(source: Sequence[Channel]) -> bool:
    return source[0].msgtype == "sensor_msgs/msg/JointState"


def _is_told(source: Sequence[Channel]) -> bool:
    """Tell whether the name of an array says that it was measured."""
    return any(word in source[0].field for word in _TOLD)


def _outruns(source: Sequence[Channel], other: Sequence[Channel]) -> bool:
    """Tell whether a source has the joints that another has, which are named, more often."""
    names = {one.name for one in other}
    same = "" not in names and names <= {one.name for one in source}
    return same and 0.0 < 2.0 * source[0].interval < other[0].interval


def rival_topics(
    model: mujoco.MjModel, channels: Sequence[Channel], chosen: Positions
) -> list[str]:
    """Sentences about topics that have the joints of a used one too, as a second robot's have.

    They have them under the same names, or under names that differ by their prefix.
    """
    used: dict[str, list[str]] = {}
    for joint, (one, _) in chosen.items():
        used.setdefault(one.topic, []).append(str(model.joint(joint).name))
    kinds = {one.msgtype for one, _ in chosen.values()}
    others: dict[str, list[str]] = {}
    for one in channels:
        told = one.msgtype in kinds and one.quantity == "position" and not one.command
        if told and one.topic not in used:
            others.setdefault(one.topic, []).append(one.name)
    found: dict[str, list[str]] = {}
    for topic, names in others.items():
        for own, joints in used.items():
            matches = match_names(joints, list(dict.fromkeys(names)))
            if sum(match.sure for match in matches.values()) == len(joints):
                found.setdefault(topic, []).append(own)
    return [
        f"{topic} has the same joints; is {' and '.join(own)} the right one?"
        for topic, own in found.items()
    ]
