# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The cut-off of a low-pass on measured positions, from the positions themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import density

_SEGMENT = 4.0  # s of a stretch that one spectrum is estimated from, at least
_ABOVE_NOISE = 2.0  # motion and noise are equally strong where the spectrum is twice the noise
_SMOOTHED = 5  # values of a spectrum that decide together
_MARGIN = 1.5  # between the motion's end and the cut-off: what is left there still passes
_LOWEST = 2.0  # Hz
_SHORTEST = 64  # samples of a stretch that may tell of motion where longer ones do not
_BEYOND = 5.0  # times the range of those in which it rests: few samples of noise look like motion
_STILL = 1e-6  # rad or m: a coordinate whose motion is smaller than this or its noise does not move
_POWER = 0.999  # of the velocity's power lies below the speed's end
_RATE_SHARE = 0.2  # of the sampling rate, the cut-off at most
_BINS = 4  # per octave, of accelerations
_NO_MOTION = 30.0  # Hz, above which nobody moves a joint on purpose; noise is loudest there
_BUMP = 3.0  # times the least acceleration of noise so far: a motion, beyond what a spectrum strays
_COLOURED = 2.0  # times lower than where it meets the upper third: where noise begins


@dataclass(frozen=True)
class Cutoff:
    """A coordinate's low-pass and the reasons for it."""

    frequency: float  # Hz, where the low-pass has fallen to a half
    # Hz, where the position's spectrum reaches its noise floor; 0 for a coordinate that does not
    # move
    motion_end: float
    speed_end: float  # Hz, below which 99.9 % of the velocity's power above that floor lies
    noise_density: float  # one-sided density of the noise floor, rad^2/Hz or m^2/Hz
    spectrum: FloatArray  # frequencies [Hz] and densities, (2, k), for the report
    # whether the noise has that floor; that of stamps which stray grows where motion is
    white: bool = True

    def noise(self, rate: float) -> float:
        """Standard deviation of the samples' noise at a sampling rate [Hz], rad or m."""
        return float(np.sqrt(self.noise_density * rate / 2.0))


def choose_cutoff(signals: Sequence[FloatArray], rate: float) -> Cutoff:
    """The cut-off for one coordinate.

    The noise floor is the median density of the spectrum's upper third. The motion ends where,
    above its strongest frequency, the density first falls to twice that floor. Stamps that stray
    by a fraction of a period put noise into positions that has no such floor, since it falls
    towards the highest frequencies. A motion's acceleration falls as well, though, while that of
    any such noise grows with the frequency: where that begins much earlier, the motion ends there.

    Stretches too short for such a spectrum count where a coordinate rests in the longer ones and
    goes far beyond that in them, as joints do that are moved one by one.

    Args:
      signals: Evenly sampled positions of stretches, each (n,).
      rate: Hz.
    """
    longest = max(len(signal) for signal in signals)
    length = min(longest, max(256, int(_SEGMENT * rate)))
    used = [signal for signal in signals if len(signal) >= length]
    spectra = [density(s, rate, length) for s in used]
    frequency = spectra[0][0]
    share = np.array([len(signal) for signal in used]) / sum(len(signal) for signal in used)
    typical = _median_share(share, np.array([2 * len(signal) // length - 1 for signal in used]))
    power = share @ np.array([spectrum[1] for spectrum in spectra])
    floor = float(np.median(power[2 * len(power) // 3 :]))
    smooth = np.convolve(power, np.full(_SMOOTHED, 1.0 / _SMOOTHED), mode="same")
    peak = int(np.argmax(power))
    quiet = np.flatnonzero(smooth[peak:] < _ABOVE_NOISE * floor)
    end = float(frequency[peak + quiet[0]]) if quiet.size else float(frequency[-1])
    beyond_peak = float(frequency[min(peak + 1, len(frequency) - 1)])
    begin = max(_noise_begin(frequency, power, rate), beyond_peak)
    white = _COLOURED * begin >= end
    if not white:
        end = begin
        floor = float(np.median(power[(frequency >= end) & (frequency <= 4.0 * end)]))
    step, inside = float(frequency[1]), frequency <= end
    above = np.maximum(power - _ABOVE_NOISE * floor, 0.0)[inside]
    if float(above.sum()) * step <= max(0.5 * floor * rate, _STILL**2):
        rest = max(float(np.ptp(signal)) for signal in used)
        shorter = [
            signal for signal in signals
            if _SHORTEST <= len(signal) < length and np.ptp(signal) > _BEYOND * rest
        ]  # fmt: skip
        if shorter and (found := choose_cutoff(shorter, rate)).motion_end > 0.0:
            return found
        return Cutoff(_LOWEST, 0.0, 0.0, floor / typical, np.stack([frequency, power]), white)
    chosen = min(max(_MARGIN * end, _LOWEST), _RATE_SHARE * rate)
    speed = np.cumsum(above * frequency[inside] ** 2)
    fastest = float(frequency[np.searchsorted(speed, _POWER * speed[-1])])
    return Cutoff(chosen, end, fastest, floor / typical, np.stack([frequency, power]), white)


def _median_share(share: FloatArray, segments: FloatArray) -> float:
    """The median of estimated densities as a part of their mean (Wilson & Hilferty, 1931).

    A density from K independent segments is chi-squared with 2 K degrees of freedom; those that
    overlap by a half, in a Hann window, count as 9/11 each (Welch 1967).

    Args:
      share: Of each signal in the mean density, (n,).
      segments: Of each signal, (n,).
    """
    independent = np.maximum(1.0, 9.0 / 11.0 * segments)
    degrees = 2.0 / float(np.sum(share**2 / independent))
    return float((1.0 - 2.0 / (9.0 * degrees)) ** 3)


def _noise_begin(frequency: FloatArray, power: FloatArray, rate: float) -> float:
    """Hz, from which on the acceleration grows with the frequency, but for lines of a spectrum.

    The power is the density of positions at (k,) Hz.
    """
    octave = np.log2(frequency[1:] / frequency[1])
    number = (_BINS * octave).astype(np.intp)
    places = [np.flatnonzero(number == i) + 1 for i in np.unique(number)]
    surge = frequency**4 * power
    middle = np.array([float(np.median(surge[place])) for place in places])
    centre = np.array([float(frequency[place].mean()) for place in places])
    allowed = np.flatnonzero(centre >= min(_RATE_SHARE * rate, _NO_MOTION))
    least = int(allowed[np.argmax(middle[allowed])])
    for i in range(least, -1, -1):
        if middle[i] > _BUMP * middle[least]:
            break
        if middle[i] < middle[least]:
            least = i
    return float(centre[least])
