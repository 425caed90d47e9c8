# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of actuators where a whole base is asked to move, such as by a ``Twist``.

Its controller makes a speed of each wheel of the base's: a sum with weights that hang on radii and
distances of the wheels. They are the model's, where its wheels roll as they did, and else such as
the recorded wheels follow best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import HINGE, joint_of, rolling_wheel
from sysid_ros.engine.signals import value_at
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.correlations import decisive
from sysid_ros.proposal.signals.drives import Drive, moved_by
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.open_drives import Evidence, OpenDrives
from sysid_ros.proposal.signals.ordered_inputs import by_motion
from sysid_ros.recording.messages import is_asked, message_type

# Of a twist, at which place MuJoCo has it; a car's speed is the first.
_PARTS = {f"{kind}.{axis}": 3 * i + k for i, kind in enumerate(("linear", "angular"))
          for k, axis in enumerate("xyz")} | {"speed": 0, "drive.speed": 0}  # fmt: skip
_ALIKE = (0.5, 1.5)  # of what it is told, by how much a wheel turns that friction holds back
_OF_UNSEEN = (
    "is the {channel.quantity} of {channel.topic} the control of {drive.name}? Nothing measures "
    "what that moves"
)
_REPEATED = 0.1  # of a command's power, that may be left where it repeats another


def of_base(open_: OpenDrives, asked: Sequence[Channel], told: Evidence) -> None:
    """Assign what a base is asked for: speeds, those of wheels as sums, and steering angles."""
    angles = [one for one in asked if one.quantity == "position"]
    speeds = [one for one in asked if one not in angles]
    for drive in open_.drives:
        joint = joint_of(told.model, drive.actuator)
        if drive.quantity == "velocity" and joint is not None:
            wheel = int(told.model.jnt_type[joint]) == HINGE and not told.model.jnt_limited[joint]
            open_.take(_of_wheel(drive, speeds, told) if wheel else [])  # an arm's are limited
            continue
        fitting = {"velocity": speeds, "position": angles}.get(drive.quantity, [])
        if fitting:
            decided, _ = by_motion(told, [drive], fitting)
            open_.take(decided)
    for kind, fitting in (("position", angles), ("velocity", speeds)):
        open_.take(_only_one_unseen(open_.drives, kind, fitting, told))


def _only_one_unseen(
    drives: Sequence[Drive], kind: str, asked: Sequence[Channel], told: Evidence
) -> list[Line]:
    """The one angle, or speed, a base is asked for, of the one drive of such that nobody measures.

    As of a car, of which odometry alone was recorded: no motion tells whose command it is.
    """
    model = told.model
    seen = {str(model.joint(joint).name) for joint in told.positions}
    of_kind = [
        one for one in drives
        if one.quantity == kind and (kind == "position" or joint_of(model, one.actuator) is None)
    ]  # fmt: skip
    if not (len(of_kind) == len(asked) == 1) or moved_by(model, of_kind[0].actuator) & seen:
        return []
    doubt = _OF_UNSEEN.format(channel=asked[0], drive=of_kind[0])
    return [Line("actuator", of_kind[0].name, asked[0], doubt)]


def _of_wheel(drive: Drive, speeds: Sequence[Channel], told: Evidence) -> list[Line]:
    """The sum of a base's speeds that a wheel follows, if it follows that of one topic alone."""
    by_topic: dict[str, list[Channel]] = {}
    for one in speeds:
        by_topic.setdefault(one.topic, []).append(one)
    found = [(*told.followed_sum(drive, terms), terms) for terms in by_topic.values()]
    ranked = sorted(found, key=lambda one: one[1])
    if not ranked or not decisive(ranked[0][1], min([1.0, *(left for _, left, _ in ranked[1:])])):
        return []
    weights, left, terms = ranked[0]
    source = "as it turned"
    if (rolling := _as_rolling(drive, terms, told, left)) is not None:
        weights, left, source = rolling
    doubt = (
        f"is this what {terms[0].topic} asks of {drive.name}? Weights are {source}, and it follows "
        f"with {100.0 * (1.0 - left):.3g} % of its motion. Your controller's may be others: of a "
        "wheel of radius r, w from the other one, 1 / r of the forward speed and w / 2 / r of the "
        "turning"
    )
    rounded = [float(f"{weight:.4g}") for weight in weights]
    text = " ".join(
        f"{'-' if weight < 0.0 else '+'} {abs(weight):g} * {term.field}"
        for term, weight in zip(terms, rounded, strict=True)
        if weight
    )
    asked = replace(summed(terms, rounded), field=text.removeprefix("+ "), quantity="velocity")
    return [Line("actuator", drive.name, asked, doubt)]


def _as_rolling(
    drive: Drive, terms: Sequence[Channel], told: Evidence, least: float
) -> tuple[FloatArray, float, str] | None:
    """The model's own weights and what is left by them, if the wheel turned about as much.

    Not where it follows others decisively, which leave the ``least``: on skids, wheels are told a
    wider track than the model's, and Mecanum wheels do not roll so.
    """
    joint = joint_of(told.model, drive.actuator)
    wheel = None if joint is None else rolling_wheel(told.model, joint)
    parts = [_PARTS.get(one.field.rpartition("twist.")[2]) for one in terms]
    if wheel is None or None in parts:
        return None
    weights = wheel.weights[[part for part in parts if part is not None]]
    (size,), left = told.followed_sum(drive, [summed(terms, weights.tolist())])
    if decisive(least, left) or not (decisive(left, 1.0) and _ALIKE[0] < size < _ALIKE[1]):
        return None
    return weights, left, f"the model's, of a wheel of radius {wheel.radius:.4g}"


def summed(terms: Sequence[Channel], weights: Sequence[float]) -> Channel:
    """The first of some numbers of the same messages, with the weighted sum of all in it.

    It is known where all are; messages may lack a joint, or tell that a number is none.
    """
    first, *others = terms
    times, values = list(first.times), [weights[0] * one for one in first.values]
    for weight, other in zip(weights[1:], others, strict=True):
        for part, (told, numbers) in enumerate(zip(other.times, other.values, strict=True)):
            shared, own, of_other = np.intersect1d(times[part], told, return_indices=True)
            values[part] = values[part][own] + weight * numbers[of_other]
            times[part] = shared
    return replace(first, times=tuple(times), values=tuple(values))


def doubted_beside(asked: Sequence[Channel], drives: Sequence[Drive], line: Line) -> Line:
    """A speed that no topic asks for, marked where a whole base is asked, as wheels' own may be."""
    turned = any(one.quantity == "velocity" and one.name == line.name for one in drives)
    topics = [one.topic for one in asked]
    channel = line.channel
    if not (turned and topics) or channel.topic in topics or is_asked(channel.topic):
        return line
    doubt = (
        f"the base is asked by {topics[0]}: is {channel.topic} what {line.name} was told, "
        "or what it did?"
    )
    return replace(line, doubt="\n".join(filter(None, [line.doubt, doubt])))


def as_angle(asked: Sequence[Channel], drives: Sequence[Drive], line: Line) -> Line:
    """A servo's number that repeats a base's steering angle in another unit, as that angle."""
    own = line.channel
    served = any(one.quantity == "position" and one.name == line.name for one in drives)
    if not served or own in asked or not own.msgtype.startswith("std_msgs/"):
        return line
    told = np.concatenate(own.values)
    for angle in asked:
        if angle.quantity != "position" or not all(map(len, (*angle.times, *own.times))):
            continue
        parts = zip(angle.times, angle.values, own.times, strict=True)
        heard = np.concatenate([value_at(since, was, at, "zoh") for since, was, at in parts])
        if not np.ptp(heard):  # it changes only while the servo is told nothing
            continue
        slope, zero = np.polyfit(heard, told, 1)
        repeated = np.var(told - slope * heard - zero) < _REPEATED * np.var(told)
        if repeated and np.var(told - heard) > _REPEATED * np.var(told):
            why = f"{own.topic} is {slope:.4g} times this angle, and {zero:.4g}"
            return replace(line, channel=angle, grounds=why)
    return line


def asked_of_controllers(channels: Sequence[Channel]) -> list[str]:
    """Sentences about what controllers are asked for, which no actuator takes as it is.

    Args:
      channels: What was recorded and moves.
    """
    types = [(one, message_type(one.msgtype)) for one in channels]
    bases = sorted({one.topic for one, told in types if told.of_base and one.command})
    drones = sorted({one.topic for one, told in types if told.of_attitude})
    return [
        *(
            f"{topic} asks for speeds of the base, of which a controller makes those of wheels; "
            "record what it sends to them, or give the model velocity actuators on tendons of its "
            "wheels"
            for topic in bases
        ),
        *(
            f"{topic} asks a flight controller for an attitude or rates and a throttle, of which "
            "that makes thrusts by gains of its own; record what it sends to the motors instead, "
            "such as PX4's ActuatorMotors, MAVROS' RCOut or the motors' speeds"
            for topic in drones
        ),
    ]
