# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Differences of measured and predicted signals, orientations as rotation vectors.

Orientations form no vector space: q and -q are the same, and the difference of their numbers
means nothing. Their difference here is the rotation vector that turns the prediction into the
measurement, in the predicted frame: ``log(conj(q_predicted) * q_measured)``, three components of
an angle in radians (Sola, Deray & Atchuthan 2018, "A micro Lie theory", eq. 26).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.signals.mappings import SignalMapping, SignalType, sensor_id


@dataclass(frozen=True)
class Block:
    """Columns of one signal that are compared in one way."""

    name: str  # the signal
    columns: IndexArray  # its columns in the data
    kind: str  # "number", "angle" (wraps at 2 pi) or "quaternion" (four columns, three differences)

    @property
    def width(self) -> int:
        """Number of difference columns."""
        return 3 if self.kind == "quaternion" else len(self.columns)


def blocks_of(model: Any, mapping: SignalMapping, wrapped: Collection[str] = ()) -> list[Block]:
    """Return the comparison of each signal.

    Args:
      model: The MjModel that has the signals.
      mapping: The data's columns.
      wrapped: Signals measured modulo one turn.

    Returns:
      Blocks in the mapping's order; a free joint's position gives two.
    """
    blocks = []
    for name, (kind, columns) in mapping.items():
        first = _quaternion_start(model, name, kind, len(columns))
        if first is None:
            blocks.append(Block(name, columns, "angle" if name in wrapped else "number"))
            continue
        if first:
            blocks.append(Block(name, columns[:first], "number"))
        blocks.append(Block(name, columns[first : first + 4], "quaternion"))
    return blocks


def difference(block: Block, measured: FloatArray, predicted: FloatArray) -> FloatArray:
    """Measured minus predicted, (n, block.width), NaN where either is."""
    if block.kind == "quaternion":
        return rotation_between(predicted[:, block.columns], measured[:, block.columns])
    delta = measured[:, block.columns] - predicted[:, block.columns]
    if block.kind == "angle":
        delta = np.remainder(delta + np.pi, 2.0 * np.pi) - np.pi
    return delta


def rotation_between(start: FloatArray, end: FloatArray) -> FloatArray:
    """Rotation vectors (n, 3) from quaternions ``start`` to ``end``, each (n, 4), w x y z.

    Quaternions need not be normalized; the shorter way round is taken.
    """
    with np.errstate(invalid="ignore"):
        between = quaternion_product(conjugate(start), end)
        scalar, vector = between[:, :1], between[:, 1:]
        vector = np.where(scalar < 0.0, -vector, vector)
        length = np.linalg.norm(vector, axis=1, keepdims=True)
        angle = 2.0 * np.arctan2(length, np.abs(scalar))
        # For small angles angle / length tends to 2 / scalar.
        factor = np.where(
            length > 1e-12,
            angle / np.where(length > 0.0, length, 1.0),
            2.0 / np.where(scalar != 0.0, np.abs(scalar), 1.0),
        )
        rotation: FloatArray = factor * vector
    return rotation


def conjugate(quaternions: FloatArray) -> FloatArray:
    """The reverse of rotations, (..., 4), w x y z."""
    return np.asarray(quaternions * np.array([1.0, -1.0, -1.0, -1.0]))


def quaternion_product(first: FloatArray, second: FloatArray) -> FloatArray:
    """The products of quaternions, (..., 4), w x y z."""
    w0, v0 = first[..., :1], first[..., 1:]
    w1, v1 = second[..., :1], second[..., 1:]
    scalar = w0 * w1 - np.sum(v0 * v1, axis=-1, keepdims=True)
    return np.concatenate([scalar, w0 * v1 + w1 * v0 + np.cross(v0, v1)], axis=-1)


def rotated(quaternions: FloatArray, vectors: FloatArray) -> FloatArray:
    """Vectors (..., 3) turned by unit quaternions (..., 4), w x y z."""
    scalar, axis = quaternions[..., :1], quaternions[..., 1:]
    half = scalar * vectors + np.cross(axis, vectors)
    return np.asarray(vectors + 2.0 * np.cross(axis, half))


def without_sign_jumps(quaternions: FloatArray) -> FloatArray:
    """Quaternions (n, 4) without jumps between q and -q, which are the same orientation."""
    along = np.sum(quaternions[1:] * quaternions[:-1], axis=1)
    signs = np.cumprod([1.0, *np.where(along < 0.0, -1.0, 1.0)])
    return np.asarray(quaternions * signs[:, None])


def _quaternion_start(model: Any, name: str, kind: SignalType, width: int) -> int | None:
    """At which of a signal's columns a quaternion starts, if one does."""
    if kind is SignalType.MjSensor:
        index = sensor_id(model, name)
        types = (int(mujoco.mjtSensor.mjSENS_FRAMEQUAT), int(mujoco.mjtSensor.mjSENS_BALLQUAT))
        return 0 if index >= 0 and int(model.sensor_type[index]) in types else None
    if kind is SignalType.MjStateQPos:
        return {4: 0, 7: 3}.get(width)
    return None
