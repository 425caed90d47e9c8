# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gains of drives whose set points are held, as samples of their torque show them.

While a set point is held, torque falls by what the joint moves times the drive's gains, and jumps
back with the next. Samples at one place of each interval have the same part of that sawtooth, which
looks like damping (of the drive's stiffness) and armature (of its damping) times up to half of the
time between samples. Stamps do not tell which part. Where a set point is held for three samples or
more, though, the gains show: most increments of torque are falls, which least absolute deviations
tell from the jumps, as from a torque that goes smoothly or stands still in between. Where it is
held for two, falls and jumps take turns, and gains are what every other increment has more of.
Where it is held for one, torque shows nothing, and gains have to be given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import SCALAR
from sysid_ros.engine.regressor.columns import Columns
from sysid_ros.engine.regressor.filtering import Filters
from sysid_ros.engine.regressor.smoothing_kernel import smoothing_kernel
from sysid_ros.engine.regressor.torque_recording import Stretch
from sysid_ros.errors import ExperimentError

_PIECES = 8  # of a joint's recordings
_SHORTEST, _LONGEST = 200, 1500  # increments in one
_FEWEST = 4  # pieces, whose scatter says how sure gains are
_SURE = 4.0  # standard errors
_MORE = 2.0  # standard errors, by which gains may be larger, as jumps make them small
_JUMPS = 3.0  # mean over median deviation; 1.2 of normal noise, 1.4 to 2.3 where nothing is held
_ROUNDS = 15  # of weights
_LEAST = 1e-3  # of the mean deviation, below which one counts no more


@dataclass(frozen=True)
class HeldSetPoints:
    """Gains of drives whose set points are held; zero where nothing shows any."""

    stiffness: FloatArray  # N m/rad or N/m, (nv,)
    damping: FloatArray  # N m s/rad or N s/m, (nv,)
    interval: float  # s from one sample of torque to the next

    def of_torque(self, gains: FloatArray) -> HeldSetPoints:
        """The same of torque itself, which is told times gains of degrees of freedom, (nv,)."""
        return replace(self, stiffness=self.stiffness / gains, damping=self.damping / gains)

    def looks_like(self, model: mujoco.MjModel, columns: Columns) -> FloatArray:
        """The most that samples at one place of each interval add to all parameters, (p,)."""
        found: FloatArray = np.zeros(len(columns))
        for joint in range(model.njnt):
            dof = int(model.jnt_dofadr[joint])
            for kind, gains in (("damping", self.stiffness), ("armature", self.damping)):
                if (joint, kind) in columns.place:
                    found[columns.place[joint, kind]] = 0.5 * self.interval * gains[dof]
        return found


def held_set_points(
    model: mujoco.MjModel, stretches: Sequence[Stretch], filters: Filters
) -> HeldSetPoints | None:
    """The gains of drives that hold set points; ``None`` where no joint's torque shows jumps.

    Args:
      model: The robot.
      stretches: Motion and torque as recorded.
      filters: The low-passes that suit them.
    """
    gains, twice, jumps = np.zeros((2, model.nv)), np.zeros((2, model.nv)), 0.0
    for joint in np.flatnonzero(np.isin(model.jnt_type, list(SCALAR))):
        place, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        pieces = list(_pieces(stretches, place, dof, filters))
        if len(pieces) < _FEWEST:
            continue
        found = np.array([_least_deviations(table, side) for table, side in pieces])
        usual = np.median(found, axis=0)
        errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        gains[:, dof] = np.maximum(usual + _MORE * errors, 0.0)[:2]
        twice[:, dof] = _of_turns(pieces)
        if usual[0] > _SURE * errors[0]:
            left = np.abs(np.concatenate([side - table @ usual for table, side in pieces]))
            jumps = max(jumps, float(left.mean() / max(np.median(left), 1e-300)))
    if jumps < _JUMPS:
        gains = twice
    if not gains.any():
        return None
    return HeldSetPoints(gains[0], gains[1], max(one.step for one in stretches))


def given_set_points(
    model: mujoco.MjModel,
    stretches: Sequence[Stretch],
    stiffness: Mapping[str, float],
    damping: Mapping[str, float],
) -> HeldSetPoints | None:
    """Drives with known gains by joint, whose torque is sampled once in each set point, if any.

    Raises:
      ExperimentError: A joint is not known, or is no hinge or slide.
    """
    if not stiffness and not damping:
        return None
    gains = np.zeros((2, model.nv))
    for kind, given in enumerate((stiffness, damping)):
        for name, gain in given.items():
            joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if joint < 0 or model.jnt_type[joint] not in SCALAR:
                raise ExperimentError(f"gains of a drive: the model has no hinge or slide {name!r}")
            gains[kind, model.jnt_dofadr[joint]] = gain
    return HeldSetPoints(gains[0], gains[1], max(one.step for one in stretches))


def _pieces(
    stretches: Sequence[Stretch], place: int, dof: int, filters: Filters
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield what motion and slow torque make of torque's increments, (n, 3), and these, (n,)."""
    whole = sum(len(one.torque) for one in stretches)
    for stretch in stretches:
        speed, surge = (smoothing_kernel(filters.motion[place], stretch.step, k) for k in (1, 2))
        slow = smoothing_kernel(filters.rows, stretch.step)
        edge, samples = max(len(speed), len(slow)) // 2, len(stretch.torque)
        wanted = max(1, round(_PIECES * samples / whole))
        length = min((samples - 2 * edge) // wanted, _LONGEST)
        if length < _SHORTEST:
            continue
        for first in np.linspace(edge, samples - edge - length, wanted).astype(int):
            own = slice(first - edge, first + length + edge)
            moved, torque = stretch.qpos[own, place], stretch.torque[own, dof]
            if not np.all(np.isfinite(torque)):
                continue
            parts = [_filtered(moved, speed, edge), _filtered(moved, surge, edge)]
            means = [-0.5 * stretch.step * (one[1:] + one[:-1]) for one in parts]
            smooth = np.diff(_filtered(torque, slow, edge))
            yield np.column_stack([*means, smooth]), np.diff(torque[edge : edge + length])


def _of_turns(pieces: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Gains (2,) of a drive that holds set points for two samples; zero where that is not sure.

    Which increments are jumps may change from piece to piece. A torque that is itself held for two
    samples has twice its slow increments in turn with none.
    """
    found, sure = [], []
    for table, side in pieces:
        turns = table * np.where(np.arange(len(side)) % 2, 1.0, -1.0)[:, None]
        both = np.column_stack([turns, table[:, 2]])
        scale = np.sqrt(np.mean(both**2, axis=0))
        if not np.all(scale > 0.0):
            return np.zeros(2)
        both = both / scale
        own = np.linalg.lstsq(both, side, rcond=1e-9)[0]
        left = float(np.var(side - both @ own))
        error = np.sqrt(left * np.diag(np.linalg.pinv(both.T @ both)))
        found.append(np.sign(own[0]) * own[:2] / scale[:2])
        sure.append(abs(own[0]) / max(float(error[0]), 1e-300))
    if float(np.median(sure)) < _SURE:
        return np.zeros(2)
    errors = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    return np.asarray(np.maximum(np.median(found, axis=0) + _MORE * errors, 0.0))


def _filtered(signal: FloatArray, weights: FloatArray, edge: int) -> FloatArray:
    """A filtered signal at all samples but those at its edges."""
    spare = edge - len(weights) // 2
    found: FloatArray = np.correlate(signal[spare : len(signal) - spare], weights, "valid")
    return found


def _least_deviations(table: FloatArray, side: FloatArray) -> FloatArray:
    """Factors (k,) of columns (n, k) with the least sum of absolute deviations from a side, (n,).

    By weighted least squares, again and again (Schlossmacher, Journal of the American Statistical
    Association 68, 1973).
    """
    scale = np.sqrt(np.mean(table**2, axis=0))
    scaled, weights = table / np.where(scale > 0.0, scale, 1.0), np.ones(len(side))
    found = np.zeros(table.shape[1])
    for _ in range(_ROUNDS):
        weighted = scaled * weights[:, None]
        found = np.linalg.lstsq(weighted.T @ scaled, weighted.T @ side, rcond=1e-12)[0]
        left = np.abs(side - scaled @ found)
        weights = 1.0 / np.maximum(left, _LEAST * left.mean() + 1e-300)
    return np.asarray(found / np.where(scale > 0.0, scale, 1.0))
