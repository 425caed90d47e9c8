# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensors that show a joint's state, for measured ``qpos`` and ``qvel``.

A hinge or slide has one number for each, a ball joint a quaternion and an angular velocity. A free
joint is measured as a pose (``nav_msgs/Odometry``, ``PoseStamped``) and a twist, which become two
sensors each: position and orientation, linear and angular velocity. MuJoCo's own ``qvel`` of a free
joint mixes frames (linear in the world, angular in the body); the sensors here have those of the
messages, so nothing is rotated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import mujoco
import numpy as np

from sysid_ros.engine.elements import BALL, FREE
from sysid_ros.engine.signals import SignalMapping, SignalType, TimeSeries
from sysid_ros.errors import ModelError
from sysid_ros.experiment import SignalConfig
from sysid_ros.recording.mapping import SignalKind

_S, _O = mujoco.mjtSensor, mujoco.mjtObj
_SCALAR = {SignalKind.QPOS: _S.mjSENS_JOINTPOS, SignalKind.QVEL: _S.mjSENS_JOINTVEL}
_BALL = {SignalKind.QPOS: _S.mjSENS_BALLQUAT, SignalKind.QVEL: _S.mjSENS_BALLANGVEL}
_POSE = (("_position", _S.mjSENS_FRAMEPOS, 3), ("_orientation", _S.mjSENS_FRAMEQUAT, 4))
_TWIST = {
    "world": (("_linear", _S.mjSENS_FRAMELINVEL, 3), ("_angular", _S.mjSENS_FRAMEANGVEL, 3)),
    "body": (("_linear", _S.mjSENS_VELOCIMETER, 3), ("_angular", _S.mjSENS_GYRO, 3)),
}
_WIDTHS = {suffix: width for parts in (_POSE, *_TWIST.values()) for suffix, _, width in parts}


def state_joints(spec: mujoco.MjSpec) -> Mapping[str, mujoco.MjsJoint]:
    """Joints by the names under which signals know them: a free joint also by its body's."""
    named = {joint.name: joint for joint in spec.joints if joint.name}
    for joint in spec.joints:
        if int(joint.type) == FREE:
            named.setdefault(joint.parent.name, joint)
    return named


def add_state_sensors(spec: mujoco.MjSpec, signal: SignalConfig) -> None:
    """Add the sensors of one ``qpos`` or ``qvel`` signal to a spec that lacks them.

    Args:
      spec: The model; gets sensors called by the signal's label, with the suffixes ``_position``
        and ``_orientation`` or ``_linear`` and ``_angular`` for a free joint.
      signal: Names a joint of :func:`state_joints`.

    Raises:
      ModelError: One noise level is given for a free joint's pose or twist.
    """
    joint = state_joints(spec)[signal.name]
    existing = {sensor.name for sensor in spec.sensors}
    kind = int(joint.type)
    if kind != FREE:
        sensors = _BALL if kind == BALL else _SCALAR
        if signal.label not in existing:
            spec.add_sensor(
                name=signal.label,
                type=sensors[signal.kind],
                objtype=_O.mjOBJ_JOINT,
                objname=joint.name,
            )
        return
    if signal.noise is not None:
        raise ModelError(
            f"signals: {signal.name!r} is a free joint, whose {signal.kind.value} has two units; "
            "leave its noise to be estimated, or map the sensors of its body one by one"
        )
    body = joint.parent
    target, objtype = body.name, _O.mjOBJ_XBODY
    parts = _POSE if signal.kind is SignalKind.QPOS else _TWIST[signal.frame]
    if signal.kind is SignalKind.QVEL and signal.frame == "body":
        target, objtype = f"{signal.label}_frame", _O.mjOBJ_SITE
        if target not in {site.name for site in spec.sites}:
            body.add_site(name=target)
    for suffix, sensor, _ in parts:
        if signal.label + suffix not in existing:
            spec.add_sensor(
                name=signal.label + suffix, type=sensor, objtype=objtype, objname=target
            )


def state_labels(sensors: Collection[str], label: str) -> tuple[str, ...]:
    """The sensors of a model that a label stands for: itself, or the parts of a free joint."""
    parts = tuple(label + suffix for suffix in _WIDTHS if label + suffix in sensors)
    return parts if parts and label not in sensors else (label,)


def by_sensor(spec: mujoco.MjSpec, series: TimeSeries) -> TimeSeries:
    """Measurements named by sensor, poses and twists taken apart.

    Raises:
      ModelError: A free joint's signal has the wrong number of columns.
    """
    mapping: dict[str, tuple[SignalType, np.ndarray]] = {}
    given: SignalMapping = series.signal_mapping or {}
    sensors = {sensor.name for sensor in spec.sensors}
    for name, (kind, columns) in given.items():
        labels = state_labels(sensors, name)
        if labels == (name,):
            mapping[name] = (kind, columns)
            continue
        widths = [_WIDTHS[label[len(name) :]] for label in labels]
        if sum(widths) != len(columns):
            what = "a pose" if len(labels) == 2 and sum(widths) == 7 else "a twist"
            raise ModelError(
                f"signals: {name} belongs to a free joint and takes {what} "
                f"({sum(widths)} numbers), given {len(columns)}; for a part of it map a sensor "
                "of the body"
            )
        for label, part in zip(labels, np.split(columns, np.cumsum(widths)[:-1]), strict=True):
            mapping[label] = (SignalType.MjSensor, part)
    return TimeSeries(series.times, series.data, mapping, series.interpolation)
