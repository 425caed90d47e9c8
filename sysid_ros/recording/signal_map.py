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
from sysid_ros.recording.clocks import Stamps, choose_stamps, put_in_order
from sysid_ros.recording.columns import TopicColumns, read_columns
from sysid_ros.recording.fields import FieldPath, parse_field
from sysid_ros.recording.mapped import MappedRecording, MappedSignal
from sysid_ros.recording.quality import TopicQuality
from sysid_ros.recording.samples import check_samples, is_command, samples
from sysid_ros.recording.sampling import published_on_change, sampling, unknown_intervals

FloatArray = npt.NDArray[np.float64]

_LEAST_COMMAND_COVERAGE = 0.5  # of the recording; a control known for less is refused


@dataclass(frozen=True)
class _Dated:
    """A topic's messages dated by one clock."""

    columns: TopicColumns
    stamps: Stamps
    times: FloatArray  # (m,) s from the recording's start, one for each stamp


@dataclass(frozen=True)
class _Range:
    """The part of the recording that is used, s from its start."""

    start: float
    end: float

    def contains(self, times: FloatArray) -> npt.NDArray[np.bool_]:
        inside: npt.NDArray[np.bool_] = (times >= self.start) & (times < self.end)
        return inside


_Source = tuple[str, Clock]  # a topic and the clock asked for


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

    t = 0 is the earliest stamp among the mapped topics, each by the clock it uses; ``start`` and
    ``end`` cut the recording but do not move t = 0.

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
    used = _Range(-np.inf if start is None else start, np.inf if end is None else end)
    try:
        start_ns, dated = _date(_read(recording, signals), signals, clock)
        span = _span(signals, dated, clock, used)
        mapped = [
            _signal(signal, dated[_source(signal, clock)], used, span, max_gap)
            for signal in signals
        ]
    except (BagError, DataError) as error:
        raise type(error)(f"{name}: {error}") from error
    quality = tuple(
        _quality(recording, name, topic, one, used, max_gap) for (topic, _), one in dated.items()
    )
    controls = tuple(signal for signal in mapped if signal.kind is SignalKind.ACTUATOR)
    return MappedRecording(
        name=name,
        start_ns=start_ns,
        duration=span.end,
        controls=controls,
        measured=tuple(signal for signal in mapped if signal.kind is not SignalKind.ACTUATOR),
        quality=quality,
        input_hash=recording.sha256(),
        warnings=_warnings(recording, name, quality, controls, span),
    )


def _source(signal: SignalConfig, clock: Clock) -> _Source:
    return signal.topic, signal.clock or clock


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


def _date(
    columns: dict[str, TopicColumns], signals: Sequence[SignalConfig], clock: Clock
) -> tuple[int, dict[_Source, _Dated]]:
    """Date every topic by the clocks asked for and find the common start."""
    stamps = {
        (topic, wanted): put_in_order(*choose_stamps(columns[topic], wanted))
        for topic, wanted in dict.fromkeys(_source(signal, clock) for signal in signals)
    }
    _check_overlap(stamps)
    start_ns = min(int(one.ns[0]) for one in stamps.values())
    return start_ns, {
        source: _Dated(columns[source[0]], one, (one.ns - start_ns) / 1e9)
        for source, one in stamps.items()
    }


def _check_overlap(stamps: dict[_Source, Stamps]) -> None:
    """Refuse topics whose clocks have no instant in common."""
    latest = max(stamps, key=lambda source: int(stamps[source].ns[0]))
    earliest = min(stamps, key=lambda source: int(stamps[source].ns[-1]))
    late, early = stamps[latest], stamps[earliest]
    if late.ns[0] > early.ns[-1]:
        apart = (int(late.ns[0]) - int(early.ns[-1])) * 1e-9
        raise DataError(
            f"the times of {earliest[0]} ({early.clock.value}) end {apart:.6g} s before those of "
            f"{latest[0]} ({late.clock.value}) begin; if both were recorded together, date them "
            "by the same clock, such as 'clock: receive'"
        )


def _span(
    signals: Sequence[SignalConfig], dated: dict[_Source, _Dated], clock: Clock, used: _Range
) -> _Range:
    """Find from when to when anything is measured."""
    measured = {
        _source(signal, clock) for signal in signals if signal.kind is not SignalKind.ACTUATOR
    }
    firsts, lasts = [], []
    for source in measured or set(dated):
        times = dated[source].times
        times = times[used.contains(times)]
        if len(times):
            firsts.append(float(times[0]))
            lasts.append(float(times[-1]))
    if not firsts:
        whole = max(float(one.times[-1]) for one in dated.values())
        raise DataError(
            f"nothing was measured from {used.start:g} s to {used.end:g} s; "
            f"the recording has 0 to {whole:.3f} s"
        )
    return _Range(min(firsts), max(lasts))


def _signal(
    signal: SignalConfig, source: _Dated, used: _Range, span: _Range, max_gap: float
) -> MappedSignal:
    """Make one signal and check that it can be used."""
    held = _is_held(signal, source.columns.msgtype)
    where = f"{signal.kind.value} {signal.name!r} ({signal.topic}, {signal.field})"
    column = source.columns.paths.index(parse_field(signal.field))
    times, raw = samples(source.columns, source.stamps, source.times, column, where)
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


def _quality(
    recording: Recording, name: str, topic: str, source: _Dated, used: _Range, max_gap: float
) -> TopicQuality:
    times = source.times[used.contains(source.times)]
    spacing = sampling(times, max_gap)
    columns, stamps = source.columns, source.stamps
    on_change = is_command(columns.msgtype, "") and published_on_change(times, max_gap)
    return TopicQuality(
        sequence=name,
        topic=topic,
        msgtype=columns.msgtype,
        clock=stamps.clock.value,
        messages=len(columns.log_ns),
        promised=recording.topics[topic].promised,
        rate=spacing.rate,
        jitter=spacing.jitter,
        gaps=0 if on_change else spacing.gaps,
        longest_gap=spacing.longest_gap,
        duplicates=stamps.duplicates,
        backwards=stamps.backwards,
    )


def _warnings(
    recording: Recording,
    name: str,
    quality: Sequence[TopicQuality],
    controls: Sequence[MappedSignal],
    span: _Range,
) -> tuple[str, ...]:
    """Say in sentences what a reader of the results should know about the recording."""
    found = [f"{name}: {text}." for text in recording.warnings]
    for topic in quality:
        if topic.promised is not None and topic.messages != topic.promised:
            found.append(
                f"{name}: {topic.topic} was promised {topic.promised} messages by the bag "
                f"and {topic.messages} were read."
            )
        if topic.clock == Clock.RECEIVE.value and topic.msgtype and is_command(topic.msgtype, ""):
            found.append(
                f"{name}: {topic.topic} is dated by its receive time, which includes the "
                "recorder's queueing delay."
            )
    for control in controls:
        unknown = sum(end - start for start, end in control.gaps)
        if unknown > 0.0:
            found.append(
                f"{name}: actuator {control.name} is unknown for {unknown:.3g} of "
                f"{span.end - span.start:.3g} s; these stretches are left out."
            )
    return tuple(found)
