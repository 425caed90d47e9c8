# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The way a command is sent, as it changes or as a stream, which tells what its silences mean.

What is known of it outlasts the messages that it was told by, so that one that is followed while it
grows is judged by all of it, as a whole recording is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray

_STEADY_SHARE = 0.9  # of the intervals must be short for a command to count as a stream
_FEWEST_PAUSES = 2  # of a stream, as it goes on at one where it was by chance
_MOST = 0.5  # of its pauses
_USUAL_CHANGE = 90.0  # percentile of what it changes by between messages
_BY_CHANCE = 0.25  # of what moves for as long, that comes back as near
_KEPT, _KEPT_PAUSES = 1000, 100  # of what is forgotten, those that still count


@dataclass(frozen=True)
class SendingHabit:
    """The intervals between the messages of a command so far, and its changes."""

    steps: int  # intervals of at most ``max_gap``
    pauses: int  # longer ones
    times: FloatArray  # (n,) s, of the latest messages
    values: FloatArray  # (n, k), what they said
    lasted: FloatArray  # (m,) s, the latest pauses
    across: FloatArray  # (m, k), by how much values changed over these
    max_gap: float  # s

    @classmethod
    def of(
        cls,
        times: FloatArray,
        values: FloatArray,
        max_gap: float,
        before: SendingHabit | None = None,
    ) -> SendingHabit:
        """Tell it from messages.

        Args:
          times: (n,) s, strictly increasing, n >= 1.
          values: (n, k), what was sent.
          max_gap: Longer intervals [s] are pauses.
          before: What was known before the latest of these messages came.
        """
        if before is None:
            known, forgotten = 0, cls(0, 0, times, values, np.empty(0), values[:0], max_gap)
        else:
            new = times > before.times[-1]
            times = np.append(before.times[-_KEPT:], times[new])
            values = np.vstack([before.values[-_KEPT:], values[new]])
            known, forgotten = len(times) - np.count_nonzero(new) - 1, before
        intervals, sizes = np.diff(times[known:]), np.abs(np.diff(values[known:], axis=0))
        long = intervals > max_gap
        return cls(
            forgotten.steps + int(np.count_nonzero(~long)),
            forgotten.pauses + int(np.count_nonzero(long)),
            times,
            values,
            np.append(forgotten.lasted[-_KEPT_PAUSES:], intervals[long]),
            np.vstack([forgotten.across[-_KEPT_PAUSES:], sizes[long]]),
            max_gap,
        )

    @property
    def on_change(self) -> bool:
        """True if it is sent as it changes, and is no stream."""
        return _sent_on_change(self.steps, self.pauses)

    @property
    def rests_in_pauses(self) -> bool:
        """True if it is a stream that pauses while nothing changes, and none that loses messages.

        After most pauses the one goes on where it was, by no more than it changes from one message
        to the next; what is lost for as long has gone somewhere meanwhile. What jumps about, as
        forces of a controller do, has not: it is as near to where it was whatever is lost.
        """
        paused = np.diff(self.times) > self.max_gap
        if self.pauses < _FEWEST_PAUSES or np.all(paused):
            return False
        changes = np.abs(np.diff(self.values, axis=0))[~paused]
        usual = np.percentile(changes, _USUAL_CHANGE, axis=0)
        often = float(np.mean(np.all(self.across <= usual, axis=1))) > _MOST
        return often and self._coming_back(paused, usual) < _BY_CHANCE

    def _coming_back(self, paused: BoolArray, usual: FloatArray) -> float:
        """The share of stretches as long as a pause that move and end where they began."""
        runs = np.diff(np.flatnonzero(np.concatenate([[True], paused, [True]])))
        usually = float(np.median(np.diff(self.times)[~paused]))
        count = min(round(float(np.median(self.lasted)) / usually), int(runs.max()) - 1)
        changed = np.any(np.diff(self.values, axis=0) != 0.0, axis=1)
        changes, pauses = (np.append(0, np.cumsum(one)) for one in (changed, paused))
        moves = (changes[count:] > changes[:-count]) & (pauses[count:] == pauses[:-count])
        far = np.abs(self.values[count:] - self.values[:-count])[moves]
        return float(np.mean(np.all(far <= usual, axis=1))) if len(far) else 0.0


def published_on_change(times: FloatArray, max_gap: float) -> bool:
    """Tell a command that is published when it changes from a stream of commands.

    A stream has at least 90 % of its intervals within ``max_gap``.

    Args:
      times: (n,) s, strictly increasing.
      max_gap: Longest interval that a stream should have [s].
    """
    pauses = int(np.count_nonzero(np.diff(times) > max_gap))
    return _sent_on_change(max(len(times) - 1, 0) - pauses, pauses)


def _sent_on_change(steps: int, pauses: int) -> bool:
    return not pauses + steps or steps / (pauses + steps) < _STEADY_SHARE
