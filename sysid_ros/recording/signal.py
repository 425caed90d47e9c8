"""One signal of the model from the samples of its topic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import DataError
from sysid_ros.experiment.schema import Interpolation, SignalConfig, SignalKind
from sysid_ros.recording.dating import DatedTopic
from sysid_ros.recording.fields import parse_field
from sysid_ros.recording.intervals import Intervals, complement, inside, length
from sysid_ros.recording.mapped import MappedSignal
from sysid_ros.recording.samples import check_samples, is_command, samples
from sysid_ros.recording.sampling import unknown_intervals

FloatArray = npt.NDArray[np.float64]

_LEAST_COVERAGE = 0.5  # of the time in which a signal counts; one known for less is refused


@dataclass(frozen=True)
class Range:
    """A part of a recording, s from its start."""

    start: float
    end: float

    def contains(self, times: FloatArray) -> npt.NDArray[np.bool_]:
        """Mark the times, (n,) in s, that lie in it."""
        contained: npt.NDArray[np.bool_] = (times >= self.start) & (times < self.end)
        return contained


def map_signal(
    signal: SignalConfig,
    topic: DatedTopic,
    used: Range,
    span: Range,
    masked: Intervals,
    max_gap: float,
) -> MappedSignal:
    """Make one signal and check that it can be used.

    Args:
      signal: What to read.
      topic: The messages it comes from.
      used: The part of the recording that is used.
      span: From when to when anything is measured in it.
      masked: When the signal does not count [s]. Measurements made then are dropped. Commands
        stay, since a delayed one may reach out of a masked stretch, unless they are no numbers.
      max_gap: Longer intervals [s] without a sample are gaps.

    Raises:
      DataError: The samples cannot support a fit.
    """
    held = _is_held(signal, topic.columns.msgtype)
    where = f"{signal.kind.value} {signal.name!r} ({signal.topic}, {signal.field})"
    column = topic.columns.paths.index(parse_field(signal.field))
    times, raw = samples(topic, column, where)
    times, raw = _cut(times, raw, used, held=held)
    control = signal.kind is SignalKind.ACTUATOR
    dropped = inside(times, masked) & (~np.isfinite(raw) if control else True)
    times, raw = times[~dropped], raw[~dropped]
    if not len(times) and dropped.any():
        raise DataError(f"{where} has no sample while its enabled_when holds")
    check_samples(times, raw, where, constant_allowed=control)
    gaps = unknown_intervals(times, span.start, span.end, max_gap, held=held, masked=masked)
    _check_coverage(gaps, span, masked, max_gap, where)
    return MappedSignal(
        kind=signal.kind,
        name=signal.name,
        times=times,
        values=signal.scale * raw + signal.offset,
        held=held,
        noise=signal.noise,
        gaps=gaps,
    )


def _is_held(signal: SignalConfig, msgtype: str) -> bool:
    if signal.interpolation is not None:
        return signal.interpolation is Interpolation.HOLD
    return signal.kind is SignalKind.ACTUATOR and is_command(msgtype, signal.field)


def _cut(
    times: FloatArray, values: FloatArray, used: Range, *, held: bool
) -> tuple[FloatArray, FloatArray]:
    """Leave out what is not used; a held value stays in force across the cut."""
    chosen = used.contains(times)
    before = np.flatnonzero(times < used.start)
    cut_times, cut_values = times[chosen], values[chosen]
    if held and len(before) and (not len(cut_times) or cut_times[0] > used.start):
        cut_times = np.concatenate([[used.start], cut_times])
        cut_values = np.concatenate([[values[before[-1]]], cut_values])
    return cut_times, cut_values


def _check_coverage(
    gaps: Intervals, span: Range, masked: Intervals, max_gap: float, where: str
) -> None:
    """Refuse a signal that is unknown for most of the time in which it counts."""
    counts = length(complement(masked, span.start, span.end))
    unknown = length(gaps)
    if unknown > (1.0 - _LEAST_COVERAGE) * counts:
        raise DataError(
            f"{where} is known for only {counts - unknown:.3g} of {counts:.3g} s, counting "
            f"intervals up to {max_gap:g} s; cut the sequence with start and end, raise max_gap, "
            "leave the signal out, or say with enabled_when when it counts"
        )
