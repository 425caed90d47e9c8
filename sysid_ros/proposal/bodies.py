# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assignment of recorded poses, twists and IMU readings to free joints and sensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import mujoco

from sysid_ros.engine.elements import FREE
from sysid_ros.proposal.channels import Channel
from sysid_ros.proposal.lines import Line
from sysid_ros.proposal.names import similarity

# By message type: the field of a signal, and the part of it that shows that it is recorded.
_POSES = {
    "nav_msgs/msg/Odometry": ("pose.pose", "pose.pose.position.x"),
    "geometry_msgs/msg/PoseStamped": ("pose", "pose.position.x"),
}
_TWISTS = {"nav_msgs/msg/Odometry": ("twist.twist", "twist.twist.linear.x")}
_WRENCH = "geometry_msgs/msg/WrenchStamped"
_SENSORS: Mapping[int, Mapping[str, tuple[str, str]]] = {
    int(mujoco.mjtSensor.mjSENS_GYRO): {
        "sensor_msgs/msg/Imu": ("angular_velocity", "angular_velocity.x"),
    },
    int(mujoco.mjtSensor.mjSENS_ACCELEROMETER): {
        "sensor_msgs/msg/Imu": ("linear_acceleration", "linear_acceleration.x"),
    },
    int(mujoco.mjtSensor.mjSENS_FORCE): {_WRENCH: ("wrench.force", "wrench.force.x")},
    int(mujoco.mjtSensor.mjSENS_TORQUE): {_WRENCH: ("wrench.torque", "wrench.torque.x")},
}


def body_lines(model: mujoco.MjModel, channels: Sequence[Channel]) -> list[Line]:
    """Propose the signals of free joints, of sensors on bodies, and of outside forces.

    Args:
      model: The compiled model.
      channels: What was recorded.
    """
    lines: list[Line] = []
    for joint in range(model.njnt):
        if int(model.jnt_type[joint]) == FREE:
            body = str(model.body(int(model.jnt_bodyid[joint])).name)
            name = str(model.joint(joint).name) or body
            lines += _one("qpos", name, [name, body], _POSES, channels)
            lines += _one("qvel", name, [name, body], _TWISTS, channels)
    for sensor in range(model.nsensor):
        name, site = str(model.sensor(sensor).name), _site(model, sensor)
        types = _SENSORS.get(int(model.sensor_type[sensor]), {})
        if name:
            lines += _one("sensor", name, [name, site], types, channels)
    sensed = {line.channel.topic for line in lines}
    return [*_wrenches(model, [one for one in channels if one.topic not in sensed]), *lines]


def _one(
    kind: str,
    name: str,
    names: Sequence[str],
    types: Mapping[str, tuple[str, str]],
    channels: Sequence[Channel],
) -> Iterator[Line]:
    """The recorded signal whose topic is named most like the element, if there is one."""
    found = [
        replace(channel, field=types[channel.msgtype][0])
        for channel in channels
        if channel.msgtype in types and channel.field == types[channel.msgtype][1]
    ]
    if not found:
        return
    best = max(found, key=lambda one: _likeness(names, one.topic))
    rivals = sorted(one.topic for one in found if one.topic != best.topic)
    doubt = f"is it {best.topic}, not {' or '.join(rivals)}?" if rivals else ""
    yield Line(kind, name, best, doubt)


def _likeness(names: Sequence[str], topic: str) -> float:
    """Score how much a part of a topic's name looks like one of some names."""
    parts = [part for part in topic.split("/") if part]
    return max((similarity(name, part) for name in names for part in parts), default=0.0)


def _wrenches(model: mujoco.MjModel, channels: Sequence[Channel]) -> Iterator[Line]:
    """Measured forces, each at the site that its topic is named after."""
    sites = [str(model.site(site).name) for site in range(model.nsite) if model.site(site).name]
    for channel in channels:
        if channel.msgtype != _WRENCH or channel.field != "wrench.force.x" or not sites:
            continue
        site = max(sites, key=lambda name: _likeness([name], channel.topic))
        doubt = f"does {channel.topic} act from outside at {site}, in its frame?"
        yield Line("wrench", site, replace(channel, field="wrench"), doubt)


def _site(model: mujoco.MjModel, sensor: int) -> str:
    if int(model.sensor_objtype[sensor]) != int(mujoco.mjtObj.mjOBJ_SITE):
        return ""
    return str(model.site(int(model.sensor_objid[sensor])).name)
