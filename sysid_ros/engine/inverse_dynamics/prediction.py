# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The torque that parameters predict, split into where it comes from, and its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import INERTIAL
from sysid_ros.engine.regressor import (
    LAW_KINDS,
    Filters,
    Motion,
    Recording,
    Regressor,
    SmoothStretch,
    all_stretches,
    row_weights,
    smooth,
    thin,
)
from sysid_ros.errors import DataError

_CHUNK = 2000
_FRICTION = (
    "damping", "damping2", "damping3", "frictionloss", "tendon_damping", "tendon_frictionloss",
    *LAW_KINDS,
)  # fmt: skip


@dataclass(frozen=True)
class TorquePrediction:
    """Filtered torque of one stretch, each part (rows, nv) in N m or N."""

    times: FloatArray  # (rows,) s on the recording's clock
    velocity: FloatArray  # of the joints, rad/s or m/s
    measured: FloatArray  # NaN where unknown
    gravity: FloatArray  # what holds the robot still
    # what accelerates it, Coriolis and centrifugal torque and armature included
    inertia: FloatArray
    friction: FloatArray  # viscous and dry
    other: FloatArray  # springs, offsets, and what the model adds besides
    recording: int  # the number of the recording

    @property
    def total(self) -> FloatArray:
        """The whole predicted torque."""
        return self.gravity + self.inertia + self.friction + self.other


def root_mean_square(errors: Sequence[FloatArray]) -> FloatArray:
    """Root mean square of each column of all parts (n, nv), without NaN; (nv,), NaN if all are."""
    whole = np.concatenate(errors)
    count = np.isfinite(whole).sum(axis=0)
    return np.where(count > 0, np.sqrt(np.nansum(whole**2, axis=0) / np.maximum(count, 1)), np.nan)


def predict(
    regressor: Regressor,
    stretches: Sequence[SmoothStretch],
    filters: Filters,
    theta: FloatArray,
    gains: FloatArray | None = None,
) -> tuple[TorquePrediction, ...]:
    """Torque at the rows of a fit.

    Args:
      regressor: The robot's.
      stretches: Smoothed motion with filtered torque.
      filters: With which they were smoothed.
      theta: All parameters, (p,).
      gains: Factors of the measured torque, (nv,), by which it is divided.
    """
    return tuple(_one(regressor, s, filters, theta, gains) for s in stretches)


def torque_rmse(
    regressor: Regressor, recordings: Sequence[Recording], filters: Filters, theta: FloatArray
) -> FloatArray:
    """Root mean square of filtered torque errors, (nv,) N m or N; NaN where none was measured.

    Args:
      regressor: The robot's.
      recordings: Motion and torque, apart from those of the fit.
      filters: Of the fit, so that scores compare.
      theta: All parameters, (p,).

    Raises:
      DataError: No stretch without a gap is longer than the filters.
    """
    model = regressor.model
    cut = all_stretches(model, recordings)
    kept = [found for s in cut if (found := smooth(model, s, filters)) is not None]
    if not kept:
        raise DataError("no stretch without a gap is longer than the filters")
    parts = predict(regressor, kept, filters, theta)
    return root_mean_square([one.measured - one.total for one in parts])


def total_torques(
    regressor: Regressor, stretch: SmoothStretch, filters: Filters, sets: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Velocities at the rows of a stretch, (rows, nv), and the torque of each set of parameters.

    Args:
      regressor: The robot's.
      stretch: Smoothed motion.
      filters: With which it was smoothed.
      sets: All parameters, (sets, p).

    Returns:
      The second is (sets, rows, nv), N m or N.
    """

    def torques(motion: Motion) -> FloatArray:
        found = regressor.torques(motion, sets)
        known = regressor.known_torque(motion)
        return found if known is None else found + known[:, None]

    found = _filtered(stretch, filters, len(sets), torques)
    return found[-1], found[:-1]


def torque_parts(regressor: Regressor, motion: Motion, theta: FloatArray) -> FloatArray:
    """Gravity, inertia, friction and other torque at every instant, (n, 4, nv)."""
    kinds = regressor.columns.kinds
    inertial = np.array([kind in INERTIAL for kind in kinds])
    moving = inertial | np.array([kind in ("armature", "tendon_armature") for kind in kinds])
    friction = np.array([kind in _FRICTION for kind in kinds])
    still = Motion(motion.qpos, np.zeros_like(motion.qvel), np.zeros_like(motion.qacc))
    sets = np.where([inertial, moving, friction, ~(moving | friction)], theta, 0.0)
    found = regressor.torques(motion, sets)
    found[:, :1] = regressor.torques(still, sets[:1])
    found[:, 1] -= found[:, 0]
    known = regressor.known_torque(motion)
    if known is not None:
        found[:, 3] += known
    return found


def _one(
    regressor: Regressor,
    stretch: SmoothStretch,
    filters: Filters,
    theta: FloatArray,
    gains: FloatArray | None,
) -> TorquePrediction:
    parts = _filtered(stretch, filters, 4, lambda motion: torque_parts(regressor, motion, theta))
    gravity, inertia, friction, other, velocity = parts
    measured = stretch.torque if gains is None else stretch.torque / gains
    return TorquePrediction(
        stretch.times, velocity, measured, gravity, inertia, friction, other, stretch.recording
    )


def _filtered(
    stretch: SmoothStretch, filters: Filters, count: int, torques: Callable[[Motion], FloatArray]
) -> FloatArray:
    """Several torques at the rows of a stretch, and then its velocities, (count + 1, rows, nv).

    Args:
      stretch: Smoothed motion.
      filters: With which it was smoothed.
      count: Of torques.
      torques: These at n instants, (n, count, nv).
    """
    n, nv = stretch.motion.qvel.shape
    table = np.empty((n, count + 1, nv))
    table[:, -1] = stretch.motion.qvel
    for first in range(0, n, _CHUNK):
        part = slice(first, first + _CHUNK)
        table[part, :-1] = torques(Motion(*(signal[part] for signal in stretch.motion)))
    out = np.zeros((len(stretch.times), table[0].size))
    thin(row_weights(filters, stretch.inner), stretch.every, table.reshape(n, -1), out)
    return np.moveaxis(out.reshape(-1, count + 1, nv), 1, 0)
