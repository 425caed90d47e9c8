# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The losses of a bag, as far as its recorder knows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sysid_ros.nodes.recorder.topic_statistics import TopicStatistics

_SILENCE = 3.0  # s of a bag after which silent topics are told, before a motion is recorded in vain
_NAMED = 3  # topics that a sentence names
_LARGE = 250_000  # bytes, half of the shared memory that the middleware uses by itself


@dataclass(frozen=True)
class Losses:
    """Messages that were published and did not arrive, and topics of which nothing came."""

    by_topic: Mapping[str, int]  # lost messages of each topic that lost any
    # messages of each topic that a publisher may have sent before it was heard, of those with a
    # publisher that came during the recording
    unheard: Mapping[str, int]
    # bytes of the largest message of each topic that lost some and has large ones
    large: Mapping[str, int]
    silent: Mapping[str, str]  # why nothing came, of each wanted topic of which nothing did

    @property
    def count(self) -> int:
        """Messages of all topics that are known to be lost."""
        return sum(self.by_topic.values())

    def __str__(self) -> str:
        """Name the losses in a sentence, empty if there are none."""
        said = [
            f"{count} messages of {topic} were lost{self._advice(topic)}"
            for topic, count in self.by_topic.items()
        ]
        said += [
            f"a publisher of {topic} came during the recording: up to {count} messages that it "
            "sent before it was heard are missing"
            for topic, count in self.unheard.items()
        ]
        return _joined([*said, *self._silence()])

    @property
    def silent_topics(self) -> str:
        """Name the topics of which nothing came in a sentence, empty if there are none."""
        return _joined(self._silence())

    def _silence(self) -> list[str]:
        return [f"none of {topic} came ({reason})" for topic, reason in self.silent.items()]

    def _advice(self, topic: str) -> str:
        """Advise on losses that come from the size of the messages."""
        if topic not in self.large:
            return ""
        return (
            f" (they take up to {1e-6 * self.large[topic]:.1f} MB: give the middleware of their "
            "publisher and of the recorder more shared memory, which config/large_messages.xml of "
            "this package does, or record them with ros2 bag record)"
        )


def _joined(said: Sequence[str]) -> str:
    """The first of some findings in one sentence, and how many more there are."""
    count = len(said) - _NAMED
    lack = "topic lacks" if count == 1 else "topics lack"
    more = [f"and {count} further {lack} messages"] if count > 0 else []
    return "; ".join([*said[:_NAMED], *more])


class SilenceWatch:
    """Tells once, some seconds after a bag began, that silent topics are to be named."""

    def __init__(self) -> None:
        self._due = math.inf

    def begin(self, now: float) -> None:
        """Note that a bag begins.

        Args:
          now: s, by a clock that nobody sets.
        """
        self._due = now + _SILENCE

    def is_to_be_told(self, now: float) -> bool:
        """Return true once, when the time has come."""
        if now < self._due:
            return False
        self._due = math.inf
        return True


def losses(
    statistics: Mapping[str, TopicStatistics],
    health: Mapping[str, str | None],
    kept: Collection[str] = (),
) -> Losses:
    """Return what is missing.

    Args:
      statistics: The counts of each topic since the bag began.
      health: What is wrong with each wanted topic, ``None`` where nothing is.
      kept: Topics whose latched messages came before and are in the bag all the same.
    """
    received = {topic for topic, counts in statistics.items() if counts.received} | set(kept)
    return Losses(
        {topic: counts.lost for topic, counts in statistics.items() if counts.lost},
        {topic: counts.unheard for topic, counts in statistics.items() if counts.unheard},
        {
            topic: counts.largest
            for topic, counts in statistics.items()
            if counts.lost and counts.largest > _LARGE
        },
        {
            topic: problem or "its publisher was silent"
            for topic, problem in health.items()
            if topic not in received
        },
    )
