# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals that an experiment file says already, in place of those that the evidence suggests."""

from __future__ import annotations

from collections.abc import Mapping as Tree
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco

from sysid_ros.engine.elements import SCALAR
from sysid_ros.errors import ExperimentError, listed
from sysid_ros.experiment import load_experiment, parse_yaml, without_places
from sysid_ros.files import read_regular_text
from sysid_ros.proposal.signals.asked_bases import summed
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import SERVOS, Line
from sysid_ros.proposal.signals.mapping import Mapping
from sysid_ros.recording.mapping import SignalKind
from sysid_ros.recording.messages import FieldPath, parse_field, parse_fields
from sysid_ros.robots import with_servos

_KINDS = tuple(kind.value for kind in SignalKind)
_POSITION = int(mujoco.mjtSensor.mjSENS_JOINTPOS)


def as_given(
    spec: mujoco.MjSpec,
    mapping: Mapping,
    channels: Sequence[Channel],
    entries: Sequence[Tree[str, Any]],
) -> tuple[mujoco.MjSpec, Mapping]:
    """The signals that someone decided for, who has seen what is said of the mapping.

    Args:
      spec: The model as it is, without servos that the mapping adds.
      mapping: As the recordings suggest it.
      channels: What was recorded.
      entries: Of ``signals`` in an experiment file.

    Returns:
      The model with the servos that the entries name, and the mapping.

    Raises:
      ExperimentError: An entry has a number that the recordings do not share.
    """
    suggested = {(one.kind, one.name): one for one in (*mapping.signals, *mapping.possible)}
    lines = [_line(suggested, channels, dict(entry)) for entry in entries]
    driven = [one.name for one in lines if one.kind == "actuator"]
    for kind in SERVOS:
        if joints := [one.name for one in lines if one.kind == kind]:
            spec = with_servos(spec, joints, SignalKind(kind), driven)
    model = spec.copy().compile()
    measured = [(line, _joint_at(model, line)) for line in lines]
    positions = [line for line, joint in measured if joint]
    joints = [joint for _, joint in measured if joint]
    others = [line for line, joint in measured if not joint]
    scalar = [line for line in others if line.input or _is_rate(model, line)]
    bodies = [line for line in others if not (line.input or _is_rate(model, line))]
    carried = tuple(name for name in mapping.carried if name not in joints)
    return spec, Mapping((*positions, *scalar), tuple(bodies), (), tuple(joints), carried)


def signals_in(file: Path) -> list[dict[str, Any]]:
    """The entries of ``signals`` in an experiment file, as written.

    Raises:
      ExperimentError: It is no valid experiment, or has none.
    """
    load_experiment(file)
    tree = without_places(parse_yaml(read_regular_text(file, "utf-8-sig"), str(file)))
    found: list[dict[str, Any]] = tree["signals"]
    if not found:
        raise ExperimentError(f"{file}: there are no signals to take")
    return found


def _line(
    suggested: dict[tuple[str, str], Line], channels: Sequence[Channel], entry: dict[str, Any]
) -> Line:
    kind = next(one for one in _KINDS if one in entry)
    topic, field = str(entry["topic"]), str(entry["field"])
    placed = (str(entry["type"]), str(entry["at"])) if "type" in entry else ()
    known = suggested.get((kind, entry[kind]))
    if known is not None and (known.channel.topic, known.channel.field) == (topic, field):
        channel = known.channel
    else:
        channel = _channel(channels, topic, field)
    return Line(kind, str(entry[kind]), channel, placed=placed, given=entry)


def _channel(channels: Sequence[Channel], topic: str, field: str) -> Channel:
    """The number that a field names, or the first one of a group of numbers."""
    own = [one for one in channels if one.topic == topic]
    terms = parse_fields(field)
    found = [
        replace(one, values=tuple(part**term.power for part in one.values))
        for term in terms
        if (one := _first(own, term.path)) is not None
    ]
    if len(found) == len(terms):
        return replace(summed(found, [term.weight for term in terms]), field=field)
    topics = sorted({one.topic for one in channels})
    there = [one.field for one in own]
    raise ExperimentError(
        f"signals: the recordings have no {field!r} in {topic}, which has {listed(there)}"
        if own
        else f"signals: the recordings share no numbers of {topic}, only of {listed(topics)}"
    )


def _first(channels: Sequence[Channel], path: FieldPath) -> Channel | None:
    """The first of a topic's numbers that a path leads to."""
    fields = [parse_field(one.field).steps[: len(path.steps)] for one in channels]
    return channels[fields.index(path.steps)] if path.steps in fields else None


def _joint_at(model: mujoco.MjModel, line: Line) -> str:
    """The hinge or slide whose position a line measures; empty for none."""
    told = line.placed[-1] if line.placed and "jointpos" in line.placed else ""  # or of a spring
    if line.kind == "qpos" or told:
        name = told or line.name
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        return name if joint >= 0 and int(model.jnt_type[joint]) in SCALAR else ""
    if line.kind == "sensor" and not line.placed:
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, line.name)
        if sensor >= 0 and int(model.sensor_type[sensor]) == _POSITION:
            return str(model.joint(int(model.sensor_objid[sensor])).name)
    return ""


def _is_rate(model: mujoco.MjModel, line: Line) -> bool:
    """Tell whether a line measures the velocity of a hinge or a slide."""
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, line.name)
    return line.kind == "qvel" and joint >= 0 and int(model.jnt_type[joint]) in SCALAR
