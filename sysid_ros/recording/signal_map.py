"""The signal map: message fields of a bag become signals of the model.

:func:`map_recording` is the only way from a bag to a :class:`~.mapped.MappedRecording`. It refuses
data that cannot support a fit and says why, instead of repairing it silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import BagError, DataError
from sysid_ros.experiment.schema import Clock, Interpolation, SignalConfig, SignalKind
from sysid_ros.recording.bag import Recording
from sysid_ros.recording.columns import TopicColumns, read_columns
from sysid_ros.recording.dating import DatedRecording, DatedTopic, date_topics, source_of
from sysid_ros.recording.fields import FieldPath, parse_field
from sysid_ros.recording.mapped import MappedRecording, MappedSignal
from sysid_ros.recording.mapping_quality import mapping_warnings, topic_quality
from sysid_ros.recording.samples import check_samples, is_command, samples
from sysid_ros.recording.sampling import unknown_intervals

FloatArray = npt.NDArray[np.float64]

_LEAST_COMMAND_COVERAGE = 0.5  # of the recording; a control known for less is refused


@dataclass(frozen=True)
class _Range:
    """The part of the recording that is used, s from its start."""

    start: float
    end: float

    def contains(self, times: FloatArray) -> npt.NDArray[np.bool_]:
        inside: npt.NDArray[np.bool_] = (times >= self.start) & (times < self.end)
        return inside


def map_recording(
    recording: Recording,
    signals: Sequence[SignalConfig],
    *,
    clock: Clock,
    max_gap: float,
    name: str,
    start: float | None = None,
    end: float | None = None,
) -> MappedRecording:
    """Read the mapped fields of a recording as signals of the model.

    t = 0 is the first stamp of a measured signal's topic, by the clock it uses; ``start`` and
    ``end`` cut the recording but do not move t = 0. A command sent before is in force at t = 0.

    Args:
      recording: The open bag.
      signals: What to read.
      clock: Which of a message's times counts, where a signal does not say.
      max_gap: Longer intervals [s] without a sample are listed as gaps.
      name: The sequence's name, for tables and messages.
      start: Samples before this instant [s] are left out.
      end: Samples at or after this instant [s] are left out.

    Returns:
      The signals, each at its own instants.

    Raises:
      BagError: The bag is damaged or lacks a topic or its definition.
      DataError: A field is not in the message, empty, constant or not a number; there are fewer
        than two samples; the clocks have nothing in common; or commands are missing for most of
        the recording.
    """
    used = _Range(0.0 if start is None else start, np.inf if end is None else end)
    try:
        dated = date_topics(_read(recording, signals), signals, clock)
        span = _span(signals, dated, clock, used)
        mapped = [
            _signal(signal, dated.topics[source_of(signal, clock)], used, span, max_gap)
            for signal in signals
        ]
    except (BagError, DataError) as error:
        raise type(error)(f"{name}: {error}") from error
    quality = tuple(
        topic_quality(
            name, topic, recording.topics[source].promised, (used.start, used.end), max_gap
        )
        for (source, _), topic in dated.topics.items()
    )
    controls = tuple(signal for signal in mapped if signal.kind is SignalKind.ACTUATOR)
    warnings = [
        *recording.warnings,
        *mapping_warnings(dated, quality, controls, span.end - span.start),
    ]
    return MappedRecording(
        name=name,
        start_ns=dated.start_ns,
        duration=span.end,
        controls=controls,
        measured=tuple(signal for signal in mapped if signal.kind is not SignalKind.ACTUATOR),
        quality=quality,
        input_hash=recording.sha256(),
        warnings=tuple(f"{name}: {text}" for text in warnings),
    )


def _read(recording: Recording, signals: Sequence[SignalConfig]) -> dict[str, TopicColumns]:
    """Read every mapped field in one pass."""
    fields: dict[str, list[FieldPath]] = {}
    for signal in signals:
        recording.topic(signal.topic)
        paths = fields.setdefault(signal.topic, [])
        path = parse_field(signal.field)
        if path not in paths:
            paths.append(path)
    columns = read_columns(recording, fields)
    for topic, table in columns.items():
        if not len(table.log_ns):
            promised = recording.topics[topic].promised
            promise = f" although the bag promises {promised}" if promised else ""
            raise BagError(f"topic {topic} of {recording.path} holds no messages{promise}")
    return columns


def _span(
    signals: Sequence[SignalConfig], dated: DatedRecording, clock: Clock, used: _Range
) -> _Range:
    """Find from when to when anything is measured."""
    measured = {
        source_of(signal, clock) for signal in signals if signal.kind is not SignalKind.ACTUATOR
    }
    inside = [
        topic.times[used.contains(topic.times)]
        for source, topic in dated.topics.items()
        if source in measured or not measured
    ]
    inside = [times for times in inside if len(times)]
    if not inside:
        whole = max(float(topic.times[-1]) for topic in dated.topics.values())
        raise DataError(
            f"nothing was measured from {used.start:g} s to {used.end:g} s; "
            f"the recording has 0 to {whole:.3f} s"
        )
    return _Range(min(float(t[0]) for t in inside), max(float(t[-1]) for t in inside))


def _signal(
    signal: SignalConfig, topic: DatedTopic, used: _Range, span: _Range, max_gap: float
) -> MappedSignal:
    """Make one signal and check that it can be used."""
    held = _is_held(signal, topic.columns.msgtype)
    where = f"{signal.kind.value} {signal.name!r} ({signal.topic}, {signal.field})"
    column = topic.columns.paths.index(parse_field(signal.field))
    times, raw = samples(topic, column, where)
    times, raw = _cut(times, raw, used, held=held)
    check_samples(times, raw, where, constant_allowed=signal.kind is SignalKind.ACTUATOR)
    gaps = unknown_intervals(times, span.start, span.end, max_gap, held=held)
    unknown = sum(end - start for start, end in gaps)
    length = span.end - span.start
    if unknown > (1.0 - _LEAST_COMMAND_COVERAGE) * length:
        raise DataError(
            f"{where} is known for only {length - unknown:.3g} of {length:.3g} s, counting "
            f"intervals up to {max_gap:g} s; cut the sequence with start and end, raise max_gap, "
            "or leave the signal out"
        )
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
    times: FloatArray, values: FloatArray, used: _Range, *, held: bool
) -> tuple[FloatArray, FloatArray]:
    """Leave out what is not used; a held value stays in force across the cut."""
    inside = used.contains(times)
    before = np.flatnonzero(times < used.start)
    cut_times, cut_values = times[inside], values[inside]
    if held and len(before) and (not len(cut_times) or cut_times[0] > used.start):
        cut_times = np.concatenate([[used.start], cut_times])
        cut_values = np.concatenate([[values[before[-1]]], cut_values])
    return cut_times, cut_values
