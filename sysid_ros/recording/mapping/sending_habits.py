# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The way a command is sent, as it changes or as a stream, which tells what its silences mean.

What is known of it outlasts the messages that it was told by, so that one that is followed while it
grows is judged by all of it, as a whole recording is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray

_STEADY_SHARE = 0.9  # of the intervals must be short for a command to count as a stream
_FEWEST_PAUSES = 2  # of a stream, as it goes on at one where it was by chance
_MOST = 0.5  # of its pauses
_USUAL_CHANGE = 90.0  # percentile of what it changes by between messages
_KEPT, _KEPT_PAUSES = 1000, 100  # of what is forgotten, those that still count


@dataclass(frozen=True)
class SendingHabit:
    """The intervals between the messages of a command so far, and its changes."""

    steps: int  # intervals of at most ``max_gap``
    pauses: int  # longer ones
    changes: FloatArray  # (n, k), by how much values changed over the latest steps
    across: FloatArray  # (m, k), the same over the latest pauses
    time: float  # s, of the latest message
    value: FloatArray  # (k,), what it said

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
        steps = pauses = 0
        changes = across = np.empty((0, values.shape[1]))
        if before is not None:
            new = times > before.time
            times = np.append(before.time, times[new])
            values = np.vstack([before.value, values[new]])
            steps, pauses = before.steps, before.pauses
            changes, across = before.changes[-_KEPT:], before.across[-_KEPT_PAUSES:]
        sizes, long = np.abs(np.diff(values, axis=0)), np.diff(times) > max_gap
        return cls(
            steps + int(np.count_nonzero(~long)),
            pauses + int(np.count_nonzero(long)),
            np.vstack([changes, sizes[~long]]),
            np.vstack([across, sizes[long]]),
            float(times[-1]),
            values[-1],
        )

    @property
    def on_change(self) -> bool:
        """True if it is sent as it changes, and is no stream."""
        return _sent_on_change(self.steps, self.pauses)

    @property
    def rests_in_pauses(self) -> bool:
        """True if it is a stream that pauses while nothing changes, and none that loses messages.

        After most pauses the one goes on where it was, by no more than it changes from one message
        to the next; what is lost for as long has gone somewhere meanwhile.
        """
        if self.pauses < _FEWEST_PAUSES or not self.steps:
            return False
        usual = np.percentile(self.changes, _USUAL_CHANGE, axis=0)
        return bool(np.mean(np.all(self.across <= usual, axis=1)) > _MOST)


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
