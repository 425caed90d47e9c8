# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The topics that a recorder wants: names, shell patterns and a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import Experiment
from sysid_ros.recording.mapping import CLOCK_TOPIC
from sysid_ros.recording.messages import Clock

_WILD = re.compile(r"[*?\[]")
_NAMED = 3  # topics that may be meant
_HIDDEN = "/_"  # how a part of a name begins that ROS 2's tools show only when asked to


def is_pattern(name: str) -> bool:
    """Return whether ``name`` is a shell pattern rather than a topic."""
    return _WILD.search(name) is not None


class TopicSelection:
    """Names that are wanted whether they exist or not, and patterns for those that do."""

    def __init__(
        self, topics: Iterable[str], *, regex: str = "", exclude: Sequence[str] = ()
    ) -> None:
        """Sort names from patterns.

        Args:
          topics: Absolute names or shell patterns such as ``/arm/*``; ``*`` matches ``/`` too.
          regex: Further topics: those whose whole name matches; empty for none. Hidden topics,
            such as those of actions, match only where a pattern has ``/_`` in it.
          exclude: Names or shell patterns that are left out of what patterns match.

        Raises:
          ExperimentError: ``regex`` is not a regular expression, or nothing is selected.
        """
        listed = list(dict.fromkeys(topics))
        self.names = tuple(name for name in listed if not is_pattern(name))
        self._globs = tuple(name for name in listed if is_pattern(name))
        self._exclude = tuple(exclude)
        try:
            self._regex = re.compile(regex) if regex else None
        except re.error as error:
            raise ExperimentError(f"parameter regex, {regex!r}: {error}") from error
        if not (self.names or self.has_patterns):
            raise ExperimentError(
                "nothing to record: give the parameter experiment, topics or regex"
            )

    @property
    def has_patterns(self) -> bool:
        """True if topics are wanted that are not known by name."""
        return bool(self._globs) or self._regex is not None

    def matching(self, present: Iterable[str]) -> tuple[str, ...]:
        """The wanted topics: all those named, and of ``present`` those that match a pattern."""
        found = [name for name in present if self._matches(name)]
        return tuple(dict.fromkeys([*self.names, *sorted(found)]))

    def __str__(self) -> str:
        expression = [f"regex {self._regex.pattern}"] if self._regex else []
        return ", ".join([*self.names, *self._globs, *expression])

    def _matches(self, name: str) -> bool:
        patterns = [glob for glob in self._globs if fnmatchcase(name, glob)]
        if self._regex is not None and self._regex.fullmatch(name) is not None:
            patterns.append(self._regex.pattern)
        if _HIDDEN in name:
            patterns = [pattern for pattern in patterns if _HIDDEN in pattern]
        return bool(patterns) and not any(fnmatchcase(name, one) for one in self._exclude)


def alike(name: str, published: Iterable[str]) -> list[str]:
    """Topics that may be meant by a name nobody publishes: in another namespace, or misspelt."""
    others = sorted(published)
    inside = [other for other in others if other.rsplit("/", 1)[-1] == name.rsplit("/", 1)[-1]]
    return list(dict.fromkeys([*inside, *get_close_matches(name, others, cutoff=0.75)]))[:_NAMED]


def topics_of(experiment: Experiment, robot: str) -> list[str]:
    """Every topic that a fit of the experiment reads, of one robot where there are several."""
    signals = experiment.signals
    masks = [*experiment.enabled_when, *(mask for one in signals for mask in one.enabled_when)]
    described = [experiment.model_topic] if experiment.model_topic else []
    topics = [*(one.topic for one in signals), *(mask.topic for mask in masks)]
    inside = f"/{robot}" if robot else ""
    clocks = [experiment.clock, *(one.clock for one in signals), *(one.clock for one in masks)]
    time = [CLOCK_TOPIC] if Clock.SIMULATION in clocks else []
    return [*(f"{inside}/{topic.lstrip('/')}" for topic in topics), *described, *time]
