# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A multisine for each joint, with frequencies of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.excitation.limits import CommandLimits
from sysid_ros.excitation.reference import ExcitationError

_TRIALS = 64  # of random phases
_MOST_HARMONICS = 1000  # more than any motion needs
_INSTANTS = 20  # of a period of the highest frequency, at which limits are looked at


@dataclass(frozen=True)
class Multisine:
    """A sum of sines per joint, periodic in one period of its lowest frequency."""

    joints: tuple[str, ...]
    duration: float  # s
    center: FloatArray  # (n,)
    frequencies: FloatArray  # (n, k) Hz
    amplitudes: FloatArray  # (n, k)
    phases: FloatArray  # (n, k) rad
    rests: bool = False

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""
        clipped = np.clip(times, 0.0, self.duration)[:, None, None]
        angle = 2.0 * np.pi * self.frequencies * clipped + self.phases
        result: FloatArray = self.center + np.sum(self.amplitudes * np.sin(angle), axis=2)
        return result


def design_multisine(
    joints: tuple[str, ...],
    limits: CommandLimits,
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
      limits: What their commands may be.
      duration: Length in seconds.
      lowest: Fundamental frequency in Hz.
      highest: No harmonic lies above this frequency in Hz.
      fill: Share of the limits that may be used, above 0 and at most 1.
      seed: Seed of the phases.

    Raises:
      ExcitationError: The frequencies or ranges leave nothing to plan.
    """
    n = len(joints)
    lower, upper = limits.lower, limits.upper
    if not np.all(np.isfinite(lower) & np.isfinite(upper)):
        raise ExcitationError("a multisine needs finite lower and upper limits for every joint")
    if duration <= 0 or lowest <= 0 or not 0 < fill <= 1:
        raise ExcitationError(
            "a multisine's duration and lowest frequency must be positive and its fill above 0 and "
            f"at most 1, given {duration:g} s, {lowest:g} Hz and {fill:g}"
        )
    if not highest <= _MOST_HARMONICS * lowest:
        raise ExcitationError(
            f"{lowest} Hz up to {highest} Hz are more than {_MOST_HARMONICS} harmonics; lower the "
            "highest frequency or raise the lowest"
        )
    count = int(highest / lowest + 1e-9) // n
    if n == 0 or count < 1:
        raise ExcitationError(
            f"no harmonic of {lowest} Hz up to {highest} Hz is left for each of {n} joints; "
            "raise the highest frequency or lower the lowest"
        )
    orders = np.arange(1, n * count + 1).reshape(count, n).T
    frequencies = lowest * orders
    shape = 1.0 / orders
    instants = int(np.ceil(_INSTANTS * highest / lowest - 1e-9))
    reach = (0.5 * (upper - lower), limits.rate, limits.acceleration)
    phases, scale = _best_phases(orders, lowest, shape, instants, np.array(reach) * fill, seed)
    amplitudes = shape * scale[:, None]
    return Multisine(joints, duration, 0.5 * (lower + upper), frequencies, amplitudes, phases)


def _best_phases(
    orders: IntArray,
    lowest: float,
    shape: FloatArray,
    instants: int,
    reach: FloatArray,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Phases (n, k) and scales (n,) that let each joint move the most within ``reach``.

    ``reach`` (3, n) bounds the magnitudes of the motion and of its first and second derivatives,
    which are looked at in so many instants of a period, by the inverse Fourier transform.
    """
    generator = np.random.default_rng(seed)
    best_phases = np.zeros(orders.shape)
    best_scale = np.zeros(len(orders))
    omega = 2.0 * np.pi * lowest * orders
    derivatives = np.stack([shape, shape * omega, shape * omega**2])
    spectra = np.zeros((*derivatives.shape[:2], instants // 2 + 1), dtype=np.complex128)
    for _ in range(_TRIALS):
        phases = generator.uniform(0.0, 2.0 * np.pi, orders.shape)
        sines = derivatives * np.exp(1j * phases) * np.array([-1j, 1.0, -1j])[:, None, None]
        np.put_along_axis(spectra, np.broadcast_to(orders, sines.shape), sines, axis=2)
        waves = np.fft.irfft(spectra, instants, norm="forward") / 2.0
        scale = np.min(reach / np.abs(waves).max(axis=2), axis=0)
        better = scale > best_scale
        best_scale = np.where(better, scale, best_scale)
        best_phases[better] = phases[better]
    return best_phases, best_scale
