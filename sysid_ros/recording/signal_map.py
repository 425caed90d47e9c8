"""The signal map: message fields of a bag become signals of the model.

:func:`map_recording` is the only way from a bag to a :class:`~.mapped.MappedRecording`. It refuses
data that cannot support a fit and says why, instead of repairing it silently.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.errors import BagError, DataError
from sysid_ros.experiment.schema import (
    Clock,
    ClockCorrection,
    MaskConfig,
    SignalConfig,
    SignalKind,
)
from sysid_ros.recording.bag import Recording
from sysid_ros.recording.columns import TopicColumns, read_columns
from sysid_ros.recording.components import Components, components_of
from sysid_ros.recording.dating import DatedRecording, Source, date_topics, source_of
from sysid_ros.recording.fields import FieldPath, parse_field
from sysid_ros.recording.intervals import Intervals, length, union, within
from sysid_ros.recording.mapped import MappedRecording
from sysid_ros.recording.mapping_quality import mapping_warnings, topic_quality
from sysid_ros.recording.masks import masked_stretches
from sysid_ros.recording.signal import Range, map_signal
from sysid_ros.recording.simulation_time import CLOCK_FIELDS, CLOCK_TOPIC, CLOCK_TYPE


def map_recording(
    recording: Recording,
    signals: Sequence[SignalConfig],
    *,
    clock: Clock,
    max_gap: float,
    name: str,
    enabled_when: Sequence[MaskConfig] = (),
    clock_correction: ClockCorrection = ClockCorrection.NONE,
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
      enabled_when: What must hold for anything to count, besides each signal's own conditions.
      clock_correction: Whether stamps are translated to the recorder's clock.
      start: Samples before this instant [s] are left out.
      end: Samples at or after this instant [s] are left out.

    Returns:
      The signals, each at its own instants.

    Raises:
      BagError: The bag is damaged or lacks a topic or its definition.
      DataError: A field is not in the message, empty, constant or not a number; there are fewer
        than two samples; the clocks have nothing in common; the signals never count; or commands
        are missing for most of the recording.
    """
    used = Range(0.0 if start is None else start, np.inf if end is None else end)
    masks = [*enabled_when, *(mask for signal in signals for mask in signal.enabled_when)]
    try:
        numbers = [_numbers(recording, signal) for signal in signals]
        columns = _read(recording, signals, numbers, masks)
        dated = date_topics(columns, signals, masks, clock, clock_correction)
        span = _span(signals, dated, clock, used)
        masked = [
            masked_stretches([*enabled_when, *signal.enabled_when], dated, clock, max_gap)
            for signal in signals
        ]
        mapped = [
            map_signal(
                signal, parts, dated.topics[source_of(signal, clock)], used, span, out, max_gap
            )
            for signal, parts, out in zip(signals, numbers, masked, strict=True)
        ]
    except (BagError, DataError) as error:
        raise type(error)(f"{name}: {error}") from error
    masked = [within(out, span.start, span.end) for out in masked]
    left_out = _longest(signals, masked, clock)
    quality = tuple(
        topic_quality(
            name,
            topic,
            recording.topics[source[0]].promised,
            (used.start, used.end),
            max_gap,
            left_out.get(source, ()),
        )
        for source, topic in dated.topics.items()
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
        masked=union(stretch for out in masked for stretch in out),
        warnings=tuple(f"{name}: {text}" for text in warnings),
    )


def _numbers(recording: Recording, signal: SignalConfig) -> Components:
    """The numbers that a signal's field stands for."""
    msgtype = recording.topic(signal.topic).msgtype
    return components_of(parse_field(signal.field), msgtype, recording.types(signal.topic))


def _read(
    recording: Recording,
    signals: Sequence[SignalConfig],
    numbers: Sequence[Components],
    masks: Sequence[MaskConfig],
) -> dict[str, TopicColumns]:
    """Read every mapped field in one pass."""
    fields: dict[str, dict[FieldPath, None]] = {}
    for signal, parts in zip(signals, numbers, strict=True):
        fields.setdefault(signal.topic, {}).update(dict.fromkeys(parts.paths))
    for mask in masks:
        recording.topic(mask.topic)
        fields.setdefault(mask.topic, {})[parse_field(mask.field)] = None
    clock = recording.topics.get(CLOCK_TOPIC)
    if clock is not None and clock.msgtype == CLOCK_TYPE:
        fields.setdefault(CLOCK_TOPIC, {}).update(dict.fromkeys(CLOCK_FIELDS))
    columns = read_columns(recording, {topic: tuple(paths) for topic, paths in fields.items()})
    for topic, table in columns.items():
        if not len(table.log_ns) and topic != CLOCK_TOPIC:
            promised = recording.topics[topic].promised
            promise = f" although the bag promises {promised}" if promised else ""
            raise BagError(f"topic {topic} of {recording.path} holds no messages{promise}")
    return columns


def _longest(
    signals: Sequence[SignalConfig], masked: Sequence[Intervals], clock: Clock
) -> dict[Source, Intervals]:
    """Per topic what masks keep out of the one of its signals that loses most."""
    found: dict[Source, Intervals] = {}
    for signal, out in zip(signals, masked, strict=True):
        source = source_of(signal, clock)
        if length(out) >= length(found.get(source, ())):
            found[source] = out
    return found


def _span(
    signals: Sequence[SignalConfig], dated: DatedRecording, clock: Clock, used: Range
) -> Range:
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
    return Range(min(float(t[0]) for t in inside), max(float(t[-1]) for t in inside))
