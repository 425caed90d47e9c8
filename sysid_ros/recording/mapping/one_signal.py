# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One signal of the model from the samples of its topic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.errors import DataError
from sysid_ros.recording.mapping.dating import DatedTopic
from sysid_ros.recording.mapping.gaps import held_in_pauses, unknown_intervals
from sysid_ros.recording.mapping.lost_commands import with_lost_commands
from sysid_ros.recording.mapping.mapped_recording import MappedSignal
from sysid_ros.recording.mapping.mapping_settings import Interpolation, SignalKind, SignalRequest
from sysid_ros.recording.mapping.repeats import first_readings
from sysid_ros.recording.mapping.samples import (
    are_measurements,
    check_samples,
    samples,
    steady_signal,
)
from sysid_ros.recording.mapping.sending_habits import SendingHabit
from sysid_ros.recording.mapping.turns import DEGREES, TURN, joined_turns, names_angle, within_one
from sysid_ros.recording.messages import (
    Components,
    headings,
    is_command,
    is_played,
    played,
    unit_quaternions,
)
from sysid_ros.time_intervals import Intervals, complement, inside, length

# Of the time in which a signal counts; one known for less is refused. A recorder on a bad wireless
# link may lose half, in bursts, and stretches between these tell as much as any.
_LEAST_COVERAGE = 0.2
_HELD_BY_DRIVES = re.compile("eff|torque|tau|force|current")
_STILL_FELT = 1.0  # s before a cut from which on inputs are kept: delayed ones act after it


@dataclass(frozen=True)
class Range:
    """A part of a recording, s from its start."""

    start: float
    end: float

    def contains(self, times: FloatArray) -> BoolArray:
        """Mark the times, (n,) in s, that lie in it."""
        contained: BoolArray = (times >= self.start) & (times < self.end)
        return contained


@dataclass(frozen=True)
class Part:
    """The part of a recording that all its signals are made of."""

    used: Range  # what was asked for
    span: Range  # from when to when anything is measured in it
    max_gap: float  # longer intervals [s] without a sample are gaps
    # whether this is a whole recording, in which a signal is not missing for most of the time, and
    # of which it is told whether it stays the same
    whole: bool
    # how commands were sent before, by signal, where this is the latest part of a longer recording
    habits: Mapping[str, SendingHabit] = field(default_factory=dict)


def map_signal(
    signal: SignalRequest,
    numbers: Components,
    topic: DatedTopic,
    masked: Intervals,
    part: Part,
    *,
    straight: bool,
) -> MappedSignal:
    """Make one signal and check that it can be used.

    Args:
      signal: What to read.
      numbers: The numbers that its field stands for.
      topic: The messages it comes from.
      masked: When the signal does not count [s]. Measurements made then are dropped. Commands
        stay, since a delayed one may reach out of a masked stretch, unless they are no numbers.
      part: The recording.
      straight: Whether it is no angle, whatever it looks like.

    Raises:
      DataError: The samples cannot support a fit.
    """
    where = f"{signal.kind.value} {signal.name!r} ({signal.topic}, {signal.field})"
    control = signal.kind is SignalKind.ACTUATOR
    if control and len(numbers.paths) > 1 and not numbers.weights:
        raise DataError(
            f"{where} is {len(numbers.paths)} numbers, {numbers.paths[0]} and so on; an actuator "
            "takes one"
        )
    msgtype = topic.columns.msgtype
    held = _is_held(signal, msgtype)
    played_back = numbers.paths[0] in topic.columns.trajectories
    times, raw = _recorded(topic, numbers, where)
    times, raw, repeats = _as_read(signal, times, raw)
    if numbers.heading:
        raw, numbers = headings(unit_quaternions(raw, where)), Components(numbers.paths[:1])
    single = not straight and (bool(numbers.weights) or len(numbers.paths) == 1)
    # from the recording's own beginning on
    raw, turns, turn = _without_turns(signal, raw) if single else (raw, 0, TURN)
    if numbers.weights:
        raw, numbers = numbers.summed(raw), Components(numbers.paths[:1])
    used, span = part.used, part.span
    kept = Range(used.start - _STILL_FELT, used.end) if control else used
    times, raw = _cut(times, raw, kept, held=held, joined=played_back)
    times, raw = _counting(times, raw, masked, where, only_unknown=control)
    check_samples(times, raw, where, least=1 if played_back or held else 2)
    habit = SendingHabit.of(times, raw, part.max_gap, part.habits.get(signal.name))
    lasting = played_back or (held and habit.on_change)
    if control and not played_back and is_command(msgtype, signal.field, signal.topic):
        times, raw = _as_sent(times, raw, part.max_gap, habit, held=held)
        lasting = lasting or habit.rests_in_pauses
    gaps = unknown_intervals(
        times, span.start, span.end, part.max_gap, masked=masked, lasting=lasting
    )
    if part.whole:
        _check_coverage(gaps, span, masked, part.max_gap, where)
    values = _in_model_units(raw, signal, numbers, where)
    return MappedSignal(
        kind=signal.kind,
        name=signal.name,
        times=times,
        values=values[:, 0] if len(numbers.paths) == 1 else values,
        held=held,
        noise=signal.noise,
        gaps=gaps,
        smooth=signal.interpolation is Interpolation.CUBIC,
        turns=turns,
        turn=turn,
        repeats=repeats,
        steady="" if control or not part.whole else steady_signal(raw, where),
        habit=habit if control and not part.whole else None,
    )


def _recorded(topic: DatedTopic, numbers: Components, where: str) -> tuple[FloatArray, FloatArray]:
    """The samples as they were recorded: (n,) s and (n, k)."""
    path = numbers.paths[0]
    if path not in topic.columns.trajectories:
        indices = [topic.columns.paths.index(one) for one in numbers.paths]
        return samples(topic, indices, where)
    found = topic.columns.trajectories[path]
    if not any(trajectory is not None and len(trajectory.offsets) for trajectory in found):
        raise DataError(f"{where}: none of {len(found)} trajectories moves it")
    times, values = played(topic.times, [found[row] for row in topic.stamps.rows])
    return times, values[:, np.newaxis]


def _as_read(
    signal: SignalRequest, times: FloatArray, raw: FloatArray
) -> tuple[FloatArray, FloatArray, int]:
    """Leave out samples that repeat an earlier reading; the third is how many these are.

    A torque is held until the next command, so that what repeats it may have been measured.
    """
    if signal.kind is SignalKind.ACTUATOR or _HELD_BY_DRIVES.search(signal.field):
        return times, raw, 0
    read = first_readings(raw)
    if read is None:
        return times, raw, 0
    return times[read], raw[read], int(np.count_nonzero(~read))


def _as_sent(
    times: FloatArray, raw: FloatArray, max_gap: float, habit: SendingHabit, *, held: bool
) -> tuple[FloatArray, FloatArray]:
    """Add to commands what is known in between: lost ones, and the last ones before pauses."""
    if held:
        times, raw = with_lost_commands(times, raw, max_gap)
    return held_in_pauses(times, raw, max_gap) if habit.rests_in_pauses else (times, raw)


def _without_turns(signal: SignalRequest, raw: FloatArray) -> tuple[FloatArray, int, float]:
    """Numbers (n, k) where angles that are told modulo a turn go on; their turns, and one."""
    if not _is_angle(signal):
        return raw, 0, TURN
    found, jumps, turn = raw.copy(), 0, TURN
    for column in found.T:
        told = signal.factor * column
        angles, turns = joined_turns(told)
        if turns:
            column[:], jumps = angles / signal.factor, jumps + turns
            turn = turn if within_one(told) else DEGREES
    return found, jumps, turn


def _counting(
    times: FloatArray, raw: FloatArray, masked: Intervals, where: str, *, only_unknown: bool
) -> tuple[FloatArray, FloatArray]:
    """Leave out samples of masked stretches, or of these only what is no number."""
    dropped = inside(times, masked)
    if only_unknown:
        dropped &= ~are_measurements(raw).all(axis=1)
    if not dropped.any():
        return times, raw
    if dropped.all():
        raise DataError(f"{where} has no sample while its enabled_when holds")
    return times[~dropped], raw[~dropped]


def _in_model_units(
    raw: FloatArray, signal: SignalRequest, numbers: Components, where: str
) -> FloatArray:
    """Apply scale and offset; orientations become unit quaternions instead."""
    values: FloatArray = signal.factor * raw + signal.offset
    if len(numbers.paths) == 4 * len(numbers.quaternions) and np.any(values != raw):
        raise DataError(f"{where} is an orientation; it takes no scale, unit or offset")
    for first in numbers.quaternions:
        four = slice(first, first + 4)
        values[:, four] = unit_quaternions(raw[:, four], where)
    return values * numbers.with_z_up(where) if signal.z_down else values


def _is_angle(signal: SignalRequest) -> bool:
    """Tell whether a signal may be an angle, which some drivers tell modulo one turn."""
    if signal.kind is SignalKind.SENSOR:  # of a force, a jump of 6 N is one
        return names_angle(signal.field)
    return signal.kind is SignalKind.QPOS


def _is_held(signal: SignalRequest, msgtype: str) -> bool:
    if signal.interpolation is not None:
        return signal.interpolation is Interpolation.HOLD
    if is_played(signal.field):
        return False
    return signal.kind is SignalKind.ACTUATOR and is_command(msgtype, signal.field, signal.topic)


def _cut(
    times: FloatArray, values: FloatArray, used: Range, *, held: bool, joined: bool
) -> tuple[FloatArray, FloatArray]:
    """Leave out what is not used; a held value, or a line between knots, reaches across the cut."""
    chosen = used.contains(times)
    if chosen.all():  # no copy: the signals of a topic share their times
        return times, values
    before = np.flatnonzero(times < used.start)
    cut_times, cut_values = times[chosen], values[chosen]
    if (held or joined) and len(before) and not np.any(cut_times == used.start):
        first = _between(times, values, used.start) if joined else values[before[-1:]]
        cut_times = np.concatenate([[used.start], cut_times])
        cut_values = np.concatenate([first, cut_values])
    if joined and times[0] < used.end <= times[-1]:
        cut_times = np.append(cut_times, used.end)
        cut_values = np.concatenate([cut_values, _between(times, values, used.end)])
    return cut_times, cut_values


def _between(times: FloatArray, values: FloatArray, at: float) -> FloatArray:
    """The value of lines between knots at an instant, (1, 1)."""
    return np.array([[np.interp(at, times, values[:, 0])]])


def _check_coverage(
    gaps: Intervals, span: Range, masked: Intervals, max_gap: float, where: str
) -> None:
    """Refuse a signal that is known for next to none of the time in which it counts."""
    counts = length(complement(masked, span.start, span.end))
    unknown = length(gaps)
    if unknown > (1.0 - _LEAST_COVERAGE) * counts:
        raise DataError(
            f"{where} is known for only {counts - unknown:.3g} of {counts:.3g} s, counting "
            f"intervals up to {max_gap:g} s; cut the sequence with start and end, raise max_gap, "
            "leave the signal out, or say with enabled_when when it counts"
        )
