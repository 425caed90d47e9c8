# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assignment of recorded numbers to joints' positions and actuators' inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from sysid_ros.engine.elements import FREE, joint_of, n_actuators
from sysid_ros.engine.signals import UNZEROED
from sysid_ros.engine.windows import ClosedLoops
from sysid_ros.experiment import UNITS, added_input
from sysid_ros.proposal.signals.actuator_inputs import command_lines, velocity_inputs
from sysid_ros.proposal.signals.asked_bases import asked_of_controllers
from sysid_ros.proposal.signals.bodies import (
    balls_told,
    body_lines,
    numbers_of_poses,
)
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import drives_of, moved_by, undriven
from sysid_ros.proposal.signals.efforts import (
    before_gears,
    joint_efforts,
    motor_efforts,
    torque_sensors,
)
from sysid_ros.proposal.signals.elastic_joints import behind_springs
from sysid_ros.proposal.signals.leaders import with_leaders_asking
from sysid_ros.proposal.signals.lines import SERVOS, Line
from sysid_ros.proposal.signals.measured_numbers import with_measured_numbers
from sysid_ros.proposal.signals.measured_positions import (
    Positions,
    doubted_unit,
    measured_positions,
    rival_topics,
    scalar_joints,
    tendon_lengths,
    velocity_lines,
)
from sysid_ros.proposal.signals.open_drives import standing_servos
from sysid_ros.proposal.signals.ordered_inputs import not_followed
from sysid_ros.proposal.signals.orders import Order
from sysid_ros.proposal.signals.told_names import with_told_names
from sysid_ros.proposal.signals.unit_names import told_unit
from sysid_ros.recording.mapping import SignalKind
from sysid_ros.recording.messages import Clock
from sysid_ros.robots import with_servos, without_motors

_GEOMETRY = ("geometry_msgs/", "nav_msgs/", "tf2_msgs/")


@dataclass(frozen=True)
class Mapping:
    """The signals of a proposal, and what has none."""

    lines: tuple[Line, ...]  # the signals of hinges, slides and actuators
    bodies: tuple[Line, ...]  # those of free joints and of sensors on bodies and tendons
    unmapped: tuple[str, ...]  # sentences about joints and actuators without a signal
    joints: tuple[str, ...]  # names of the hinges and slides whose position is measured
    carried: tuple[str, ...] = ()  # names of those of which sensors on bodies alone tell
    possible: tuple[Line, ...] = ()  # lines that the evidence does not decide for

    @property
    def signals(self) -> tuple[Line, ...]:
        """Everything that is mapped."""
        return self.lines + self.bodies

    @property
    def posed(self) -> bool:
        """True if the pose of a free body is measured, as a whole or as that of its frame."""
        told = {one.placed for one in self.bodies}
        both = ({("framepos", at), ("framequat", at)} for _, at in filter(None, told))
        return any(map(told.issuperset, both)) or any(one.kind == "qpos" for one in self.bodies)


def as_drafted(mapping: Mapping, entries: Sequence[dict[str, Any]]) -> Mapping:
    """The mapping with channels and units as the entries of a draft have them after repairs.

    Args:
      mapping: As the recordings suggest it.
      entries: Of ``signals`` in the experiment file, in the mapping's order.
    """
    known = {(one.channel.topic, one.channel.field): one.channel for one in mapping.lines}

    def drafted(line: Line, entry: dict[str, Any]) -> Line:
        channel = known[entry["topic"], entry["field"]]
        factor = entry.get("scale", 1.0) * UNITS.get(entry.get("unit") or "", 1.0)
        values = tuple(factor * part + entry.get("offset", 0.0) for part in channel.values)
        return replace(line, channel=replace(channel, values=values))

    lines = zip(mapping.lines, entries, strict=False)  # those of bodies come after
    return replace(mapping, lines=tuple(drafted(line, entry) for line, entry in lines))


def map_channels(
    model: mujoco.MjModel, channels: Sequence[Channel], orders: Sequence[Order] = ()
) -> Mapping:
    """Propose the signal map of a model.

    Args:
      model: The compiled model.
      channels: What was recorded.
      orders: Orders of joints that the recording states.
    """
    named = with_told_names(model, with_measured_numbers(model, channels))
    channels, led = with_leaders_asking(named)
    moving = [channel for channel in channels if channel.moves]
    lengths = tendon_lengths(model, moving)
    ropes = ((line.channel.topic, line.channel.field) for line in lengths)
    taken = {*ropes, *numbers_of_poses(moving)}
    others = [one for one in moving if (one.topic, one.field) not in taken]
    positions, links, deflected = behind_springs(model, measured_positions(model, others))
    speeds = velocity_lines(model, others, positions)
    inputs, possible = _inputs(model, channels, positions, orders)
    stood = standing_servos(model, _standing(model, channels), inputs)
    inputs += stood
    lines = [
        *(_position_line(model, joint, *found) for joint, found in positions.items()),
        *speeds,
        *inputs,
    ]
    lines = [replace(one, unit=one.unit or told_unit(model, one)) for one in lines]
    poses = {one.topic for one, _ in positions.values() if one.msgtype.startswith(_GEOMETRY)}
    loose = [one for one in moving if one.topic not in poses]  # no other body's
    bodies = [*body_lines(model, loose), *lengths, *links]
    lacking = _lacking(model, positions)
    known = set(deflected).union(*(moved_by(model, model.actuator(one.name).id) for one in stood))
    unmapped = [
        *led,
        *rival_topics(model, moving, positions),
        *_without_positions([name for name in lacking if name not in known]),
        *_without_inputs(model, lines, moving),
        *_floating_blindly(model, bodies),
        *_undated([*lines, *bodies]),
    ]
    told = len(scalar_joints(model)) == model.njnt and any(one.kind == "sensor" for one in bodies)
    carried = [name for name in lacking if name] if told else [line.name for line in speeds]
    carried += balls_told(model, bodies)
    joints = tuple(str(model.joint(joint).name) for joint in positions)
    return Mapping(tuple(lines), tuple(bodies), tuple(unmapped), joints, tuple(carried), possible)


def _standing(model: mujoco.MjModel, channels: Sequence[Channel]) -> dict[int, Channel]:
    """The measured positions of joints that have their names and never move, by joint."""
    named = measured_positions(model, [channel for channel in channels if channel.name])
    return {j: one for j, (one, sure) in named.items() if sure and not one.moves}


def _inputs(
    model: mujoco.MjModel,
    channels: Sequence[Channel],
    positions: Positions,
    orders: Sequence[Order],
) -> tuple[list[Line], tuple[Line, ...]]:
    """Lines of what drives the robot, by command or measured effort, and possible ones."""
    moving = [channel for channel in channels if channel.moves]
    measured = {joint: channel for joint, (channel, _) in positions.items()}
    drives = drives_of(model)
    efforts = motor_efforts(model, moving, positions)
    if any(line.scale != 1.0 for line in efforts):
        asked = command_lines(model, drives, channels, measured, orders).lines
        efforts = before_gears(model, efforts, {line.name: line.channel for line in asked})
    told = {line.name for line in efforts}
    left = [drive for drive in drives if drive.name not in told]
    commanded = command_lines(model, left, channels, measured, orders)
    lines = [*efforts, *commanded.lines, *velocity_inputs(model, commanded.lines, channels)]
    if not model.nu:
        return [*lines, *joint_efforts(model, moving, positions)], commanded.possible
    unmoved = not told and not_followed(model, measured, commanded.lines)
    if unmoved and (torques := torque_sensors(model, moving, positions)):
        return torques, (*commanded.possible, *commanded.lines)
    return lines, commanded.possible


def map_robot(
    spec: mujoco.MjSpec, channels: Sequence[Channel], orders: Sequence[Order] = ()
) -> tuple[mujoco.MjSpec, Mapping]:
    """Propose the signal map of a model, and the servos that it needs if nothing drives it.

    Positions or velocities that were commanded mean servos, of which a URDF says nothing, and a
    model with motors, which no torque drives, no more. Where no effort of a joint without an
    actuator was measured, the commanded one drives it.

    Returns:
      The model, with a servo on each joint whose command is mapped, and the map.
    """
    plain = map_channels(spec.copy().compile(), channels, orders)
    driven = any(line.kind in ("effort", "actuator") or line.placed for line in plain.lines)
    bare = without_motors(spec, [joint.name for joint in spec.joints])
    if driven or bare.actuators or not plain.joints:
        return spec, plain
    if not spec.actuators:
        return _with_servos(spec, plain, channels, orders)
    passive = map_channels(bare.copy().compile(), channels, orders)
    served, mapping = _with_servos(spec, passive, channels, orders)
    commanded = any(line.kind in SERVOS and line.channel.command for line in mapping.lines)
    return (served, mapping) if commanded else (spec, plain)


def map_commanded_speeds(
    spec: mujoco.MjSpec, channels: Sequence[Channel], orders: Sequence[Order]
) -> tuple[mujoco.MjSpec, Mapping] | None:
    """Map commanded velocities to servos, with the measured efforts as what these servos exert.

    Returns:
      The model with its servos and the map; none where the commands of a joint with an effort, or
      of any at all, are no velocities.
    """
    others = [one for one in channels if one.command or one.quantity != "effort"]
    plain = map_channels(spec.copy().compile(), others, orders)
    served, mapping = _with_servos(spec, plain, others, orders, (SignalKind.VELOCITY_SERVO,))
    moving = [channel for channel in channels if channel.moves]
    model = served.copy().compile()
    positions = measured_positions(model, moving)
    efforts = {line.name for line in joint_efforts(model, moving, positions)}
    commanded = {line.name for line in mapping.lines if line.kind in SERVOS}
    if not commanded or not efforts <= commanded:
        return None
    lines = (*mapping.lines, *torque_sensors(model, moving, positions))
    return served, replace(mapping, lines=lines)


def _with_servos(
    spec: mujoco.MjSpec,
    plain: Mapping,
    channels: Sequence[Channel],
    orders: Sequence[Order],
    kinds: Sequence[SignalKind] = (*map(SignalKind, SERVOS), SignalKind.EFFORT),
) -> tuple[mujoco.MjSpec, Mapping]:
    """Servos for commanded positions, and for commanded velocities and efforts of joints left."""
    lines, possible = plain.lines, plain.possible
    for kind in kinds:
        taken = {line.name for line in lines if line.input}
        joints = {added_input(kind, joint): joint for joint in _left(spec, taken, channels)}
        if not joints:
            continue
        found = map_channels(with_servos(spec, joints.values(), kind).compile(), channels, orders)
        new = tuple(
            replace(line, kind=kind.value, name=joints[line.name])
            for line in found.lines
            if line.name in joints and line.kind == "actuator" and _says(line.channel, kind)
        )
        if new:
            lines, possible = lines + new, found.possible
        if new and kind is not SignalKind.EFFORT:  # whose motors whoever loads the model adds
            spec = with_servos(spec, [line.name for line in new], kind)
    told = any(line.kind in SERVOS for line in lines)
    idle = undriven(spec, plain.joints, {line.name for line in lines if line.input}) if told else []
    unmapped = (*plain.unmapped, *idle)
    return spec, replace(plain, lines=lines, possible=possible, unmapped=unmapped)


def _lacking(model: mujoco.MjModel, positions: Positions) -> list[str]:
    """Names of the joints whose positions nothing tells, measured or tied by equalities."""
    tied = _tied(model, positions)
    return [
        str(model.joint(joint).name)
        for joint in scalar_joints(model)
        if joint not in positions and joint not in tied
    ]


def _without_positions(lacking: Sequence[str]) -> list[str]:
    """A sentence about joints that nothing measures; those without a name are counted."""
    shown = [name if lacking[1:] else repr(name) for name in lacking if name]
    if nameless := len(lacking) - len(shown):
        shown.append(f"{nameless} without a name")
    if len(lacking) == 1:
        return [f"joint {shown[0]} has no measured position"]
    return [f"joints {', '.join(shown)} have no measured position"] if shown else []


def _left(spec: mujoco.MjSpec, taken: Collection[str], channels: Sequence[Channel]) -> list[str]:
    """Hinges and slides that may have a servo; what mimics another only if commands name it."""
    model = spec.copy().compile()
    names = (str(model.joint(joint).name) for joint in scalar_joints(model))
    ties = (model.eq_type == mujoco.mjtEq.mjEQ_JOINT) & (model.eq_obj2id >= 0)
    mimics = {str(model.joint(int(joint)).name) for joint in model.eq_obj1id[ties]}
    asked = [one.name for one in channels if one.command]
    mimics = {one for one in mimics if not any(name.endswith(one) for name in asked)}
    return [name for name in names if name not in taken and name not in mimics]


def _says(channel: Channel, kind: SignalKind) -> bool:
    """Tell whether a command is for such an input; velocities and efforts are called so."""
    called = {SignalKind.VELOCITY_SERVO: "velocity", SignalKind.EFFORT: "effort"}
    return channel.quantity == called.get(kind, channel.quantity)


def _floating_blindly(model: mujoco.MjModel, bodies: Sequence[Line]) -> list[str]:
    """Sentences about free joints of which no pose was recorded."""
    posed = {line.name for line in bodies if line.kind == "qpos"}
    sensed = {line.name for line in bodies if line.kind == "sensor" and not line.placed}
    placed = {line.placed[1] for line in bodies if line.placed and "framequat" not in line.placed}
    sites = [site for site in map(model.site, range(model.nsite)) if site.name in placed]
    placed |= {str(model.body(int(site.bodyid[0])).name) for site in sites}
    found = []
    for joint in np.flatnonzero(model.jnt_type == FREE):
        body = str(model.body(int(model.jnt_bodyid[joint])).name)
        name = str(model.joint(int(joint)).name) or body
        if name not in posed and body not in placed:
            started = "simulations start with it where and as the model has it"
            if any(_turns_with(model, body, sensor) for sensor in sensed):
                started = (
                    "it is simulated from where and as the model has it, upright where it is "
                    "upright there, and turned from there as its gyroscope says"
                )
            found.append(
                f"nothing tells where {body!r} floats, so that {started}; "
                "delete its free joint if it hung or stood still, or record its pose"
            )
    return found


def _without_inputs(
    model: mujoco.MjModel, lines: Sequence[Line], moving: Sequence[Channel]
) -> list[str]:
    """Sentences about actuators that nothing drives and whose effort nothing measures."""
    driven = {line.name for line in lines if line.kind == "actuator"}
    shown = {line.placed[1] for line in lines if line.placed}
    idle = [
        f"actuator {model.actuator(a).name!r} has no input; its control is taken as zero"
        for a in range(n_actuators(model))
        if model.actuator(a).name not in driven and not shown & moved_by(model, a)
    ]
    return [*idle, *(asked_of_controllers(moving) if idle else ())]


def _undated(lines: Sequence[Line]) -> list[str]:
    """Sentences about topics whose stamps tell no time."""
    topics = {line.channel.topic for line in lines if line.channel.clock == Clock.PUBLISH.value}
    return [
        f"stamps of {topic} never change or are rounded; it is dated by when it was published"
        for topic in sorted(topics)
    ]


def _tied(model: mujoco.MjModel, positions: Positions) -> set[int]:
    """Joints whose positions follow from the measured ones by the model's equalities."""
    loops = ClosedLoops.of(model, {int(model.jnt_dofadr[joint]) for joint in positions})
    return set() if loops is None else {int(model.dof_jntid[dof]) for dof in loops.tied}


def _position_line(model: mujoco.MjModel, joint: int, channel: Channel, sure: bool) -> Line:
    name = str(model.joint(joint).name)
    doubts = [] if sure else [f"is {channel.field} the position of {name}?"]
    doubt = "\n".join(filter(None, [*doubts, doubted_unit(model, joint, channel)]))
    for sensor in range(model.nsensor):
        is_position = int(model.sensor_type[sensor]) == int(mujoco.mjtSensor.mjSENS_JOINTPOS)
        if is_position and int(model.sensor_objid[sensor]) == joint and model.sensor(sensor).name:
            return Line("sensor", str(model.sensor(sensor).name), channel, doubt)
    return Line("qpos", name, channel, doubt)


def _turns_with(model: mujoco.MjModel, body: str, sensor: str) -> bool:
    """Tell whether a sensor is a gyroscope on a body."""
    row = model.sensor(sensor)
    on_site = int(row.objtype[0]) == int(mujoco.mjtObj.mjOBJ_SITE)
    carrier = model.site_bodyid[int(row.objid[0])] if on_site else -1
    gyro = int(row.type[0]) == int(mujoco.mjtSensor.mjSENS_GYRO)
    return gyro and bool(carrier >= 0) and str(model.body(int(carrier)).name) == body


def servo_sensors(spec: mujoco.MjSpec, mapping: Mapping) -> dict[str, str]:
    """The label of the measured position of every actuator's joint."""
    model = spec.copy().compile()
    positions = [line for line in mapping.lines if line.kind in ("sensor", "qpos")]
    measured = [line for line in positions if line.channel.quantity != "effort"]
    labels = {
        joint: (line.name if line.kind == "sensor" else f"{line.name}_qpos")
        for joint, line in zip(mapping.joints, measured, strict=True)
    }
    found = {}
    for actuator in range(n_actuators(model)):
        driven = joint_of(model, actuator)
        joint = "" if driven is None else str(model.joint(driven).name)
        if joint in labels:
            found[str(model.actuator(actuator).name)] = labels[joint]
    return found


def unzeroed(spec: mujoco.MjSpec, mapping: Mapping) -> dict[str, str]:
    """The mapped sensors whose axes have offsets, with which kind each is, by label."""
    known = {one.name: UNZEROED.get(int(one.type), "") for one in spec.sensors}
    lines = [line for line in mapping.signals if line.kind == "sensor"]
    kinds = {line.name: line.values.get("type", known.get(line.name, "")) for line in lines}
    return {name: kind for name, kind in kinds.items() if kind in UNZEROED.values()}
