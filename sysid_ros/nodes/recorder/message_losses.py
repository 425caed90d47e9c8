# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The losses of a bag, as far as its recorder knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sysid_ros.nodes.recorder.topic_statistics import TopicStatistics

_NAMED = 3  # topics that a sentence names


@dataclass(frozen=True)
class Losses:
    """Messages that were published and did not arrive, and topics of which nothing came.

    Attributes:
      by_topic: Lost messages of each topic that lost any.
      silent: Why nothing came, of each wanted topic of which nothing did.
    """

    by_topic: Mapping[str, int]
    silent: Mapping[str, str]

    @property
    def count(self) -> int:
        """Lost messages of all topics."""
        return sum(self.by_topic.values())

    def __str__(self) -> str:
        """Name the losses in a sentence, empty if there are none."""
        said = [f"{count} messages of {topic} were lost" for topic, count in self.by_topic.items()]
        said += [f"none of {topic} came ({reason})" for topic, reason in self.silent.items()]
        more = (
            [f"and {len(said) - _NAMED} further topics lack messages"] if len(said) > _NAMED else []
        )
        return "; ".join([*said[:_NAMED], *more])


def losses(statistics: Mapping[str, TopicStatistics], health: Mapping[str, str | None]) -> Losses:
    """Return what is missing.

    Args:
      statistics: The counts of each topic since the bag began.
      health: What is wrong with each wanted topic, ``None`` where nothing is.
    """
    received = {topic for topic, counts in statistics.items() if counts.received}
    return Losses(
        {topic: counts.lost for topic, counts in statistics.items() if counts.lost},
        {
            topic: problem or "its publisher was silent"
            for topic, problem in health.items()
            if topic not in received
        },
    )
