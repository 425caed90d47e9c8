# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured orientations in the windowed fit: compared as rotation vectors.

An orientation has four numbers and three degrees of freedom. Its residual is the rotation vector
from the measured to the predicted orientation, in the measured frame [rad]; see
:mod:`sysid_ros.engine.signals.tangent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.signals import RowWeights, SignalType, TimeSeries, rotation_between

ROTATION = " as a rotation"  # names the columns that stand for an orientation in plots and spreads
_QUATERNION_STEP = 1e-5
_QUATERNIONS = (int(mujoco.mjtSensor.mjSENS_FRAMEQUAT), int(mujoco.mjtSensor.mjSENS_BALLQUAT))


def is_orientation(model: mujoco.MjModel, sensor: int) -> bool:
    """Return whether a sensor reads a quaternion."""
    return int(model.sensor_type[sensor]) in _QUATERNIONS


def first_orientation(quaternions: FloatArray) -> FloatArray:
    """The first known of measured orientations, (n, 4): what their rotation vectors start from."""
    known = quaternions[np.isfinite(quaternions).all(axis=1)]
    first: FloatArray = known[0] if len(known) else np.array([1.0, 0.0, 0.0, 0.0])
    return first


def with_rotation_vectors(model: mujoco.MjModel, sensordata: TimeSeries) -> TimeSeries:
    """Measurements with three columns more for every orientation.

    Args:
      model: The compiled model, whose sensors say what is an orientation.
      sensordata: The measurements.

    Returns:
      The same series with the rotation vectors from the first measured orientation to each, for
      every quaternion sensor called ``name`` as a signal ``name as a rotation``, rad.
    """
    mapping = dict(sensordata.signal_mapping or {})
    data = [sensordata.data]
    interpolation = list(sensordata.interpolation or ())
    width = sensordata.data.shape[1]
    for name, (_, columns) in list(mapping.items()):
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
        if sensor < 0 or not is_orientation(model, sensor) or len(columns) != 4:
            continue
        quaternions = sensordata.data[:, columns]
        first = np.tile(first_orientation(quaternions), (len(quaternions), 1))
        data.append(rotation_between(first, quaternions))
        mapping[name + ROTATION] = (SignalType.CustomObs, np.arange(width, width + 3))
        interpolation += ["linear"] * 3
        width += 3
    if len(data) == 1:
        return sensordata
    return TimeSeries(
        sensordata.times,
        np.hstack(data),
        mapping,
        tuple(interpolation) if sensordata.interpolation else None,
    )


@dataclass(frozen=True)
class OrientationSamples:
    """The samples of a window, or of a batch, that are components of orientations."""

    samples: IndexArray  # which of the window's samples, (k,)
    columns: IndexArray  # first of the four columns of sensor data of each, (k,)
    components: IndexArray  # which component of the rotation vector each is, (k,)
    measured: FloatArray  # the measured quaternions, (k, 4)

    @classmethod
    def joined(cls, parts: Sequence[OrientationSamples], firsts: IndexArray) -> OrientationSamples:
        """Those of several windows, given where the samples of each begin, (w,)."""
        return cls(
            np.concatenate([a.samples + b for a, b in zip(parts, firsts, strict=True)]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.components for part in parts]),
            np.concatenate([part.measured for part in parts]),
        )

    def residual(self, data: FloatArray, weights: RowWeights) -> FloatArray:
        """Components of the rotations from measured to predicted orientations.

        Args:
          data: Sensor data of one or several rollouts, (..., steps, nsensordata).
          weights: The map from rows to all samples of the window.

        Returns:
          Shape (..., k), rad.
        """
        predicted = self._predicted(data, weights)
        measured = np.broadcast_to(self.measured, predicted.shape)
        turned = rotation_between(measured.reshape(-1, 4), predicted.reshape(-1, 4))
        turned = turned.reshape(*predicted.shape[:-1], 3)
        return self._own(turned)

    def slope(self, data: FloatArray, weights: RowWeights) -> FloatArray:
        """Derivatives of :meth:`residual` by the interpolated quaternions, (k, 4).

        Args:
          data: Sensor data of one rollout, (steps, nsensordata).
          weights: The map from rows to all samples of the window.
        """
        predicted = self._predicted(data, weights)
        slopes = []
        for step in _QUATERNION_STEP * np.eye(4):
            ahead, behind = (
                rotation_between(self.measured, predicted + side * step) for side in (1.0, -1.0)
            )
            slopes.append(self._own((ahead - behind) / (2.0 * _QUATERNION_STEP)))
        return np.stack(slopes, axis=-1)

    def _own(self, turned: FloatArray) -> FloatArray:
        """The component that each sample is of rotation vectors (..., k, 3)."""
        components = np.broadcast_to(self.components[:, np.newaxis], (*turned.shape[:-1], 1))
        found: FloatArray = np.take_along_axis(turned, components, -1)[..., 0]
        return found

    def _predicted(self, data: FloatArray, weights: RowWeights) -> FloatArray:
        """The quaternions between the rows, (..., k, 4)."""
        rows = weights.rows[self.samples][:, :, np.newaxis]
        columns = self.columns[:, np.newaxis, np.newaxis] + np.arange(4)
        nearby = data[..., rows, columns]  # (..., k, 4 rows, 4)
        # q and -q are the same; rows of one stretch must agree before they are averaged.
        facing = np.sum(nearby * nearby[..., :1, :], axis=-1, keepdims=True)
        nearby = np.where(facing < 0.0, -nearby, nearby)
        predicted: FloatArray = np.einsum("...krc,kr->...kc", nearby, weights.weights[self.samples])
        return predicted


_NONE = np.zeros(0, dtype=np.intp)
NO_ORIENTATIONS = OrientationSamples(_NONE, _NONE, _NONE, np.zeros((0, 4)))
