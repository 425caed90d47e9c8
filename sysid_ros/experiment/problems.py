# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in an experiment file, collected so that one run shows several."""

from __future__ import annotations

from dataclasses import dataclass

from sysid_ros.errors import ExperimentError


@dataclass(frozen=True)
class Place:
    """The origin of a value: a file with a line, or an override without one."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


MOST = 5  # sentences in one error


class Problems:
    """Collects sentences and raises them together."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    def __len__(self) -> int:
        return len(self._sentences)

    def add(self, place: Place, sentence: str) -> None:
        """Note one problem at ``place``; what is noted again is said once."""
        line = f"{place}: {sentence}"
        if line not in self._sentences:
            self._sentences.append(line)

    def raise_if_any(self) -> None:
        """Raise what was collected.

        Raises:
          ExperimentError: One line per problem, the first :data:`MOST`, if there is any.
        """
        if not self._sentences:
            return
        lines = self._sentences[:MOST]
        rest = len(self._sentences) - len(lines)
        if rest:
            lines.append(f"and {rest} more")
        raise ExperimentError("\n".join(lines))
