# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Clocks that are set forward in mid-recording: lasting steps between stamps and receipt.

What a message takes from stamp to receipt goes up at once where a recorder is held up, and comes
back as its queue empties. Where it stays, one of the two clocks was set. A clock that is set back
shows in its own stamps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray

_LEAST = 0.05  # s; from stamp to receipt a message rarely takes longer
_DECISIVE = 3.0  # times what messages on either side scatter by
_FEWEST = 20  # messages on either side
_PACE = 0.5  # of the time that their stamps take, in which messages of a side are received
_ODD = 2  # messages between, while a clock is being set
_REST = 0.25  # of a step, that is left to what scatters
_LONGEST = 0.5  # s, that a message takes longer one way than another at most
_FAR = 1.0  # percent of the messages of a side, that may be wrong by themselves
_SEEN = 2000  # of these, which say as much as all do
_OFTEN = 5  # times that a clock is set in a recording, at most
_Name = TypeVar("_Name")


@dataclass(frozen=True)
class ClockStep:
    """A lasting step of a clock forward."""

    size: float  # s
    before_ns: int  # the last time that it told before
    after_ns: int  # the first after it


@dataclass(frozen=True)
class Steps:
    """The steps forward of the two clocks of a topic's messages."""

    of_stamps: tuple[ClockStep, ...]
    of_receipt: tuple[ClockStep, ...]


NO_STEPS = Steps((), ())


def steps_forward(
    times: Mapping[_Name, tuple[IntArray, IntArray]],
) -> dict[_Name, tuple[ClockStep, ...]]:
    """Find where the clocks that stamp messages are set forward.

    Where the recorder's clock is set, nothing is received meanwhile, of no topic; stamps go on
    against it, unless their clock is set with it.

    Args:
      times: Of each topic (n,) stamps and times of receipt [ns], in the order of receipt.
    """
    found = {name: steps_between(*both) for name, both in times.items()}
    received = np.sort(np.concatenate([log for _, log in times.values()]))
    recorder = [
        step
        for one in found.values()
        for step in one.of_receipt
        if not _received_within(step, received)
    ]
    surest = tuple(sorted(recorder, key=lambda step: step.size)[-1:])
    return {
        name: own.of_stamps or (() if own.of_receipt else surest) for name, own in found.items()
    }


def steps_between(stamps_ns: IntArray, log_ns: IntArray) -> Steps:
    """Find where stamps lastingly go ahead of receipt, or receipt of stamps.

    Args:
      stamps_ns: (n,) in the order of receipt.
      log_ns: (n,) times of receipt of the same messages.
    """
    late = (log_ns - stamps_ns) / 1e9
    jumps = np.flatnonzero(np.abs(np.diff(late)) > _LEAST) + 1
    edges = [0, *jumps.tolist(), len(late)]
    parts = [
        (low, high)
        for low, high in pairwise(edges)
        if high - low >= _FEWEST
        # and not a queue that is emptied at once
        and log_ns[high - 1] - log_ns[low] > _PACE * (stamps_ns[high - 1] - stamps_ns[low])
    ]
    of_stamps: list[ClockStep] = []
    of_receipt: list[ClockStep] = []
    for before, after in pairwise(parts):
        if after[0] - before[1] > _ODD:
            continue  # it comes and goes
        step = _lasting(late[slice(*before)], late[slice(*after)])
        if not step or _returns(late, before, after, step):
            continue
        own, other = (stamps_ns, log_ns) if step < 0.0 else (log_ns, stamps_ns)
        last, first = int(own[before[1] - 1]), int(own[after[0]])
        if (
            _beyond_usual(own, before, after) > (1.0 - _REST) * abs(step)
            # and not that messages are lost, and come another way then
            and (abs(step) > _LONGEST or _beyond_usual(other, before, after) < _REST * abs(step))
        ):
            (of_stamps if step < 0.0 else of_receipt).append(ClockStep(abs(step), last, first))
    often = len(of_stamps) + len(of_receipt) > _OFTEN
    return NO_STEPS if often else Steps(tuple(of_stamps), tuple(of_receipt))


def _lasting(before: FloatArray, after: FloatArray) -> float:
    """The step between two stretches [s]; 0 where they scatter as much as it."""
    step = float(np.median(after) - np.median(before))
    scatter = max(np.percentile(np.abs(one - np.median(one)), 95) for one in (before, after))
    return step if abs(step) > max(_LEAST, _DECISIVE * scatter) else 0.0


def _returns(
    late: FloatArray, before: tuple[int, int], after: tuple[int, int], step: float
) -> bool:
    """Return whether messages far from a step are as late as those on its other side.

    Nothing that was held up is later than all that follows, or as much less late than all before.
    """
    if step > 0.0:
        far, near = late[after[0] :], np.median(late[slice(*before)])
    else:
        far, near = late[: before[1]], np.median(late[slice(*after)])
    least = np.percentile(far[:: -(-len(far) // _SEEN)], _FAR)  # there may be a step a second
    return bool(least < near + 0.5 * abs(step))


def _beyond_usual(times_ns: IntArray, before: tuple[int, int], after: tuple[int, int]) -> float:
    """The time between two stretches [s], less what usually passes from message to message."""
    usual = float(np.median(np.diff(times_ns))) * (after[0] - before[1] + 1)
    return 1e-9 * (int(times_ns[after[0]]) - int(times_ns[before[1] - 1]) - usual)


def _received_within(step: ClockStep, received: IntArray) -> bool:
    """Return whether anything was received in the middle half of a step of the recorder's clock."""
    quarter = (step.after_ns - step.before_ns) // 4
    first, last = np.searchsorted(received, [step.before_ns + quarter, step.after_ns - quarter])
    return bool(first < last)
