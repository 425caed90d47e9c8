# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Velocities and accelerations of noisy positions, through filters that are stated.

Two low-passes stand between the recording and the equations, both zero-phase and finite
(:mod:`.smoothing_kernel`):

* the *motion filter*, one per coordinate, whose cut-off lies where the position's spectrum reaches
  its noise floor (:mod:`.cutoff`), between three and four times the row filter's: what it takes
  from the motion, measured torque keeps, and noise that it lets pass meets the row filter. Noise
  without a floor may ask for less. Velocity and acceleration are the exact derivatives of the
  smoothed position;
* the *row filter*, the same for both sides of tau = R(q, q', q'') theta, applied to measured torque
  and to every column of the regressor, which are then thinned. A linear filter on both sides of a
  linear equation leaves it true, whatever it does to the torque's steps at dry friction's changes
  of sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import joint_parts
from sysid_ros.engine.regressor.cutoff import Cutoff, choose_cutoff
from sysid_ros.engine.regressor.regressor import Motion
from sysid_ros.engine.regressor.smoothing_kernel import HALF_LENGTH, half_samples, smoothing_kernel
from sysid_ros.engine.regressor.torque_recording import Stretch
from sysid_ros.engine.signals import conjugate, quaternion_product
from sysid_ros.errors import DataError

_INNER_RATE = 12.0  # evaluations of the regressor per period of the highest cut-off
_PRODUCTS = 3.0  # of the highest frequency of velocities: the row filter's cut-off
_BEYOND = 4.0  # times the row filter's cut-off: the motion filter's at most
_BESIDE = 3.0  # times the row filter's cut-off: the motion filter's at least
_LOWEST = 2.0  # Hz
_ROW_RATE = 3.0  # rows per period of it that are kept; its stop band begins at twice the cut-off
INDEPENDENT = 2.0 / _ROW_RATE  # share of rows that are, behind the row filter


@dataclass(frozen=True)
class Filters:
    """The low-passes of a fit."""

    motion: FloatArray  # cut-off of each coordinate of qpos, (nq,) Hz; one value per quaternion
    rows: float  # cut-off of the row filter, Hz
    # how each cut-off was chosen, by coordinate; empty where it was given
    choices: Mapping[int, Cutoff]

    @property
    def reach(self) -> float:
        """Seconds on either side of a row that it is made of, at most."""
        return HALF_LENGTH * (1.0 / self.rows + 1.0 / float(self.motion.min()))


@dataclass(frozen=True)
class SmoothStretch:
    """Motion on a grid that is just fine enough for the row filter, and the torque as measured."""

    motion: Motion  # at the inner grid
    inner: float  # s between its instants
    every: int  # inner steps from one row that is kept to the next
    # (rows, nv) filtered torque at rows; NaN where the filter meets an unknown torque
    torque: FloatArray
    times: FloatArray  # (rows,) s on the recording's clock
    recording: int  # the number of the recording
    # (rows, nv, nodes) the same, later by several times; see :mod:`.torque_delay`
    shifted: FloatArray

    def later_than(self, time: float) -> SmoothStretch | None:
        """The rows behind an instant, s; ``None`` for none."""
        first = int(np.searchsorted(self.times, time, side="right"))
        if first == len(self.times):
            return None
        return replace(
            self,
            motion=Motion(*(part[first * self.every :] for part in self.motion)),
            torque=self.torque[first:],
            times=self.times[first:],
            shifted=self.shifted[first:],
        )


@dataclass(frozen=True)
class RowGrid:
    """The samples of an evenly sampled stretch at which rows lie."""

    edge: int  # samples on either side that the motion filters reach
    thin: int  # samples from one instant of the inner grid to the next
    reach: int  # inner steps on either side that the row filter reaches
    every: int  # inner steps from one row that is kept to the next

    @classmethod
    def of(cls, filters: Filters, step: float) -> RowGrid:
        """The grid of some filters for samples that are ``step`` s apart."""
        fastest = max(filters.rows, float(filters.motion.max()))
        thin = max(1, int(1.0 / (_INNER_RATE * fastest * step)))
        inner = thin * step
        edge = max(half_samples(float(c), step) for c in filters.motion)
        every = max(1, int(1.0 / (_ROW_RATE * filters.rows * inner)))
        return cls(edge, thin, half_samples(filters.rows, inner), every)

    @property
    def first(self) -> int:
        """The sample at which the first row lies."""
        return self.edge + self.thin * self.reach

    @property
    def apart(self) -> int:
        """Samples from one row to the next."""
        return self.thin * self.every


def choose_filters(
    model: mujoco.MjModel,
    stretches: Sequence[Stretch],
    motion_cutoff: float | None = None,
    row_cutoff: float | None = None,
) -> Filters:
    """The low-passes of a fit, from its data where they are not given.

    Args:
      model: The robot.
      stretches: All data.
      motion_cutoff: Hz, of every coordinate.
      row_cutoff: Hz; by default three times the frequency below which velocities lie, since
        Coriolis torques are products of velocities. What a joint does beyond is vibration that the
        rigid model knows nothing of.

    Raises:
      DataError: No joint moves.
    """
    rate = min(1.0 / stretch.step for stretch in stretches)
    cutoffs: FloatArray = np.zeros(model.nq)
    choices: dict[int, Cutoff] = {}
    for group in coordinate_groups(model):
        found = {i: choose_cutoff([_alike(s, rate).T[i] for s in stretches], rate) for i in group}
        choices |= found
        cutoffs[group] = max(one.frequency for one in found.values())
    if not any(one.speed_end for one in choices.values()):
        raise DataError(
            "no joint moves by more than its noise; inverse dynamics needs a motion that shows "
            "inertia, gravity and friction"
        )
    if row_cutoff is None:
        row_cutoff = max(_LOWEST, _PRODUCTS * max(one.speed_end for one in choices.values()))
    least = _BESIDE * row_cutoff if all(one.white for one in choices.values()) else 0.0
    cutoffs = np.clip(cutoffs, least, _BEYOND * row_cutoff)
    if motion_cutoff is not None:
        cutoffs = np.full(model.nq, motion_cutoff)
    return Filters(np.minimum(cutoffs, 0.3 * rate), min(row_cutoff, 0.3 * rate), choices)


def coordinate_groups(model: mujoco.MjModel) -> list[list[int]]:
    """Coordinates of qpos that share a cut-off: each alone, the four of a quaternion together."""
    groups: list[list[int]] = []
    for part in joint_parts(model):
        own = list(range(part.places.start, part.places.stop))
        groups += [own] if part.turns else [[i] for i in own]
    return groups


def smooth(
    model: mujoco.MjModel, stretch: Stretch, filters: Filters, shifts: FloatArray | None = None
) -> SmoothStretch | None:
    """Filter one stretch.

    Args:
      model: The robot.
      stretch: Its motion and torque.
      filters: The low-passes.
      shifts: (nv, nodes) s by which torque is taken later than motion; by default not at all.

    Returns:
      ``None`` where the stretch is shorter than the filters.
    """
    shifts = np.zeros((model.nv, 1)) if shifts is None else shifts
    step = stretch.step
    grid = RowGrid.of(filters, step)
    stretch = _with_torque(stretch, grid)
    n = len(stretch.qpos)
    edge, thin, reach, every = grid.edge, grid.thin, grid.reach, grid.every
    row_reach = half_samples(filters.rows, step) + int(np.ceil(np.abs(shifts).max() / step))
    count = (n - 2 * edge - 1) // thin + 1
    rows = (count - 2 * reach - 1) // every + 1
    if n <= 2 * edge or rows < 1:
        return None
    motion = _motion(model, stretch, filters, edge, thin)
    centres = grid.first + grid.apart * np.arange(rows)
    inside = (centres >= row_reach) & (centres < n - row_reach)
    if not inside.any():
        return None
    first = int(np.argmax(inside))  # without a shift all but rounding keeps every one
    centres = centres[inside]
    shifted = _filtered_torque(stretch.torque, filters.rows, step, centres, grid.apart, shifts)
    used = slice(first * every, (first + len(centres) - 1) * every + 2 * reach + 1)
    motion = Motion(*(part[used] for part in motion))
    times: FloatArray = (stretch.start + step * centres).astype(np.float64)
    torque = shifted[:, :, shifted.shape[2] // 2]
    return SmoothStretch(motion, thin * step, every, torque, times, stretch.recording, shifted)


def _with_torque(stretch: Stretch, grid: RowGrid) -> Stretch:
    """The part of a stretch that rows with a known torque need; all of it where none is known.

    What is held out is most of what is left out. Rows stay at the same instants.
    """
    known = np.flatnonzero(np.isfinite(stretch.torque).any(axis=1))
    if not known.size:
        return stretch
    first = max(0, (int(known[0]) - grid.first) // grid.apart * grid.apart)
    return stretch.part(slice(first, int(known[-1]) + grid.first + grid.apart + 1))


def row_weights(filters: Filters, inner: float) -> FloatArray:
    """The row filter on the inner grid, (2 reach + 1,), see :func:`smoothing_kernel`."""
    return smoothing_kernel(filters.rows, inner)


def _filtered_torque(
    torque: FloatArray,
    cutoff: float,
    step: float,
    centres: IndexArray,
    apart: int,
    shifts: FloatArray,
) -> FloatArray:
    """Torque at rows, (rows, nv, nodes); NaN within a filter's reach of an unknown torque."""
    from sysid_ros.engine.regressor import kernels

    found: FloatArray = np.empty((len(centres), *shifts.shape))
    one = np.empty((len(centres), 1))
    for j, column in enumerate(torque.T):
        known = np.isfinite(column)
        if not known.any():
            found[:, j] = np.nan
            continue
        filled, lost = np.where(known, column, 0.0), np.zeros(len(centres), dtype=np.bool_)
        for node, shift in enumerate(shifts[j]):
            weights = smoothing_kernel(cutoff, step, 0, float(shift))
            first = int(centres[0]) - len(weights) // 2
            kernels.weighted_windows(filled, weights[None], first, apart, one)
            found[:, j, node] = one[:, 0]
            if not known.all():
                touched = (weights != 0.0).astype(np.float64)
                kernels.weighted_windows(1.0 - known, touched[None], first, apart, one)
                lost |= one[:, 0] > 0.5
        found[lost, j] = np.nan
    return found


def _motion(
    model: mujoco.MjModel, stretch: Stretch, filters: Filters, edge: int, thin: int
) -> Motion:
    """Smoothed positions, velocities and accelerations on the inner grid."""
    count = (len(stretch.qpos) - 2 * edge - 1) // thin + 1
    grid = (edge, thin, count)
    parts = np.empty((3, count, model.nq))
    for i in range(model.nq):
        parts[:, :, i] = _filtered(stretch.qpos[:, i], filters.motion[i], stretch.step, grid)
    qvel, qacc = np.empty((count, model.nv)), np.empty((count, model.nv))
    for one in joint_parts(model):
        own = parts[:, :, one.places]
        position, velocity, acceleration = _rotation_rates(own) if one.turns else own
        parts[0, :, one.places] = position
        qvel[:, one.dofs], qacc[:, one.dofs] = velocity, acceleration
    return Motion(parts[0], qvel, qacc)


def _filtered(
    signal: FloatArray, cutoff: float, step: float, grid: tuple[int, int, int]
) -> FloatArray:
    """A smoothed signal and two derivatives at (first, every, count) samples, (3, count)."""
    from sysid_ros.engine.regressor import kernels

    first, every, count = grid
    weights = np.stack([smoothing_kernel(cutoff, step, order) for order in range(3)])
    level = float(signal.mean())  # whose derivative is zero but whose rounding error is not
    out: FloatArray = np.empty((count, 3))
    reach = weights.shape[1] // 2
    kernels.weighted_windows(
        np.ascontiguousarray(signal) - level, weights, first - reach, every, out
    )
    out[:, 0] += level
    return np.ascontiguousarray(out.T)


def thin(weights: FloatArray, every: int, rows: FloatArray, out: FloatArray) -> None:
    """Add a filtered signal, of which only every so many-th value is kept.

    Args:
      weights: (taps,).
      every: Steps between values that are kept.
      rows: (n, width).
      out: (m, width) with (m - 1) every + taps <= n.
    """
    from sysid_ros.engine.regressor import kernels  # numba takes half a second

    kernels.thin(weights, every, rows, out)


def _rotation_rates(parts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Unit quaternions, and angular velocity and acceleration in body axes, from parts (3, n, 4).

    From a smoothed quaternion z of any length and its derivatives: with p = z^-1 z' = (s, w / 2),
    w = 2 vec(p) and w' = 2 vec(z^-1 z'') - 2 s w.
    """
    z, first, second = parts
    square = np.sum(z**2, axis=1, keepdims=True)
    inverse = conjugate(z) / square
    rate, surge = quaternion_product(inverse, first), quaternion_product(inverse, second)
    omega = 2.0 * rate[:, 1:]
    return z / np.sqrt(square), omega, 2.0 * surge[:, 1:] - 2.0 * rate[:, :1] * omega


def _alike(stretch: Stretch, rate: float) -> FloatArray:
    """Positions at (about) one sampling rate for all stretches."""
    return stretch.qpos[:: max(1, round(1.0 / (stretch.step * rate)))]
