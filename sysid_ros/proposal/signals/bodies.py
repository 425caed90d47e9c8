# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assignment of recorded poses, twists and IMU readings to free joints and sensors."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.elements import BALL, FREE, joints_above
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line
from sysid_ros.proposal.signals.names import likeness, words_of
from sysid_ros.recording.messages import is_asked

# By message type, or by the length of a fixed array in any, the field of a signal, which is
# recorded where a number of it changes.
_POSES = {
    "nav_msgs/msg/Odometry": r"pose\.pose",
    "geometry_msgs/msg/PoseStamped": "pose",
    "geometry_msgs/msg/PoseWithCovarianceStamped": r"pose\.pose",
    "geometry_msgs/msg/TransformStamped": "transform",
    "sensor_msgs/msg/MultiDOFJointState": r"transforms\[.+\]",
}
_KNOWN = ("geometry_msgs/", "nav_msgs/", "sensor_msgs/", "tf2_msgs/")
_OF_VENDORS = "*"  # any other type
_FRAMES = {
    "tf2_msgs/msg/TFMessage": r"transforms\[.+\]\.transform",
    _OF_VENDORS: r"(?:.+\.)?pose",
}
_TWISTS = {
    "nav_msgs/msg/Odometry": r"twist\.twist",
    "sensor_msgs/msg/MultiDOFJointState": r"twist\[.+\]",
}
_POINTS = {"geometry_msgs/msg/PointStamped": "point"}
_ROWS = {"3": r"(?:.+\.)?(?:position|pos)", "4": r"(?:.+\.)?(?:q|quat\w*|orientation)"}
# By the last part of a field its halves: what they are called, their sensors, and their fields.
_HALVES = {
    "pose": (("position", "framepos", "position"), ("orientation", "framequat", "orientation")),
    "transform": (
        ("position", "framepos", "translation"),
        ("orientation", "framequat", "rotation"),
    ),
    "twist": (("velocity", "velocimeter", "linear"), ("rate", "gyro", "angular")),
}
_PLACES = ("position.x", "translation.x")
_TURNS = {f"{part}.{axis}" for part in ("orientation", "rotation") for axis in "wxyz"}
# Any of their numbers, as a boat turns about z alone.
_ANY = r"(?:\.(?:position\.|translation\.|linear\.)?[xyzw]|\[\d\])"
_NAMESPACE = 0.75  # of at least three topics, that begin alike where this is a robot's name
_WRENCH = "geometry_msgs/msg/WrenchStamped"
_SENSORS: Mapping[int, Mapping[str, str]] = {
    int(mujoco.mjtSensor.mjSENS_GYRO): {
        "sensor_msgs/msg/Imu": "angular_velocity",
        "3": r"(?:.+\.)?gyro\w*",
    },
    int(mujoco.mjtSensor.mjSENS_ACCELEROMETER): {
        "sensor_msgs/msg/Imu": "linear_acceleration",
        "3": r"(?:.+\.)?accel\w*",
    },
    int(mujoco.mjtSensor.mjSENS_VELOCIMETER): {
        "geometry_msgs/msg/TwistStamped": r"twist\.linear",
        "geometry_msgs/msg/TwistWithCovarianceStamped": r"twist\.twist\.linear",
    },
    int(mujoco.mjtSensor.mjSENS_FORCE): {_WRENCH: r"wrench\.force"},
    int(mujoco.mjtSensor.mjSENS_TORQUE): {_WRENCH: r"wrench\.torque"},
}
_AT_WRISTS = (int(mujoco.mjtSensor.mjSENS_FORCE), int(mujoco.mjtSensor.mjSENS_TORQUE))
# Of bodies in the world, as trackers and star cameras tell them.
_FRAMED: Mapping[int, Mapping[str, str]] = {
    int(mujoco.mjtSensor.mjSENS_FRAMEPOS): {
        "nav_msgs/msg/Odometry": r"pose\.pose\.position",
        "geometry_msgs/msg/PoseStamped": r"pose\.position",
        "geometry_msgs/msg/PoseWithCovarianceStamped": r"pose\.pose\.position",
        "geometry_msgs/msg/PointStamped": "point",
        "geometry_msgs/msg/TransformStamped": r"transform\.translation",
    },
    int(mujoco.mjtSensor.mjSENS_FRAMEQUAT): {
        "nav_msgs/msg/Odometry": r"pose\.pose\.orientation",
        "geometry_msgs/msg/PoseStamped": r"pose\.orientation",
        "geometry_msgs/msg/PoseWithCovarianceStamped": r"pose\.pose\.orientation",
        "geometry_msgs/msg/QuaternionStamped": "quaternion",
        "geometry_msgs/msg/TransformStamped": r"transform\.rotation",
    },
}
_IMUS = {"sensor_msgs/msg/Imu": "orientation"}
_SLOWEST = 0.08  # s between samples; beyond 0.1 s a fit takes each interval for a gap
_SAME_NAME = 0.9  # similarity from which a frame is that of a body


def body_lines(model: mujoco.MjModel, channels: Sequence[Channel]) -> list[Line]:
    """Propose the signals of free joints, of sensors on bodies, and of outside forces."""
    lines: list[Line] = []
    for joint in range(model.njnt):
        if int(model.jnt_type[joint]) == FREE:
            body = str(model.body(int(model.jnt_bodyid[joint])).name)
            name = str(model.joint(joint).name) or body
            pose = pose_line(name, [name, body], channels)
            posed = [] if pose is None else [_as_told(pose, body, channels)]
            posed = posed or [*_in_rows(body, channels), *_points(body, [name, body], channels)]
            twists = list(_one("qvel", name, [name, body], _TWISTS, channels))
            for line in [*posed, *twists]:
                lines += _at_site(model, int(model.jnt_bodyid[joint]), [name, body], line)
    told_of: dict[tuple[str, str], list[Line]] = {}
    for sensor in range(model.nsensor):
        name, site = str(model.sensor(sensor).name), _site(model, sensor)
        kind = int(model.sensor_type[sensor])
        logs = kind == int(mujoco.mjtSensor.mjSENS_VELOCIMETER)  # some tell a few a second
        told = [one for one in channels if not logs or _interval(one) < _SLOWEST]
        types = _SENSORS.get(kind, {}) if name else {}
        for line in _one("sensor", name, [name, site], types, told):
            told_of.setdefault((line.channel.topic, line.channel.field), []).append(line)
    lines += [_of_one_sensor(model, alike) for alike in told_of.values()]
    lines += _framed(model, channels, {line.channel.topic for line in lines})
    lines += _turned(model, channels, lines)
    sensed = {line.channel.topic for line in lines}
    return [*_wrenches(model, [one for one in channels if one.topic not in sensed]), *lines]


def _of_one_sensor(model: mujoco.MjModel, alike: Sequence[Line]) -> Line:
    """The line of the sensor named like the topic, of several that would read the same.

    Of sensors whose names say as much it is the one with the fewest joints above, as most robots
    carry an IMU in their base; of forces with the most, as they are measured at wrists.
    """

    def rank(line: Line) -> tuple[float, int]:
        sensor = int(model.sensor(line.name).id)
        site = _site(model, sensor)
        body = int(model.site(site).bodyid[0]) if site else 0
        alike = likeness([line.name, site], f"{line.channel.topic}/{line.channel.field}")
        above = len(joints_above(model, body))
        outer = int(model.sensor_type[sensor]) in _AT_WRISTS
        return alike if alike >= _SAME_NAME else 0.0, above if outer else -above

    best = max(alike, key=rank)
    others = " or ".join(line.name for line in alike if line is not best)
    doubt = f"is {best.channel.topic} told of {best.name}, not {others}?" if others else ""
    return replace(best, doubt=best.doubt or doubt)


def pose_line(name: str, names: Sequence[str], channels: Sequence[Channel]) -> Line | None:
    """The recorded pose that is named most like one of some names, if there is any."""
    told = [*_one("qpos", name, names, _POSES, channels)]
    return next(iter(told or _in_frames(name, names, channels)), None)


def _framed(
    model: mujoco.MjModel, channels: Sequence[Channel], taken: Collection[str]
) -> Iterator[Line]:
    """Poses that are named after a sensor of the model or its site; not that of a free joint."""
    left = [one for one in channels if one.topic not in taken and _interval(one) < _SLOWEST]
    robot = _robots_name({one.topic for one in channels})
    for sensor in range(model.nsensor):
        name, site = str(model.sensor(sensor).name), _site(model, sensor)
        types = _FRAMED.get(int(model.sensor_type[sensor]), {})
        if not name or int(model.sensor_refid[sensor]) >= 0:
            continue
        for line in _one("sensor", name, [name, site], types, left):
            if likeness([name, site], line.channel.topic.removeprefix(robot)) >= _SAME_NAME:
                doubt = f"is {line.channel.topic} told of {site or name} in the model's world?"
                yield replace(line, doubt=line.doubt or doubt)


def _turned(
    model: mujoco.MjModel, channels: Sequence[Channel], lines: Sequence[Line]
) -> list[Line]:
    """Orientations that IMUs tell of what ball joints move or floats, if nothing else does.

    Of what floats one of several IMUs: each counts headings from another one.
    """
    told = {one.topic: one for one in _recorded(_IMUS, channels)}
    found: dict[str, Line] = {}
    floating: dict[int, str] = {}
    for line in lines:
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, line.name)
        site = _site(model, sensor) if line.kind == "sensor" and sensor >= 0 else ""
        floats = bool(site) and _is_untold_base(model, site, lines)
        topic = line.channel.topic
        if floats and topic in told:
            body = int(model.body_weldid[int(model.site(site).bodyid[0])])
            floats = floating.setdefault(body, topic) == topic
        if site and topic in told and (floats or balls_above(model, site)):
            doubt = f"is the orientation of {topic} that of {site} in the model's world?"
            doubt += " Its filter's heading counts as the model's" if floats else ""
            names = [name for name in _turns_of(model, site) if name]
            placed = () if names else ("framequat", site)
            name = next(iter(names), f"{site}_orientation")
            found[topic] = Line("sensor", name, told[topic], doubt, placed=placed)
    return list(found.values())


def _is_untold_base(model: mujoco.MjModel, site: str, lines: Sequence[Line]) -> bool:
    """Return whether a site is on a free body of whose pose lines tell nothing."""
    body = int(model.body_weldid[int(model.site(site).bodyid[0])])
    joint = int(model.body_jntadr[body])
    if joint < 0 or int(model.jnt_type[joint]) != FREE:
        return False
    fixed = np.flatnonzero(model.body_weldid[model.site_bodyid] == body).tolist()
    sites = {str(model.site(k).name) for k in fixed} - {""}
    known = {str(model.joint(joint).name), str(model.body(body).name), *sites}
    known = known.union(*(_turns_of(model, one) for one in sites))
    kinds = ("qpos", "sensor")  # velocities tell of no pose
    return not any(one.kind in kinds and known & {one.name, *one.placed} for one in lines)


def _turns_of(model: mujoco.MjModel, site: str) -> list[str]:
    """Names of the model's sensors of a site's orientation in the world."""
    kind, world = int(mujoco.mjtSensor.mjSENS_FRAMEQUAT), model.sensor_refid < 0
    sensors = np.flatnonzero((model.sensor_type == kind) & world).tolist()
    return [str(model.sensor(one).name) for one in sensors if _site(model, one) == site]


def balls_told(model: mujoco.MjModel, lines: Sequence[Line]) -> list[str]:
    """Names of the ball joints that move a site whose orientation is told."""
    found: list[str] = []
    for number in range(model.nsite):
        site = str(model.site(number).name)
        placed = {("framequat", site)}.intersection(line.placed for line in lines)
        if site and (placed or {*_turns_of(model, site)}.intersection(line.name for line in lines)):
            found += balls_above(model, site)
    return list(dict.fromkeys(found))


def balls_above(model: mujoco.MjModel, site: str) -> list[str]:
    """Names of the ball joints that move a site; none where it floats, as then its base does."""
    joints = joints_above(model, int(model.site(site).bodyid[0]))
    kinds = [int(model.jnt_type[joint]) for joint in joints]
    names = [str(model.joint(joint).name) for joint in joints]
    return [n for n, k in zip(names, kinds, strict=True) if n and k == BALL and FREE not in kinds]


def _robots_name(topics: Collection[str]) -> str:
    """The namespace that nearly all topics share, which names no sensor; empty where none does."""
    spaces = Counter("/".join(topic.split("/")[:2]) for topic in topics if topic.count("/") > 1)
    space, count = next(iter(spaces.most_common(1)), ("", 0))
    return space if count >= max(3.0, _NAMESPACE * len(topics)) else ""


def _one(
    kind: str,
    name: str,
    names: Sequence[str],
    types: Mapping[str, str],
    channels: Sequence[Channel],
) -> Iterator[Line]:
    """The recorded signal whose topic or frame is named most like the element, if there is one."""
    found = _recorded(types, channels)
    if not found:
        return
    best = max(found, key=lambda one: likeness(names, f"{one.topic}/{one.name}"))
    several = len({one.topic for one in found}) < len(found)

    def place(one: Channel) -> str:
        return f"{one.topic} {one.field}" if several else one.topic

    rivals = sorted(place(one) for one in found if one is not best)
    doubt = f"is it {place(best)}, not {' or '.join(rivals)}?" if rivals else ""
    yield Line(kind, name, best, doubt)


def _in_frames(name: str, names: Sequence[str], channels: Sequence[Channel]) -> Iterator[Line]:
    """The pose of a free joint from a frame with its name among those of a robot."""
    for one in _recorded(_FRAMES, channels):
        told = one.name or one.topic
        if likeness(names, told) >= _SAME_NAME:
            doubt = f"is {one.field} told in a frame that stands still?"
            yield Line("qpos", name, one, doubt)
            return


def _as_told(line: Line, body: str, channels: Sequence[Channel]) -> Line:
    """A pose's line, of its position alone where all messages have the same orientation.

    A camera that follows a ball tells where it is, and fills in the rest.
    """
    pose, topic = line.channel.field, line.channel.topic
    told = {one.field.removeprefix(f"{pose}.") for one in channels if one.topic == topic}
    if not body or told & _TURNS:
        return line
    place = next(one.removesuffix(".x") for one in _PLACES if one in told)
    doubt = f"the orientation of {topic} never changes, so that its position alone is taken"
    channel = replace(line.channel, field=f"{pose}.{place}")
    return Line("sensor", f"{body}_position", channel, doubt, placed=("framepos", body))


def _at_site(model: mujoco.MjModel, body: int, names: Sequence[str], line: Line) -> Iterator[Line]:
    """A pose or twist of a body, as that of a site on it after which its topic is named.

    So a camera tells where it is itself, ahead of the body's frame and turned.
    """
    told = f"{line.channel.topic}/{line.channel.name}"
    sites = [str(model.site(int(site)).name) for site in np.flatnonzero(model.site_bodyid == body)]
    site = max(sites, key=lambda one: likeness([one], told), default="")
    halves = _HALVES.get(line.channel.field.rpartition(".")[2], ())
    of_site = likeness([site], told) >= _SAME_NAME > likeness(names, told)
    words = {word for part in told.split("/") for word in words_of(part)}
    if not (halves and of_site and words_of(site) <= words):  # not a robot's of which it has parts
        yield line
        return
    doubt = f"is {line.channel.topic} told of {site}, not of {names[-1]}?"
    for name, kind, part in halves:
        channel = replace(line.channel, field=f"{line.channel.field}.{part}")
        yield Line("sensor", f"{site}_{name}", channel, doubt, placed=(kind, site))


def numbers_of_poses(channels: Sequence[Channel]) -> set[tuple[str, str]]:
    """Topics and fields of the numbers that poses in fixed arrays have, which no joint's are."""
    poses = [(one.topic, one.field) for pair in _poses_in_rows(channels) for one in pair]
    return {
        (one.topic, one.field)
        for one in channels
        if one.row and (one.topic, one.field.rpartition("[")[0]) in poses
    }


def _poses_in_rows(channels: Sequence[Channel]) -> Iterator[tuple[Channel, Channel]]:
    """Places and orientations that are fixed arrays beside each other in a message."""
    places = _recorded({"3": _ROWS["3"]}, channels)
    turns = _recorded({"4": _ROWS["4"]}, channels)
    for place, turn in itertools.product(places, turns):
        beside = place.field.rpartition(".")[0] == turn.field.rpartition(".")[0]
        if place.topic == turn.topic and beside:
            yield place, turn


def _in_rows(body: str, channels: Sequence[Channel]) -> list[Line]:
    """The pose of a free body from two fixed arrays, as sensors of its frame."""
    poses = list(_poses_in_rows(channels))
    if not poses or not body:
        return []
    place, turn = max(poses, key=lambda pair: likeness([body], pair[0].topic))
    others = sorted({one.topic for one, _ in poses} - {place.topic})
    doubt = f"is it {place.topic}, not {' or '.join(others)}?" if others else ""
    return [
        Line("sensor", f"{body}_position", place, doubt, placed=("framepos", body)),
        Line("sensor", f"{body}_orientation", turn, doubt, placed=("framequat", body)),
    ]


def _points(body: str, names: Sequence[str], channels: Sequence[Channel]) -> Iterator[Line]:
    """The position of a free body of which no pose is told, as trackers of points tell it."""
    quick = [one for one in channels if _interval(one) < _SLOWEST]
    for line in _one("sensor", f"{body}_position", names, _POINTS, quick) if body else ():
        doubt = f"is {line.channel.topic} where {body} has its frame in the model's world?"
        yield replace(line, doubt=line.doubt or doubt, placed=("framepos", body))


def _recorded(types: Mapping[str, str], channels: Sequence[Channel]) -> list[Channel]:
    """Signals of some message types, once each; what is asked for is none."""
    found: dict[tuple[str, str], Channel] = {}
    for channel in channels:
        key = str(channel.row) if channel.row else channel.msgtype
        if key not in types and not channel.msgtype.startswith(_KNOWN):
            key = _OF_VENDORS
        match = re.fullmatch(f"({types.get(key, '')}){_ANY}", channel.field)
        if key in types and match is not None and not is_asked(channel.topic):
            found.setdefault((channel.topic, match[1]), replace(channel, field=match[1]))
    return list(found.values())


def _interval(channel: Channel) -> float:
    """The usual time between two samples, s; infinity for a single one."""
    intervals = [np.median(np.diff(times)) for times in channel.times if len(times) > 1]
    return float(max(intervals, default=np.inf))


def _wrenches(model: mujoco.MjModel, channels: Sequence[Channel]) -> Iterator[Line]:
    """Measured forces, each at the site that its topic is named after."""
    sites = [str(model.site(site).name) for site in range(model.nsite) if model.site(site).name]
    for channel in channels:
        if channel.msgtype != _WRENCH or channel.field != "wrench.force.x" or not sites:
            continue
        site = max(sites, key=lambda name: likeness([name], channel.topic))
        doubt = (
            f"does {channel.topic} act from outside at {site}, in its frame, or is it the weight "
            "of a tool that the model has?"
        )
        yield Line("wrench", site, replace(channel, field="wrench"), doubt)


def _site(model: mujoco.MjModel, sensor: int) -> str:
    if int(model.sensor_objtype[sensor]) != int(mujoco.mjtObj.mjOBJ_SITE):
        return ""
    return str(model.site(int(model.sensor_objid[sensor])).name)
