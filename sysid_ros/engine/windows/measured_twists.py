# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured velocities of free joints, for the starts of windows.

The derivative of a position that is known to a millimetre is off by 0.1 m/s, and a wheel that
starts on the floor with such an error slips. Where an odometry or a gyroscope tells velocities
better than the derivative of the pose does, they are taken from there.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.signals import (
    MIN_SAMPLES,
    Line,
    Piecewise,
    TimeSeries,
    conjugate,
    piecewise,
    rotated,
)
from sysid_ros.engine.windows.spatial_starts import MeasuredPose, Motion, noise_of

_S, _O = mujoco.mjtSensor, mujoco.mjtObj
_LINEAR = {int(_S.mjSENS_FRAMELINVEL): False, int(_S.mjSENS_VELOCIMETER): True}
_ANGULAR = {int(_S.mjSENS_FRAMEANGVEL): False, int(_S.mjSENS_GYRO): True}


@dataclass(frozen=True)
class MeasuredVelocity:
    """A measured linear or angular velocity of a free joint's body, at its origin."""

    values: Piecewise  # as a function of time, m/s or rad/s
    # orientation (4,) of the frame that measures on the body; ``None`` for the world's
    turned: FloatArray | None

    def in_body(self, t: FloatArray, orientation: FloatArray) -> FloatArray:
        """Velocities in the body's frame, (w, 3), for orientations (w, 4)."""
        if self.turned is None:
            return rotated(conjugate(orientation), self.values(t))
        return rotated(self.turned, self.values(t))

    def in_world(self, t: FloatArray, orientation: FloatArray) -> FloatArray:
        """Velocities in the world's frame, (w, 3), for orientations (w, 4)."""
        if self.turned is None:
            return np.asarray(self.values(t))
        return rotated(orientation, self.in_body(t, orientation))


@dataclass(frozen=True)
class MeasuredTwist:
    """The velocities of one free joint that are better measured than derived."""

    linear: MeasuredVelocity | None = None
    angular: MeasuredVelocity | None = None


def measured_twists(
    model: mujoco.MjModel, sensordata: TimeSeries, poses: dict[int, MeasuredPose], cutoff: float
) -> dict[int, MeasuredTwist]:
    """Velocities that sensors at the origins of free bodies tell better than their poses do.

    Args:
      model: The compiled model.
      sensordata: The measurements; NaN where nothing was measured.
      poses: By joint what is known of its pose.
      cutoff: Of the low-pass in front of the poses' derivative, Hz.
    """
    found = {}
    for joint in np.flatnonzero(model.jnt_type == FREE).tolist():
        pose = poses.get(joint, MeasuredPose(None, None, (1.0, 1.0)))
        linear = _best(model, sensordata, joint, _LINEAR, pose.position, cutoff)
        angular = _best(model, sensordata, joint, _ANGULAR, pose.orientation, cutoff)
        found[joint] = MeasuredTwist(linear, angular)
    return found


def _best(
    model: mujoco.MjModel,
    sensordata: TimeSeries,
    joint: int,
    kinds: dict[int, bool],
    derived: Motion | None,
    cutoff: float,
) -> MeasuredVelocity | None:
    """The sensor of some kinds with the least noise, if that is less than the derivative's."""
    best, least = None, np.inf if derived is None else _derived_noise(derived, cutoff)
    for name in sensordata.signal_mapping or {}:
        sensor = mujoco.mj_name2id(model, int(_O.mjOBJ_SENSOR), name)
        kind = int(model.sensor_type[sensor]) if sensor >= 0 else -1
        if kind not in kinds or int(model.sensor_refid[sensor]) >= 0:
            continue
        anywhere = kinds is _ANGULAR  # on a rigid body
        turned = _mounted(model, sensor, int(model.jnt_bodyid[joint]), anywhere=anywhere)
        times, values = sensordata.known(name)
        if turned is None or len(times) < MIN_SAMPLES:
            continue
        noise = noise_of(values)
        if noise < least:
            function = piecewise(times, values, cutoff, Line)
            best, least = MeasuredVelocity(function, turned if kinds[kind] else None), noise
    return best


def _mounted(model: mujoco.MjModel, sensor: int, body: int, *, anywhere: bool) -> FloatArray | None:
    """Orientation (4,) of a sensor at a body's origin; ``None`` for one that is elsewhere."""
    kind, item = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
    if kind == int(_O.mjOBJ_XBODY) and item == body:
        return np.array([1.0, 0.0, 0.0, 0.0])
    if kind != int(_O.mjOBJ_SITE) or int(model.site_bodyid[item]) != body:
        return None
    if not anywhere and np.any(model.site_pos[item]):
        return None
    return np.array(model.site_quat[item])


def _derived_noise(motion: Motion, cutoff: float) -> float:
    """Noise of a filtered derivative: white noise of the samples, differentiated up to a cut-off.

    Its variance is the integral of (2 pi f)^2 over the samples' density 2 sigma^2 dt.
    """
    interval = float(np.median(np.diff(motion.times)))
    scale = 2.0 if len(motion.slopes) == 4 else 1.0  # of quaternion rates
    highest = min(cutoff, 0.5 / interval)
    return float(scale * motion.noise * 2.0 * np.pi * np.sqrt(2.0 * interval * highest**3 / 3.0))
