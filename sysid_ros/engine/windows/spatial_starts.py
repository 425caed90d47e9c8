# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start states of free and ball joints, read off measured poses and orientations.

MuJoCo's linear velocity of a free joint is that of the body's origin in the world, its angular
velocities are in the body's own frame: ``omega = 2 vec(conj(q) dq/dt)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import (
    MIN_SAMPLES,
    JointSignal,
    Line,
    Piecewise,
    TimeSeries,
    conjugate,
    joint_signal,
    piecewise,
    quaternion_product,
    without_sign_jumps,
)
from sysid_ros.engine.windows.measured_joints import digest, filtered_velocity

_SECOND = np.sqrt(6.0)  # noise of second differences over that of the values


@dataclass(frozen=True)
class Motion:
    """A measured vector or quaternion as a function of time."""

    sensor: str  # where it was read from
    values: Piecewise  # linear between samples of a stretch
    slopes: tuple[Piecewise, ...]  # the derivative of the filtered samples, one for each component
    times: FloatArray  # when it was sampled, (n,), s

    def slope(self, t: FloatArray) -> FloatArray:
        """The derivative at ``t``, (...) to (..., 3 or 4)."""
        return np.stack([each(t) for each in self.slopes], axis=-1)

    @cached_property
    def spread(self) -> float:
        """The variation of the velocity, m/s or rad/s."""
        scale = 2.0 if len(self.slopes) == 4 else 1.0  # of quaternion rates
        return scale * float(np.sqrt(np.mean(self.slope(self.times) ** 2)))

    @cached_property
    def noise(self) -> float:
        """Standard deviation of white noise that second differences of the samples show."""
        return noise_of(self.values(self.times))


@dataclass(frozen=True)
class MeasuredPose:
    """One free or ball joint's measured motion, of its own body."""

    # of the body's origin in the world, m; ``None`` for a ball joint or where it is not measured
    position: Motion | None
    # unit quaternion w x y z of the body, in the world or relative to its parent; ``None`` where it
    # is not measured
    orientation: Motion | None
    spread: tuple[float, float]  # how much (linear, angular) velocities vary, m/s and rad/s

    @property
    def sensors(self) -> tuple[str, ...]:
        """The sensors that the pose is read from."""
        return tuple(motion.sensor for motion in (self.position, self.orientation) if motion)


# By the samples: a copy of a series in which another signal is changed has the same.
_ALIKE: WeakValueDictionary[bytes, Motion] = WeakValueDictionary()


def orientation_at(motion: Motion, t: FloatArray) -> FloatArray:
    """The unit quaternions at ``t``, (...) to (..., 4)."""
    quaternion = np.asarray(motion.values(t), dtype=np.float64)
    return np.asarray(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True))


def angular_velocity_at(motion: Motion, t: FloatArray) -> FloatArray:
    """The angular velocities in the body's frame at ``t``, (...) to (..., 3), rad/s."""
    turned, rate = orientation_at(motion, t), motion.slope(t)
    return np.asarray(2.0 * quaternion_product(conjugate(turned), rate)[..., 1:])


def measured_poses(
    model: mujoco.MjModel, sensordata: TimeSeries, cutoff: float
) -> dict[int, MeasuredPose]:
    """The motion of every free and ball joint that sensors measure.

    Args:
      model: The compiled model.
      sensordata: The measurements; NaN where nothing was measured.
      cutoff: Of the low-pass in front of the derivative, Hz; shorter gaps are bridged.

    Returns:
      One entry per joint id.
    """
    positions: dict[int, tuple[str, JointSignal]] = {}
    orientations: dict[int, tuple[str, JointSignal]] = {}
    for name in sensordata.signal_mapping or {}:
        told = joint_signal(model, name)
        if told is None or told.width not in (3, 4):
            continue
        if len(sensordata.known(name)[0]) >= MIN_SAMPLES:
            (positions if told.width == 3 else orientations).setdefault(told.joint, (name, told))
    poses = {}
    for joint in sorted({*positions, *orientations}):
        moved = turned = None
        if joint in orientations:
            name, told = orientations[joint]
            times, values = sensordata.known(name)
            # Between samples the shorter way is meant.
            values = without_sign_jumps(told.body_orientation(values))
            turned = motion_of(name, times, values, cutoff)
        if joint in positions:
            name, told = positions[joint]
            times, values = sensordata.known(name)
            if turned is not None:
                values = told.body_position(values, orientation_at(turned, times))
            moved = motion_of(name, times, values, cutoff)
        poses[joint] = pose_of(moved, turned)
    return poses


def pose_of(moved: Motion | None, turned: Motion | None) -> MeasuredPose:
    """The measured motion of a joint of which position, orientation or both are measured."""
    return MeasuredPose(moved, turned, (_spread(moved), _spread(turned)))


def motion_of(name: str, times: FloatArray, values: FloatArray, cutoff: float) -> Motion:
    """Samples as a function of time; those that were read off before are not read off again.

    Args:
      name: The sensor that they are of.
      times: (n,) s.
      values: Vectors or unit quaternions without jumps of sign, (n, 3 or 4).
      cutoff: Of the low-pass in front of the derivative, Hz.
    """
    samples = digest(f"{name} {cutoff!r}", times, values)
    alike = _ALIKE.get(samples)
    if alike is None:
        slopes = (
            piecewise(times, column, cutoff, lambda t, x: filtered_velocity(t, x, cutoff))
            for column in values.T
        )
        alike = Motion(name, piecewise(times, values, cutoff, Line), tuple(slopes), times)
        _ALIKE[samples] = alike
    return alike


def noise_of(values: FloatArray) -> float:
    """Standard deviation of white noise that second differences of samples (n, k) show."""
    return float(np.mean(np.std(np.diff(values, 2, axis=0), axis=0)) / _SECOND)


def _spread(motion: Motion | None) -> float:
    """Return the variation of a velocity; one unit where it is not measured."""
    return 1.0 if motion is None else motion.spread
