# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured motion and torque, and their stretches without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import joint_parts
from sysid_ros.engine.signals import without_sign_jumps
from sysid_ros.errors import DataError
from sysid_ros.time_intervals import shortest_gap

_JITTER = 0.02  # of the usual interval; stamps that stray less are taken as even
_FEWEST = 64  # samples of a stretch
_BRIDGED = 0.02  # s without a sample, in which what rows are made of hardly changes


@dataclass(frozen=True)
class Recording:
    """One recording of a robot."""

    times: FloatArray  # (n,) s, increasing
    # (n, nq) measured joint positions in MuJoCo's coordinates: rad, m, unit quaternions
    qpos: FloatArray
    # (n, nv) generalised forces that actuators and known wrenches applied, N m or N; NaN where it
    # was not measured, or where contact or an unknown force makes it useless
    torque: FloatArray
    name: str = "recording"  # for messages
    # which parameters hold, see ``inverse_dynamics.FreeParameters`` (robot, payload)
    condition: str = ""


@dataclass(frozen=True)
class Stretch:
    """Evenly sampled signals without a gap."""

    start: float  # s, of the first sample, on the recording's clock
    step: float  # s
    qpos: FloatArray  # (n, nq), in which no quaternion jumps to its negative
    torque: FloatArray  # (n, nv), NaN where unknown
    recording: int  # the number of the recording

    def pieces(self, length: float, share: float) -> list[Stretch]:
        """Pieces, ``length`` s long, in the middle of parts as long as each other.

        Together they are a share of the stretch; where that is less than one piece, the whole.
        """
        n, samples = len(self.qpos), int(length / self.step)
        count = int(share * n / max(samples, 1))
        if count < 1:
            return [self]
        middles = (np.arange(count) + 0.5) * n / count
        starts = (middles - 0.5 * samples).astype(int)
        return [self.part(slice(a, a + samples)) for a in starts]

    def part(self, part: slice) -> Stretch:
        """Some consecutive samples, from ``part.start`` on."""
        return replace(
            self,
            start=self.start + self.step * part.start,
            qpos=self.qpos[part],
            torque=self.torque[part],
        )


def all_stretches(model: mujoco.MjModel, recordings: Sequence[Recording]) -> list[Stretch]:
    """The stretches of several recordings; see :func:`stretches_of`."""
    return [s for i, one in enumerate(recordings) for s in stretches_of(model, one, i)]


def stretches_of(model: mujoco.MjModel, recording: Recording, number: int = 0) -> list[Stretch]:
    """Cut a recording at its gaps and sample each stretch evenly.

    Stamps that stray are resampled, positions by cubic splines and torques linearly, and never
    across a gap. A stretch loses a filter's length at both ends, half a second and more, so that a
    few packets of a fast robot that got lost are no gap. Stretches of fewer than 64 samples are
    left out.

    Raises:
      DataError: Shapes or times contradict the model or each other, or a position is not finite.
    """
    _check(model, recording)
    recording = replace(recording, qpos=_without_sign_jumps(model, recording.qpos))
    times, intervals = recording.times, np.diff(recording.times)
    usual = float(np.median(intervals))
    gap = max(shortest_gap(times), _BRIDGED)
    ends = [*np.flatnonzero(intervals > gap) + 1, len(times)]
    found, first = [], 0
    for last in ends:
        if last - first >= _FEWEST:
            found.append(_even(recording, slice(first, last), usual, number))
        first = last
    return found


def _without_sign_jumps(model: mujoco.MjModel, qpos: FloatArray) -> FloatArray:
    """Positions whose quaternions do not jump to their negative, which is the same rotation."""
    found: FloatArray = qpos.copy()
    for part in joint_parts(model):
        if part.turns:
            found[:, part.places] = without_sign_jumps(found[:, part.places])
    return found


def _even(recording: Recording, part: slice, usual: float, number: int) -> Stretch:
    times = recording.times[part]
    step = float((times[-1] - times[0]) / (len(times) - 1))
    grid = times[0] + step * np.arange(len(times))
    qpos, torque = recording.qpos[part], recording.torque[part]
    if float(np.abs(times - grid).max()) > _JITTER * usual:
        grid = np.arange(times[0], times[-1], usual)
        step = usual
        import scipy  # its part for splines takes longer than a fit, and most recordings do without

        qpos = scipy.interpolate.CubicSpline(times, qpos, axis=0)(grid)
        torque = np.column_stack([np.interp(grid, times, one) for one in torque.T])
    return Stretch(float(times[0]), step, qpos, torque, number)


def _check(model: mujoco.MjModel, recording: Recording) -> None:
    n, name = len(recording.times), recording.name
    for signal, width in (("qpos", model.nq), ("torque", model.nv)):
        given = getattr(recording, signal).shape
        if given != (n, width):
            raise DataError(f"{name}: {signal} has shape {given}, the model needs {(n, width)}")
    if n < _FEWEST:
        raise DataError(f"{name}: {n} samples; inverse dynamics needs at least {_FEWEST}")
    if not np.all(np.diff(recording.times) > 0.0):
        raise DataError(f"{name}: times do not increase everywhere")
    if not np.all(np.isfinite(recording.qpos)):
        raise DataError(f"{name}: a position is not a finite number; leave such samples out")
