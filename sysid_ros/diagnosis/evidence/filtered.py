# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint motion and torque on one grid, through one filter, for inverse dynamics.

A filter applied to both sides of a linear equation leaves it true, so that positions can be
differentiated twice without drowning in noise (as in identification by inverse dynamics; Gautier,
1997). The dynamics are not quite linear in positions; the filter only has to leave the motion.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.diagnosis.evidence.finding import Change
from sysid_ros.diagnosis.evidence.recorded import PASSED_MOST, PASSED_SHARE, Recorded, Samples
from sysid_ros.engine.signals import density, level_step, zero_phase
from sysid_ros.time_intervals import shortest_gap

_LOWEST = 1.0  # Hz, of the low-pass
_MOTION = 0.95  # of the velocity's power is the motion ...
_PASSED = 3.0  # ... whose highest frequency, times this, still passes
_QUIET = 5  # values of a spectrum below the noise, where the motion ends
_OVER_NOISE = 10.0  # range of a motion over its noise; in less, noise passes for motion
_GRID = 8.0  # grid points per period of the low-pass
_ROWS = 1500  # instants that a test uses at most
_FEWEST = 8  # samples of a signal that a recording must have
_FADED = 1e-17  # of a step, that is left of it behind a low-pass: nothing beside rounding
_BLOCKS = 20  # stretches of time whose evidence is counted apart


@dataclass(frozen=True)
class _Stretch:
    """One recording's signals on its whole grid, and the places of the instants that are used."""

    step: float  # between the grid's instants [s]
    value: Mapping[str, FloatArray]  # (n,) by label
    rate: Mapping[str, FloatArray]  # first derivatives, (n,) by label
    second: Mapping[str, FloatArray]  # second derivatives, (n,) by label
    places: IndexArray  # (m,) of the instants that are used

    def low_passed(self, constants: Mapping[str, float]) -> _Stretch:
        """The same with signals behind low-passes of these time constants [s]."""
        value, rate, second = (
            {
                label: _low_passed(signal, self.step / constants[label])
                if label in constants else signal
                for label, signal in part.items()
            }
            for part in (self.value, self.rate, self.second)
        )  # fmt: skip
        return replace(self, value=value, rate=rate, second=second)

    def direction(self, label: str, least: float, cutoff: float) -> FloatArray:
        """The sign of a velocity through the low-pass that the signals have passed, (m,)."""
        raw = np.tanh(self.rate[label] / least)
        return np.asarray(_smooth(raw, cutoff, self.step)[self.places])

    def late(self, label: str, delay: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value and derivatives of a signal that takes effect later, (m,) each."""
        wanted = np.clip(self.places - delay / self.step, 0.0, len(self.value[label]) - 1.0)
        left = np.minimum(wanted.astype(np.intp), len(self.value[label]) - 2)
        part = wanted - left
        return (
            _hermite(self.value[label], self.step * self.rate[label], left, part),
            _between(self.rate[label], left, part),
            _between(self.second[label], left, part),
        )


@dataclass(frozen=True)
class Filtered:
    """All signals at the same n instants of all recordings."""

    value: Mapping[str, FloatArray]  # (n,) by label
    rate: Mapping[str, FloatArray]  # first derivatives, (n,) by label
    second: Mapping[str, FloatArray]  # second derivatives, (n,) by label
    block: IndexArray  # (n,) number of the stretch of time that an instant belongs to
    cutoff: float  # Hz, of the low-pass
    stretches: Sequence[_Stretch] = ()  # of which the instants are a part

    def thinned(self, most: int) -> Filtered:
        """The signals at so many of the instants at most, evenly."""
        chosen = np.zeros(len(self.block), dtype=np.bool_)
        chosen[np.linspace(0, len(chosen) - 1, min(most, len(chosen))).astype(int)] = True
        ends = np.cumsum([len(stretch.places) for stretch in self.stretches])
        parts = np.split(chosen, ends[:-1])
        stretches = [
            replace(stretch, places=stretch.places[part])
            for stretch, part in zip(self.stretches, parts, strict=True)
        ]
        value, rate, second = (
            {
                label: np.concatenate([getattr(one, name)[label][one.places] for one in stretches])
                for label in stretches[0].value
            }
            for name in ("value", "rate", "second")
        )
        return Filtered(value, rate, second, self.block[chosen], self.cutoff, stretches)

    def motion(self, labels: Sequence[str]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values of some signals with their first and second derivatives, (n, labels) each."""
        value, rate, second = (
            np.column_stack([part[label] for label in labels])
            for part in (self.value, self.rate, self.second)
        )
        return value, rate, second

    def direction(self, label: str, least: float) -> FloatArray:
        """The sign of a signal's derivative, through the same low-pass as all signals, (n,).

        Dry friction has it. Not filtered, it would change its sign much faster than the torques.

        Args:
          label: Of the signal.
          least: Derivative from which the sign is clear; it changes smoothly below.
        """
        parts = [one.direction(label, least, self.cutoff) for one in self.stretches]
        return np.concatenate(parts)

    def late(self, label: str, delay: float) -> FloatArray:
        """A signal's values if it takes effect later than its stamps by a delay [s], (n,)."""
        return np.concatenate([stretch.late(label, delay)[0] for stretch in self.stretches])

    def delayed(self, delays: Mapping[str, float]) -> Filtered:
        """The same with signals that take effect later than their stamps.

        A filter and a shift in time can change places, so that nothing is filtered anew.

        Args:
          delays: By label [s].
        """
        parts = {"value": dict(self.value), "rate": dict(self.rate), "second": dict(self.second)}
        for label, delay in delays.items():
            late = [stretch.late(label, delay) for stretch in self.stretches]
            for part, values in zip(parts.values(), zip(*late, strict=True), strict=True):
                part[label] = np.concatenate(values)
        return replace(self, value=parts["value"], rate=parts["rate"], second=parts["second"])

    def low_passed(self, constants: Mapping[str, float]) -> Filtered:
        """The same with signals that reach the robot through low-passes of first order.

        Filters can change places, so that the derivatives are low-passed as well.

        Args:
          constants: The time constants by label [s].
        """
        if not constants:
            return self
        stretches = [one.low_passed(constants) for one in self.stretches]
        return replace(self, stretches=stretches).thinned(len(self.block))

    def changed(self, changes: Iterable[Change]) -> Filtered:
        """Repaired signals, apart from delays."""
        value, rate, second = dict(self.value), dict(self.rate), dict(self.second)
        for change in changes:
            scale = {label: change.scale.get(label, 1.0) for label in value}
            source = {label: change.source(label) for label in value}
            value = {
                label: scale[label] * value[source[label]] + change.offset.get(label, 0.0)
                for label in value
            }
            rate = {label: scale[label] * rate[source[label]] for label in rate}
            second = {label: scale[label] * second[source[label]] for label in second}
        return replace(self, value=value, rate=rate, second=second)


def total_delays(changes: Iterable[Change]) -> dict[str, float]:
    """The delays that several repairs undo, by label [s]."""
    delays: dict[str, float] = {}
    for change in changes:
        for label, delay in change.delay.items():
            delays[label] = delays.get(label, 0.0) + delay
    return delays


def filtered(recorded: Recorded, labels: Sequence[str], fewest: int = 1) -> Filtered | None:
    """Filter signals and their derivatives.

    Args:
      recorded: What was recorded.
      labels: Which signals; recordings that lack one are left out.
      fewest: Instants that it takes.

    Returns:
      ``None`` where no recording is long enough, or all together are not.
    """
    used = [
        signals
        for signals in recorded.recordings
        if all(name in signals and len(signals[name].times) >= _FEWEST for name in labels)
    ]
    if not used:
        return None
    cutoff = _cutoff(recorded, labels, used)
    stretches: list[_Stretch] = []
    blocks: list[FloatArray] = []
    total = sum(_length(signals, labels) for signals in used)
    begun = 0.0
    for signals in used:
        one = _filter_one(signals, labels, cutoff)
        if one is not None:
            stretches.append(one)
            times = begun + one.step * one.places
            blocks.append(np.minimum(_BLOCKS * times / total, _BLOCKS - 1))
        begun += _length(signals, labels)
    if not stretches:
        return None
    block = np.concatenate(blocks).astype(np.intp)
    found = Filtered({}, {}, {}, block, cutoff, stretches).thinned(_ROWS)
    return found if len(found.block) >= fewest else None


def _smooth(values: FloatArray, cutoff: float, step: float) -> FloatArray:
    """Values on a grid, (..., n), through the low-pass of a cut-off [Hz]."""
    return zero_phase(values, min(0.99, 2.0 * cutoff * step), order=3)


def _low_passed(values: FloatArray, share: float) -> FloatArray:
    """Values behind a low-pass of first order, of which a step is a share of the time constant.

    Exact for values that are straight lines between instants, from rest. To import ``scipy.signal``
    for it would take half a second.
    """
    kept, least = float(np.exp(-share)), float(-np.expm1(-share) / share)
    passed: FloatArray = (1.0 - least) * values
    passed[1:] += (least - kept) * values[:-1]
    passed[0], span = values[0], 1
    while span < len(values) and (left := kept**span) > _FADED:  # of twice as many steps each time
        passed[span:] += left * passed[:-span]
        span *= 2
    return passed


def _between(values: FloatArray, left: IndexArray, part: FloatArray) -> FloatArray:
    """Values between places of a grid, linearly."""
    return np.asarray((1.0 - part) * values[left] + part * values[left + 1])


def _hermite(
    values: FloatArray, slopes: FloatArray, left: IndexArray, part: FloatArray
) -> FloatArray:
    """Values between places of a grid, by the cubic with the slopes (per place) at either end."""
    rise = values[left + 1] - values[left]
    first, last = slopes[left] - rise, rise - slopes[left + 1]
    straight = values[left] + part * rise
    return np.asarray(straight + part * (1.0 - part) * ((1.0 - part) * first + part * last))


def _cutoff(recorded: Recorded, labels: Sequence[str], used: list[Mapping[str, Samples]]) -> float:
    """Choose the low-pass's cut-off [Hz]: above the motion, and below what the rate resolves."""
    told = {*recorded.positions.values(), *itertools.chain(*recorded.poses.values())}
    names = [name for name in labels if name in told]
    rates, motions = [], []
    for signals in used:
        for name in names:
            times = signals[name].times
            rate = 1.0 / float(np.median(np.diff(times)))
            grid = np.arange(times[0], times[-1], 1.0 / rate)
            rates.append(rate)
            step = level_step([signals[name].values])
            motions.append(motion_bandwidth(signals[name].at(grid), rate, step))
    known = [motion for motion in motions if motion is not None]
    moving = _PASSED * float(np.median(known)) if known else PASSED_MOST
    return min(max(moving, _LOWEST), PASSED_MOST, PASSED_SHARE * min(rates, default=1.0))


def motion_bandwidth(position: FloatArray, rate: float, step: float | None = None) -> float | None:
    """Frequency [Hz] below which most of a motion's velocity lies.

    The highest third of the spectrum is taken for noise and subtracted everywhere; of a quantised
    signal at least its steps' power, spread up to the frequency at which levels are crossed.

    Args:
      position: (n,) evenly sampled.
      rate: Hz.
      step: Between the signal's levels; ``None`` for a continuous one.

    Returns:
      ``None`` where there is no motion above the noise, or too few samples.
    """
    if len(position) < 32:
        return None
    frequency, power = density(position, rate, min(len(position), max(256, int(8.0 * rate))))
    noise = float(np.median(power[2 * len(power) // 3 :]))
    low, high = np.percentile(position, [1.0, 99.0])
    if high - low < _OVER_NOISE * np.sqrt(0.5 * rate * noise):
        return None
    if step:
        crossings = float(np.mean(np.abs(np.diff(position)))) * rate / step
        noise = max(noise, step**2 / 12.0 / max(min(0.5 * rate, crossings), frequency[1]))
    top = _where_noise_begins(power, 3.0 * noise)
    speed = np.cumsum(np.maximum(power[:top] - 3.0 * noise, 0.0) * frequency[:top] ** 2)
    if not top or speed[-1] <= 0.0:
        return None
    return float(frequency[np.searchsorted(speed, _MOTION * speed[-1])])


def _where_noise_begins(power: FloatArray, level: float) -> int:
    """The first place, after the strongest, from which a few values are below a level.

    What exceeds it beyond is chance, which the square of the frequency would make large.
    """
    first = int(np.argmax(power))
    after = np.concatenate([power[first:], np.full(_QUIET, np.nan)])
    few = np.nanmean(np.lib.stride_tricks.sliding_window_view(after, _QUIET)[:-1], axis=1)
    quiet = np.flatnonzero(few < level)
    return first + int(quiet[0]) if len(quiet) else len(power)


def _length(signals: Mapping[str, Samples], labels: Sequence[str]) -> float:
    first, last = _span(signals, labels)
    return max(last - first, 0.0)


def _span(signals: Mapping[str, Samples], labels: Sequence[str]) -> tuple[float, float]:
    sampled = [signals[name] for name in labels if not signals[name].held]
    first = max(float(one.times[0]) for one in sampled)
    return first, min(float(one.times[-1]) for one in sampled)


def _filter_one(
    signals: Mapping[str, Samples], labels: Sequence[str], cutoff: float
) -> _Stretch | None:
    """One recording on its grid; ``None`` where it is too short."""
    first, last = _span(signals, labels)
    interval = 1.0 / (_GRID * cutoff)
    # On average: commands of several topics have all their instants, many next to each other.
    finest = min(np.ptp(own) / (len(own) - 1) for own in (signals[name].times for name in labels))
    fine = max(1, round(interval / finest))  # average down what is sampled more often
    step = interval / fine
    count = int((last - first) / step)
    edge = int(1.0 / (cutoff * step))  # where the filter has not settled, and no more is known
    if count < 4 * edge + 16:
        return None
    times: FloatArray = first + step * np.arange(count, dtype=np.float64)
    averaged = (signals[name].mean_around(times, step) for name in labels)
    smooth = np.stack([_smooth(one, cutoff, step) for one in averaged])
    rate = np.gradient(smooth, step, axis=1)
    second = np.zeros_like(smooth)
    second[:, 1:-1] = np.diff(smooth, n=2, axis=1) / step**2
    keep = _known(signals, labels, times, cutoff)
    keep[:edge] = keep[-edge:] = False
    keep &= np.arange(count) % fine == 0
    parts = [dict(zip(labels, part, strict=True)) for part in (smooth, rate, second)]
    return _Stretch(step, parts[0], parts[1], parts[2], np.flatnonzero(keep))


def _known(
    signals: Mapping[str, Samples], labels: Sequence[str], times: FloatArray, cutoff: float
) -> BoolArray:
    """Mark the instants around which no measured signal has a gap."""
    known = np.ones(len(times), dtype=np.bool_)
    for name in labels:
        one = signals[name]
        if one.held:
            continue
        longest = max(0.25 / cutoff, shortest_gap(one.times))
        for i in np.flatnonzero(np.diff(one.times) > longest):
            known &= (times < one.times[i] - 1.0 / cutoff) | (
                times > one.times[i + 1] + 1.0 / cutoff
            )
    return known
