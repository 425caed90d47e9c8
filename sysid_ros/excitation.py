# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands for a robot whose motion reveals its parameters.

Pure functions of time: a :class:`Reference` (multisine or table), a :class:`Playback` that starts
and stops it softly, and :func:`check_limits` before anything moves. What watches the robot while
it moves is :mod:`sysid_ros.joint_monitor`; the ``excite`` node only carries numbers to a topic.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import SysidError


class ExcitationError(SysidError):
    """A motion that cannot be planned, read, or played within its limits."""


class Reference(Protocol):
    """A command as a function of time, for ``n`` joints over ``duration`` seconds."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Joint names, in the order of the values."""

    @property
    def duration(self) -> float:
        """Length in seconds."""

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) seconds after the start, clipped to the duration."""


@dataclass(frozen=True)
class Multisine:
    """A sum of sines per joint, periodic in one period of its lowest frequency."""

    joints: tuple[str, ...]
    duration: float  # s
    center: FloatArray  # (n,)
    frequencies: FloatArray  # (n, k) Hz
    amplitudes: FloatArray  # (n, k)
    phases: FloatArray  # (n, k) rad

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""
        clipped = np.clip(times, 0.0, self.duration)[:, None, None]
        angle = 2.0 * np.pi * self.frequencies * clipped + self.phases
        result: FloatArray = self.center + np.sum(self.amplitudes * np.sin(angle), axis=2)
        return result


@dataclass(frozen=True)
class TabulatedReference:
    """A recorded or planned trajectory, linear between its rows."""

    joints: tuple[str, ...]
    times: FloatArray  # (m,) s, starting at 0
    table: FloatArray  # (m, n)

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return float(self.times[-1])

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""
        columns = [np.interp(times, self.times, column) for column in self.table.T]
        return np.stack(columns, axis=1).astype(np.float64)


def read_trajectory(path: Path) -> TabulatedReference:
    """Read a trajectory from a CSV file with the header ``time,<joint>,<joint>...``.

    Args:
      path: The file; times in seconds, strictly increasing.

    Returns:
      The trajectory, its times shifted to start at zero.

    Raises:
      ExcitationError: The file is missing or is not such a table.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise ExcitationError(f"trajectory {path} cannot be read: {error}") from None
    if len(rows) < 3 or rows[0][0].strip() != "time" or len(rows[0]) < 2:
        raise ExcitationError(
            f"trajectory {path} needs a first line 'time,<joint>,...' and at least two rows"
        )
    try:
        table = np.array(rows[1:], dtype=np.float64)
    except ValueError as error:
        raise ExcitationError(f"trajectory {path} is not a table of numbers: {error}") from None
    if table.ndim != 2 or table.shape[1] != len(rows[0]) or not np.all(np.isfinite(table)):
        raise ExcitationError(f"trajectory {path} needs {len(rows[0])} finite numbers in every row")
    if not np.all(np.diff(table[:, 0]) > 0):
        raise ExcitationError(f"trajectory {path}: times must increase from row to row")
    names = tuple(name.strip() for name in rows[0][1:])
    return TabulatedReference(names, table[:, 0] - table[0, 0], table[:, 1:])


def design_multisine(
    joints: tuple[str, ...],
    lower: FloatArray,
    upper: FloatArray,
    rate_limit: FloatArray,
    *,
    duration: float,
    lowest: float = 0.1,
    highest: float = 2.0,
    fill: float = 0.8,
    seed: int = 0,
) -> Multisine:
    """Plan a multisine that fills the given range of each joint without leaving it.

    Every joint gets harmonics of its own (interleaved), so that no two joints move in proportion
    and their parameters stay apart. Amplitudes fall with frequency, which spends the velocity
    limit evenly. Of several random phase sets the one with the lowest peaks is taken, which lets
    the amplitudes grow the most.

    Args:
      joints: Names of the ``n`` joints.
      lower: Lowest command per joint, (n,).
      upper: Highest command per joint, (n,).
      rate_limit: Largest rate of change of the command per joint, (n,).
      duration: Length in seconds.
      lowest: Fundamental frequency in Hz.
      highest: No harmonic lies above this frequency in Hz.
      fill: Share of range and rate limit that may be used, above 0 and at most 1.
      seed: Seed of the phases.

    Returns:
      The planned motion.

    Raises:
      ExcitationError: The frequencies or ranges leave nothing to plan.
    """
    n = len(joints)
    if not np.all(np.isfinite(lower) & np.isfinite(upper)):
        raise ExcitationError("a multisine needs finite lower and upper limits for every joint")
    if duration <= 0 or lowest <= 0 or not 0 < fill <= 1:
        raise ExcitationError("duration and lowest must be positive and fill within (0, 1]")
    count = int(highest / lowest + 1e-9) // n
    if n == 0 or count < 1:
        raise ExcitationError(
            f"no harmonic of {lowest} Hz up to {highest} Hz is left for each of {n} joints; "
            "raise the highest frequency or lower the lowest"
        )
    orders = np.arange(1, n * count + 1).reshape(count, n).T
    frequencies = lowest * orders
    shape = 1.0 / orders
    times = np.arange(0.0, 1.0 / lowest, 1.0 / (20.0 * highest))
    phases, scale = _best_phases(
        frequencies, shape, times, 0.5 * (upper - lower) * fill, rate_limit * fill, seed
    )
    amplitudes = shape * scale[:, None]
    return Multisine(joints, duration, 0.5 * (lower + upper), frequencies, amplitudes, phases)


def _best_phases(
    frequencies: FloatArray,
    shape: FloatArray,
    times: FloatArray,
    reach: FloatArray,
    rate: FloatArray,
    seed: int,
    trials: int = 64,
) -> tuple[FloatArray, FloatArray]:
    """Phases (n, k) and scales (n,) that let each joint move the most within its limits."""
    generator = np.random.default_rng(seed)
    best_phases = np.zeros_like(frequencies)
    best_scale = np.zeros(len(frequencies))
    omega = 2.0 * np.pi * frequencies
    for _ in range(trials):
        phases = generator.uniform(0.0, 2.0 * np.pi, frequencies.shape)
        angle = omega[:, :, None] * times + phases[:, :, None]
        peak = np.abs(np.einsum("nk,nkt->nt", shape, np.sin(angle))).max(axis=1)
        fastest = np.abs(np.einsum("nk,nkt->nt", shape * omega, np.cos(angle))).max(axis=1)
        scale = np.minimum(reach / peak, rate / fastest)
        better = scale > best_scale
        best_scale = np.where(better, scale, best_scale)
        best_phases[better] = phases[better]
    return best_phases, best_scale


class Playback:
    """A reference with a soft start, a soft end and a soft stop at any time.

    The command is ``rest + w(s) * (reference(s) - rest)``: ``w`` rises smoothly from 0 to 1 in the
    first ``ramp`` seconds and falls back in the last ones, so the motion leaves from and returns
    to ``rest`` (the measured posture, or zero effort). :meth:`stop` slows the path time ``s`` to a
    halt within ``stop_time``, so that a position command brakes along its path; with ``release``
    the command also fades to ``rest``, as an effort must not stay.
    """

    def __init__(
        self,
        reference: Reference,
        rest: FloatArray,
        *,
        ramp: float = 2.0,
        stop_time: float = 0.3,
        release: bool = False,
    ) -> None:
        """Plan the playback.

        Args:
          reference: What to play.
          rest: Command (n,) before and after the motion.
          ramp: Length of the soft start and end in seconds, at most half of the duration.
          stop_time: Length of a soft stop in seconds.
          release: Whether a stop also fades the command to ``rest``.

        Raises:
          ExcitationError: The ramp is not positive or too long, or sizes disagree.
        """
        if not 0 < ramp <= reference.duration / 2 or stop_time <= 0:
            raise ExcitationError(
                f"a ramp of {ramp} s and a stop of {stop_time} s do not fit a motion of "
                f"{reference.duration} s: both must be positive, and two ramps must fit"
            )
        if len(rest) != len(reference.joints):
            raise ExcitationError(f"{len(rest)} rest values for {len(reference.joints)} joints")
        self.reference = reference
        self._rest = np.array(rest, dtype=np.float64)
        self._ramp = ramp
        self._stop_time = stop_time
        self._release = release
        self._stopped_at: float | None = None

    def stop(self, time: float) -> None:
        """Begin a soft stop at ``time``; later calls change nothing."""
        if self._stopped_at is None:
            self._stopped_at = time

    def finished(self, time: float) -> bool:
        """Return whether the command no longer changes after ``time``."""
        end = self.reference.duration
        if self._stopped_at is not None:
            end = min(end, self._stopped_at + self._stop_time)
        return time >= end

    def command(self, time: float) -> FloatArray:
        """Command (n,) at ``time`` seconds after the start."""
        path_time, hold = self._path_time(time)
        command: FloatArray = self._path(np.array([path_time]), hold if self._release else 1.0)[0]
        return command

    def planned(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) if no stop comes in between."""
        return self._path(times, 1.0)

    def _path(self, times: FloatArray, share: float) -> FloatArray:
        """Commands at path times, with only a share of the way from rest."""
        edge = np.minimum(times, self.reference.duration - times) / self._ramp
        weight = share * _smooth_step(edge)[:, None]
        result: FloatArray = self._rest + weight * (self.reference.values(times) - self._rest)
        return result

    def _path_time(self, time: float) -> tuple[float, float]:
        """Time along the reference, and the share (1 to 0) of the stop that is left."""
        time = min(max(time, 0.0), self.reference.duration)
        if self._stopped_at is None or time <= self._stopped_at:
            return time, 1.0
        braking = min(time - self._stopped_at, self._stop_time)
        path = self._stopped_at + braking - braking**2 / (2.0 * self._stop_time)
        share = 1.0 - float(_smooth_step(np.float64(braking / self._stop_time)))
        return min(path, self.reference.duration), share


def _smooth_step(x: npt.NDArray[np.float64] | np.float64) -> FloatArray:
    """Quintic from 0 to 1 with zero first and second derivatives at both ends."""
    x = np.clip(x, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x**2))


def check_limits(
    playback: Playback, lower: FloatArray, upper: FloatArray, rate_limit: FloatArray
) -> None:
    """Refuse a playback that would leave its limits, before anything moves.

    Args:
      playback: The motion, sampled here every millisecond.
      lower: Lowest command per joint, (n,).
      upper: Highest command per joint, (n,).
      rate_limit: Largest rate of change of the command per joint, (n,).

    Raises:
      ExcitationError: Names the joint, the time, the value and the limit.
    """
    step = 1e-3
    times = np.arange(0.0, playback.reference.duration, step)
    values = playback.planned(times)
    rates = np.abs(np.diff(values, axis=0)) / step
    # The tolerance forgives rounding, not planning.
    slack = 1e-6
    checks = (
        (values < lower - slack, values, lower, "goes below its lower limit"),
        (values > upper + slack, values, upper, "goes above its upper limit"),
        (rates > rate_limit * (1 + 1e-3), rates, rate_limit, "moves faster than its limit"),
    )
    for broken, data, limit, words in checks:
        if np.any(broken):
            row, column = np.argwhere(broken)[0]
            raise ExcitationError(
                f"the command of joint {playback.reference.joints[column]!r} {words} "
                f"{limit[column]:.4g} after {times[row]:.2f} s (it would be "
                f"{data[row, column]:.4g}); shrink the motion or lengthen its ramp"
            )
