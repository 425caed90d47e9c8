# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signal map: message fields of a bag become signals of the model.

:func:`map_recording` is the only way from a bag to a
:class:`~.mapped_recording.MappedRecording`. It refuses data that cannot support a fit and says why,
instead of repairing it silently.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import BagError, DataError
from sysid_ros.recording.bags import Recording, TopicTypes, read_columns
from sysid_ros.recording.mapping.dating import (
    DatedRecording,
    Source,
    date_topics,
    set_forward,
    source_of,
)
from sysid_ros.recording.mapping.gaps import after_silences, silences
from sysid_ros.recording.mapping.mapped_recording import MappedRecording, MappedSignal
from sysid_ros.recording.mapping.mapping_settings import (
    MappingRequest,
    MaskRequest,
    SignalKind,
    SignalRequest,
)
from sysid_ros.recording.mapping.mapping_warnings import mapping_warnings
from sysid_ros.recording.mapping.masks import masked_stretches
from sysid_ros.recording.mapping.one_signal import Part, Range, map_signal
from sysid_ros.recording.mapping.sending_habits import SendingHabit
from sysid_ros.recording.mapping.simulation_time import CLOCK_FIELDS, CLOCK_TOPIC
from sysid_ros.recording.mapping.topic_quality import topic_quality
from sysid_ros.recording.messages import (
    CLOCK,
    Clock,
    Components,
    FieldPath,
    TopicColumns,
    numbers_of,
    parse_field,
)
from sysid_ros.time_intervals import Intervals, length, union, within


def map_recording(
    recording: Recording,
    settings: MappingRequest,
    *,
    name: str,
    start: float | None = None,
    end: float | None = None,
    straight: Collection[str] = (),
) -> MappedRecording:
    """Read the mapped fields of a recording as signals of the model.

    t = 0 is the first stamp of a measured signal's topic, by the clock it uses; ``start`` and
    ``end`` cut the recording but do not move t = 0. A command sent before is in force at t = 0.

    Args:
      recording: The open bag.
      settings: What to read; an experiment.
      name: The sequence's name, for tables and messages.
      start: Samples before this instant [s] are left out, but for inputs of the second before it,
        which act later where they are delayed.
      end: Samples at or after this instant [s] are left out.
      straight: Names of measured signals that are no angles, of which some tell one turn only.

    Returns:
      The signals, each at its own instants.

    Raises:
      BagError: The bag is damaged or lacks a topic or its definition.
      DataError: A field is not in the message, empty or not a number; there are fewer than two
        samples; the clocks have nothing in common; the signals never count; or commands
        are missing for most of the recording.
    """
    try:
        wanted = WantedFields.of(recording, settings)
        columns = read_columns(recording, wanted.fields)
        _check_messages(recording, columns)
    except (BagError, DataError) as error:
        raise type(error)(f"{name}: {error}") from error
    mapped = map_columns(
        columns,
        wanted,
        name=name,
        start=start,
        end=end,
        promised={topic: recording.topics[topic].promised for topic in columns},
        straight=straight,
    )
    odd = tuple(f"{name}: {text}" for text in recording.warnings)
    return replace(mapped, input_hash=recording.sha256(), warnings=(*odd, *mapped.warnings))


@dataclass(frozen=True)
class WantedFields:
    """The fields of a recording that signals and masks need."""

    settings: MappingRequest  # says what in the recording is what
    numbers: tuple[Components, ...]  # the numbers that each signal's field stands for
    fields: Mapping[str, tuple[FieldPath, ...]]  # the fields of each topic

    @classmethod
    def of(cls, recording: TopicTypes, settings: MappingRequest) -> WantedFields:
        """Find out what signals, and the conditions under which they count, need.

        Raises:
          BagError: The bag lacks a topic or its definition.
          DataError: A field is not in the topic's type.
        """
        signals = settings.signals
        numbers = tuple(_numbers(recording, signal) for signal in signals)
        return cls(settings, numbers, _fields(recording, signals, numbers, _masks(settings)))


def map_columns(
    columns: Mapping[str, TopicColumns],
    wanted: WantedFields,
    *,
    name: str,
    start: float | None = None,
    end: float | None = None,
    promised: Mapping[str, int | None] | None = None,
    start_ns: int | None = None,
    whole: bool = True,
    habits: Mapping[str, SendingHabit] | None = None,
    straight: Collection[str] = (),
) -> MappedRecording:
    """Make signals of the model of what was read from a recording; see :func:`map_recording`.

    Args:
      columns: What was read, by topic.
      wanted: What is to be made of it.
      name: As for :func:`map_recording`, like what follows.
      start: Seconds.
      end: Seconds.
      promised: How many messages the bag promises by topic, where it does.
      start_ns: Epoch nanoseconds of t = 0, where it is not the first stamp.
      whole: Whether this is a whole recording. Of a moment, nothing is said about its quality, and
        a signal may be missing.
      habits: How commands were sent before by signal, where this is not the recording's beginning.
      straight: As for :func:`map_recording`.

    Returns:
      The signals, without a hash of the bag.

    Raises:
      DataError: As :func:`map_recording`.
    """
    used = Range(0.0 if start is None else start, np.inf if end is None else end)
    settings = wanted.settings
    signals, clock, max_gap = settings.signals, settings.clock, settings.max_gap
    try:
        masks = _masks(settings)
        dated = date_topics(columns, signals, masks, clock, settings.clock_correction, start_ns)
        span = _span(signals, dated, clock, used)
        masked = [
            masked_stretches([*settings.enabled_when, *signal.enabled_when], dated, clock, max_gap)
            for signal in signals
        ]
        part = Part(used, span, max_gap, whole, habits or {})
        mapped = _mapped(wanted, dated, masked, part, straight)
    except (BagError, DataError) as error:
        raise type(error)(f"{name}: {error}") from error
    masked = [within(out, span.start, span.end) for out in masked]
    silent = silences([topic.times for topic in dated.topics.values()], max_gap)
    silent = within(silent, span.start, span.end)
    found = MappedRecording(
        name=name,
        start_ns=dated.start_ns,
        end=span.end,
        controls=tuple(
            replace(one, gaps=union([*one.gaps, *after_silences(sent, silent, span.end)]))
            for one, sent in zip(mapped, _sent(mapped, wanted, dated), strict=True)
            if one.kind is SignalKind.ACTUATOR
        ),
        measured=tuple(one for one in mapped if one.kind is not SignalKind.ACTUATOR),
        masked=union(stretch for out in masked for stretch in out),
        silent=silent,
    )
    if not whole:
        return found
    left_out = _longest(signals, masked, clock)
    quality = tuple(
        topic_quality(name, topic, count, (used.start, used.end), max_gap, left_out.get(source, ()))
        for source, topic in dated.topics.items()
        for count in [(promised or {}).get(source[0])]
    )
    told = mapping_warnings(dated, quality, found, span.end - span.start)
    warnings = tuple(f"{name}: {text}" for text in told)
    return replace(found, quality=quality, warnings=warnings)


def _mapped(
    wanted: WantedFields,
    dated: DatedRecording,
    masked: Sequence[Intervals],
    part: Part,
    straight: Collection[str],
) -> list[MappedSignal]:
    """The wanted signals; an error says if a clock was set forward, which may be its cause."""
    signals, clock = wanted.settings.signals, wanted.settings.clock
    topics = [dated.topics[source_of(signal, clock)] for signal in signals]
    each = zip(signals, wanted.numbers, topics, masked, strict=True)
    try:
        return [map_signal(*own, part, straight=own[0].name in straight) for own in each]
    except DataError as error:
        raise DataError(f"{error}{set_forward(dated)}") from error


def _sent(
    mapped: Sequence[MappedSignal], wanted: WantedFields, dated: DatedRecording
) -> Iterator[FloatArray]:
    """Times [s] at which signals were sent: a trajectory at once, whose points come afterwards."""
    settings = wanted.settings
    for one, signal, numbers in zip(mapped, settings.signals, wanted.numbers, strict=True):
        topic = dated.topics[source_of(signal, settings.clock)]
        yield topic.times if numbers.paths[0] in topic.columns.trajectories else one.times


def _numbers(recording: TopicTypes, signal: SignalRequest) -> Components:
    """The numbers that a signal's field stands for."""
    msgtype = recording.topic(signal.topic).msgtype
    return numbers_of(signal.field, msgtype, recording.types(signal.topic))


def _masks(settings: MappingRequest) -> list[MaskRequest]:
    own = (mask for signal in settings.signals for mask in signal.enabled_when)
    return [*settings.enabled_when, *own]


def _fields(
    recording: TopicTypes,
    signals: Sequence[SignalRequest],
    numbers: Sequence[Components],
    masks: Sequence[MaskRequest],
) -> dict[str, tuple[FieldPath, ...]]:
    """Every field of every topic that is needed."""
    fields: dict[str, dict[FieldPath, None]] = {}
    for signal, parts in zip(signals, numbers, strict=True):
        fields.setdefault(signal.topic, {}).update(dict.fromkeys(parts.paths))
    for mask in masks:
        recording.topic(mask.topic)
        fields.setdefault(mask.topic, {})[parse_field(mask.field)] = None
    clock = recording.topics.get(CLOCK_TOPIC)
    if clock is not None and clock.msgtype == CLOCK:
        fields.setdefault(CLOCK_TOPIC, {}).update(dict.fromkeys(CLOCK_FIELDS))
    return {topic: tuple(paths) for topic, paths in fields.items()}


def _check_messages(recording: Recording, columns: Mapping[str, TopicColumns]) -> None:
    """Refuse topics without messages."""
    for topic, table in columns.items():
        if not len(table.log_ns) and topic != CLOCK_TOPIC:
            promised = recording.topics[topic].promised
            promise = f" although the bag promises {promised}" if promised else ""
            raise BagError(f"topic {topic} of {recording.path} holds no messages{promise}")


def _longest(
    signals: Sequence[SignalRequest], masked: Sequence[Intervals], clock: Clock
) -> dict[Source, Intervals]:
    """Per topic what masks keep out of the one of its signals that loses most."""
    found: dict[Source, Intervals] = {}
    for signal, out in zip(signals, masked, strict=True):
        source = source_of(signal, clock)
        if length(out) >= length(found.get(source, ())):
            found[source] = out
    return found


def _span(
    signals: Sequence[SignalRequest], dated: DatedRecording, clock: Clock, used: Range
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
