# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start states of free and ball joints, read off measured poses and orientations.

A free joint is measured by ``framepos`` and ``framequat`` sensors of its body or of a site on it,
such as a motion capture system or an odometry gives; a ball joint by ``ballquat``. MuJoCo's linear
velocity of a free joint is that of the body's origin in the world, its angular velocities are in
the body's own frame: ``omega = 2 vec(conj(q) dq/dt)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import (
    MIN_SAMPLES,
    Line,
    Piecewise,
    TimeSeries,
    conjugate,
    without_sign_jumps,
    piecewise,
    quaternion_product,
)

Derivative: TypeAlias = Callable[[FloatArray, FloatArray], Callable[[FloatArray], FloatArray]]

_S = mujoco.mjtSensor
_FRAMES = (int(mujoco.mjtObj.mjOBJ_XBODY), int(mujoco.mjtObj.mjOBJ_BODY))
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)


@dataclass(frozen=True)
class Motion:
    """A measured vector or quaternion as a function of time.

    Attributes:
      sensor: Where it was read from.
      values: Linear between samples of a stretch.
      slopes: The derivative of the filtered samples, one for each component.
      times: When it was sampled, (n,), s.
    """

    sensor: str
    values: Piecewise
    slopes: tuple[Piecewise, ...]
    times: FloatArray

    def slope(self, t: FloatArray) -> FloatArray:
        """The derivative at ``t``, (...) to (..., 3 or 4)."""
        return np.stack([each(t) for each in self.slopes], axis=-1)


@dataclass(frozen=True)
class MeasuredPose:
    """One free or ball joint's measured motion, of its own body.

    Attributes:
      position: Of the body's origin in the world, m; ``None`` for a ball joint or where it is not
        measured.
      orientation: Unit quaternion w x y z of the body, in the world or relative to its parent;
        ``None`` where it is not measured.
      spread: How much (linear, angular) velocities vary, m/s and rad/s.
    """

    position: Motion | None
    orientation: Motion | None
    spread: tuple[float, float]

    @property
    def sensors(self) -> tuple[str, ...]:
        """The sensors that the pose is read from."""
        return tuple(motion.sensor for motion in (self.position, self.orientation) if motion)


def orientation_at(motion: Motion, t: FloatArray) -> FloatArray:
    """The unit quaternions at ``t``, (...) to (..., 4)."""
    quaternion = np.asarray(motion.values(t), dtype=np.float64)
    return np.asarray(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True))


def angular_velocity_at(motion: Motion, t: FloatArray) -> FloatArray:
    """The angular velocities in the body's frame at ``t``, (...) to (..., 3), rad/s."""
    turned, rate = orientation_at(motion, t), motion.slope(t)
    return np.asarray(2.0 * quaternion_product(conjugate(turned), rate)[..., 1:])


def measured_poses(
    model: mujoco.MjModel, sensordata: TimeSeries, derivative: Derivative, cutoff: float
) -> dict[int, MeasuredPose]:
    """The motion of every free and ball joint that sensors measure.

    Args:
      model: The compiled model.
      sensordata: The measurements; NaN where nothing was measured.
      derivative: Makes the derivative of samples (times, values).
      cutoff: The frequency [Hz] up to which it follows; shorter gaps are bridged.

    Returns:
      One entry per joint id.
    """
    positions: dict[int, tuple[str, int]] = {}
    orientations: dict[int, tuple[str, int]] = {}
    for name in sensordata.signal_mapping or {}:
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
        if sensor < 0:
            continue
        kind = int(model.sensor_type[sensor])
        if kind == int(_S.mjSENS_BALLQUAT):
            orientations.setdefault(int(model.sensor_objid[sensor]), (name, sensor))
        elif kind in (int(_S.mjSENS_FRAMEPOS), int(_S.mjSENS_FRAMEQUAT)):
            joint = _free_joint(model, sensor)
            if joint is not None:
                found = positions if kind == int(_S.mjSENS_FRAMEPOS) else orientations
                found.setdefault(joint, (name, sensor))
    poses = {}
    for joint in sorted({*positions, *orientations}):
        turned = _orientation(model, sensordata, orientations.get(joint), derivative, cutoff)
        moved = _position(model, sensordata, positions.get(joint), turned, derivative, cutoff)
        poses[joint] = MeasuredPose(moved, turned, (_spread(moved), _spread(turned)))
    return {joint: pose for joint, pose in poses.items() if pose.sensors}


def _free_joint(model: mujoco.MjModel, sensor: int) -> int | None:
    """The free joint of the body that a frame sensor is fixed to, if it measures in the world."""
    if int(model.sensor_refid[sensor]) >= 0:
        return None
    body, item = _body_of(model, sensor), int(model.body_jntadr[_body_of(model, sensor)])
    if body <= 0 or item < 0:
        return None
    free = int(model.jnt_type[item]) == int(mujoco.mjtJoint.mjJNT_FREE)
    return item if free else None


def _body_of(model: mujoco.MjModel, sensor: int) -> int:
    kind, item = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
    if kind == _SITE:
        return int(model.site_bodyid[item])
    return item if kind in _FRAMES else 0


def _mounting(model: mujoco.MjModel, sensor: int) -> tuple[FloatArray, FloatArray]:
    """Position (3,) and orientation (4,) of a sensor's frame on its body."""
    kind, item = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
    if kind == _SITE:
        return model.site_pos[item].copy(), model.site_quat[item].copy()
    if kind == int(mujoco.mjtObj.mjOBJ_BODY):  # its inertial frame
        return model.body_ipos[item].copy(), model.body_iquat[item].copy()
    return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def _samples(sensordata: TimeSeries, name: str) -> tuple[FloatArray, FloatArray] | None:
    """Complete samples of a signal, or ``None`` where there are too few."""
    samples = sensordata.known(name)
    return samples if len(samples[0]) >= MIN_SAMPLES else None


def _orientation(
    model: mujoco.MjModel,
    sensordata: TimeSeries,
    source: tuple[str, int] | None,
    derivative: Derivative,
    cutoff: float,
) -> Motion | None:
    samples = None if source is None else _samples(sensordata, source[0])
    if source is None or samples is None:
        return None
    times, quaternions = samples
    quaternions = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    if int(model.sensor_type[source[1]]) == int(_S.mjSENS_FRAMEQUAT):
        quaternions = quaternion_product(quaternions, conjugate(_mounting(model, source[1])[1]))
    # Between samples the shorter way is meant.
    return _motion(source[0], times, without_sign_jumps(quaternions), derivative, cutoff)


def _position(
    model: mujoco.MjModel,
    sensordata: TimeSeries,
    source: tuple[str, int] | None,
    orientation: Motion | None,
    derivative: Derivative,
    cutoff: float,
) -> Motion | None:
    samples = None if source is None else _samples(sensordata, source[0])
    if source is None or samples is None:
        return None
    times, positions = samples
    offset = _mounting(model, source[1])[0]
    if offset.any() and orientation is not None:
        turned = orientation_at(orientation, times)
        positions = positions - np.stack([_turned(each, offset) for each in turned])
    return _motion(source[0], times, positions, derivative, cutoff)


def _motion(
    name: str, times: FloatArray, values: FloatArray, derivative: Derivative, cutoff: float
) -> Motion:
    return Motion(
        name,
        piecewise(times, values, cutoff, Line),
        tuple(piecewise(times, column, cutoff, derivative) for column in values.T),
        times,
    )


def _spread(motion: Motion | None) -> float:
    """Return the variation of a velocity; one unit where it is not measured."""
    if motion is None:
        return 1.0
    rates = np.stack([slope(motion.times) for slope in motion.slopes])
    scale = 2.0 if len(motion.slopes) == 4 else 1.0  # of quaternion rates
    return scale * float(np.sqrt(np.mean(rates**2)))


def _turned(quaternion: FloatArray, vector: FloatArray) -> FloatArray:
    result = np.empty(3)
    mujoco.mju_rotVecQuat(result, vector, quaternion)
    return result
