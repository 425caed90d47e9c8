# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The samples of one signal, and whether they can be used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.errors import DataError
from sysid_ros.recording.mapping.dating import DatedTopic

_LARGEST = 1e15  # in size, of any field that measures or commands something
_LEAST_TURNS = 20  # messages from which turns are told from chance
_TURNS = 5.0  # how much farther than the one before an earlier message's value may have been
_STEPS = 8.0  # steps of its own course that a message is away from another course, at least
_APART = 1e-3  # of all that a signal moves, by which two courses differ at the least
_ABOUT = 100  # messages that a step is compared with
_ROUNDED = 1e-6  # of the largest value, that single precision and interpolation round by
_JUMPY = ("effort", "linear_acceleration")
_SHARE = 0.1  # of the messages that change to another course, if two nodes publish
# Of the jumps, that come back if both courses go on for some messages each: else all but one half.
_BOTH_WAYS = 2.0 / 3.0
_GOES_ON = 0.5  # of its distance, by which a course moves at most from one visit to the next


def samples(topic: DatedTopic, columns: Sequence[int], where: str) -> tuple[FloatArray, FloatArray]:
    """Return times and values of the messages that have some fields.

    A topic that several publishers share may name different joints in each message; messages
    that do not name the joint are no samples of it. Of samples with equal stamps the one received
    first counts.

    Args:
      topic: The topic's messages.
      columns: Which of the fields.
      where: The signal and its source, for messages.

    Returns:
      (n,) strictly increasing times in seconds and (n, k) values as recorded.

    Raises:
      DataError: No message has the fields, or some left them empty.
    """
    table, rows = topic.columns, topic.stamps.rows
    present = np.all(table.present[:, columns][rows], axis=1)
    for absence in [table.absences[column] for column in columns]:
        if absence is not None and not present.any():
            raise DataError(f"{where}: {absence.reason}, in all {len(present)} messages")
        if absence is not None and absence.empty:
            raise DataError(
                f"{where}: {absence.reason}, in {np.count_nonzero(~present)} of {len(present)} "
                "messages"
            )
    times, values = topic.times, table.values[:, columns][rows]
    kept = present
    if not topic.distinct:
        kept[present] = _first_of_equal(times[present])
    if kept.all():  # then all signals of the topic share their times
        return times, values
    return times[kept], values[kept]


def count_duplicates(topic: DatedTopic) -> int:
    """Return how many samples of a topic's fields were dropped for a stamp that occurred before.

    Messages of several publishers may share a stamp and name different joints; none is dropped.
    """
    counts = [0]
    for column in topic.columns.present.T:
        times = topic.times[column[topic.stamps.rows]]
        counts.append(int(np.count_nonzero(~_first_of_equal(times))))
    return max(counts)


def count_conflicts(topic: DatedTopic) -> int:
    """Return how many samples of a field contradict another one with the same stamp."""
    rows = topic.stamps.rows
    counts = [0]
    for column in range(topic.columns.values.shape[1]):
        present = topic.columns.present[rows, column]
        values = topic.columns.values[rows[present], column]
        again = ~_first_of_equal(topic.times[present])[1:]
        counts.append(int(np.count_nonzero(again & (values[1:] != values[:-1]))))
    return max(counts)


def count_interleaved(topic: DatedTopic) -> int:
    """Return how many messages seem to change between the courses of two publishers.

    Of one publisher, the message before is the closest or nearly so. Of two that measure different
    things, in the order of the stamps, an earlier one of its own is closer by far, and the other's
    values go on as well. Values that mostly stay as they are, as speeds from an encoder's ticks do,
    tell nothing unless every message changes. Efforts and accelerations tell where nothing else is
    read only: they jump with every command, and where two messages come on each, as they do from a
    driver at twice the rate of its controller, that looks like turns.
    """
    rows = topic.stamps.rows
    counts = [0]
    steady = [k for k, path in enumerate(topic.columns.paths) if not str(path).startswith(_JUMPY)]
    for column in steady or range(topic.columns.values.shape[1]):
        present = topic.columns.present[rows, column]
        counts.append(_changes_of_course(topic.columns.values[rows[present], column]))
    return max(counts)


def _changes_of_course(values: FloatArray) -> int:
    """Count the messages that leave another one's course for an earlier one; 0 if by chance."""
    if len(values) < _LEAST_TURNS:
        return 0
    least = _ROUNDED * float(np.abs(values).max())  # what rests differs by that and tells nothing
    moves = (np.abs(values[3:] - values[3 - k : -k]) for k in (1, 2, 3))
    last, second, third = (np.where(move > least, move, 0.0) for move in moves)
    apart = _APART * float(np.ptp(values))  # less changes nothing, as a command's last digits
    if np.median(last) > max(_TURNS * np.median(second), apart):
        return len(values)
    earlier = np.minimum(second, third)
    own_step = float(np.median(np.minimum(last, earlier)))
    if own_step == 0.0:
        return 0
    steps = np.maximum(_usual_steps(np.minimum(last, earlier)), own_step)
    jumps = last > np.maximum(_STEPS * steps, apart)
    turns = (last > _TURNS * earlier) & jumps
    count = int(np.count_nonzero(turns))
    if count < max(_LEAST_TURNS, _SHARE * len(values)):
        return 0
    if count < _BOTH_WAYS * np.count_nonzero(jumps) and not _goes_on(values, turns):
        return 0
    return count


def _goes_on(values: FloatArray, turns: BoolArray) -> bool:
    """Tell whether what a course is left for is a course as well.

    Where a controller differentiates an encoder, each of its steps is a kick for one message.
    """
    back = np.flatnonzero(turns) + 3
    visited, away = values[back - 1], np.abs(values[back - 1] - values[back])
    return bool(np.median(np.abs(np.diff(visited)) / away[1:]) < _GOES_ON)


def _usual_steps(steps: FloatArray) -> FloatArray:
    """The median of steps (n,) about each: a current is quiet at rest and loud in motion."""
    count = max(1, len(steps) // _ABOUT)
    size, longer = divmod(len(steps), count)
    longest, rest = np.split(steps, [longer * (size + 1)])  # the first are longer by one
    parts = longest.reshape(longer, size + 1), rest.reshape(count - longer, size)
    return np.concatenate([np.repeat(np.median(one, axis=1), one.shape[1]) for one in parts])


def _first_of_equal(times: FloatArray) -> BoolArray:
    """Mark the first of each run of equal times."""
    first: BoolArray = np.diff(times, prepend=-np.inf) > 0.0
    return first


def are_measurements(values: FloatArray) -> BoolArray:
    """Tell which values something can have measured: no NaN, and nothing beyond 1e15."""
    sane: BoolArray = np.abs(values) <= _LARGEST
    return sane


def check_samples(times: FloatArray, values: FloatArray, where: str, *, least: int) -> None:
    """Refuse samples that cannot support a fit.

    Args:
      times: (n,) s.
      values: (n,) or (n, k) as recorded.
      where: The signal and its source, for messages.
      least: How many there must be; one is enough of a command that stays in force.

    Raises:
      DataError: There are fewer than that, or some are no numbers or absurd.
    """
    if len(values) < least:
        instants = f"{len(values)} instant{'s' * (len(values) != 1)}"
        raise DataError(f"{where} has samples at {instants} only; at least {least} are needed")
    table = values.reshape(len(values), -1)
    usable = are_measurements(table)
    bad = np.flatnonzero(~usable.all(axis=1))
    if len(bad):
        first = table[bad[0]][~usable[bad[0]]][0]
        is_bad = f"is beyond {_LARGEST:g} in" if np.isfinite(first) else "is not a number in"
        raise DataError(
            f"{where} {is_bad} {len(bad)} of {len(values)} samples, "
            f"first at {times[bad[0]]:.3f} s ({first})"
        )


def steady_signal(values: FloatArray, where: str) -> str:
    """Words that refuse values, (n,) or (n, k), that are all equal; none of others."""
    table = values.reshape(len(values), -1)
    if not np.all(table == table[0]):
        return ""
    shown = ", ".join(f"{value:g}" for value in table[0])
    return (
        f"{where} is constant ({shown} in all {len(values)} samples): "
        "a dead sensor or a wrong field; leave the signal out if it is right"
    )
