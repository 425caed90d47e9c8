# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lateness of messages that nothing but their receipt dates, seen against their even rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import IntArray
from sysid_ros.recording.mapping.dating import DatedTopic
from sysid_ros.recording.mapping.even_rate import late_by
from sysid_ros.recording.messages import Clock


@dataclass(frozen=True)
class Lateness:
    """Times from an even rate to the receipt, s."""

    mean: float
    most: float  # of nineteen in twenty messages


def dated_by_receipt(topic: DatedTopic) -> bool:
    """Return whether stamps are times of receipt, also where a bag calls them those of publishing.

    A recorder that is not told when a message was published writes the time of receipt twice.
    """
    columns, clock = topic.columns, topic.stamps.clock
    publish = columns.publish_ns
    told = publish is not None and publish.all() and not np.array_equal(publish, columns.log_ns)
    return clock is Clock.RECEIVE or (clock in (Clock.PUBLISH, Clock.EVEN) and not told)


def lateness(log_ns: IntArray) -> Lateness | None:
    """The lateness of messages against their even rate; ``None`` where they have none.

    Args:
      log_ns: (n,) times of receipt, increasing.
    """
    late = late_by(log_ns)
    return None if late is None else Lateness(float(np.mean(late)), float(np.percentile(late, 95)))
