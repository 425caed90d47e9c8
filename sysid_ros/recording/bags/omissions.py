# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Omissions from a bag, counted: nothing is skipped without a word."""

from __future__ import annotations

from dataclasses import dataclass, field

_LISTED = 10  # damaged places that get a sentence of their own


@dataclass
class Omissions:
    """Losses of one file, as sentences; a file may be read more than once."""

    name: str  # the file's, for the sentences
    _said: dict[str, None] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)
    _damaged: dict[str, None] = field(default_factory=dict)

    def begin(self) -> None:
        """Forget what the last pass counted; this one counts it again."""
        self._counts.clear()
        self._places.clear()
        self._damaged.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.begin()
        self._said.clear()

    def say(self, sentence: str) -> None:
        """Note a sentence, once."""
        self._said[sentence] = None

    def count(self, words: str, number: int, position: int | None = None) -> None:
        """Add to a count.

        Args:
          words: Such as ``{} messages are left out``, without a full stop.
          number: How many; nothing is noted for none.
          position: The byte at which they are.
        """
        if number:
            self._counts[words] = self._counts.get(words, 0) + number
            if position is not None:
                self._places.setdefault(words, position)

    def leave_out(self, why: str, what: str) -> None:
        """Note a damaged place."""
        self._damaged[f"{why}; {what}."] = None

    def sentences(self) -> list[str]:
        """Everything noted, one sentence each."""
        found = [*self._said, *list(self._damaged)[:_LISTED]]
        if len(self._damaged) > _LISTED:
            more = len(self._damaged) - _LISTED
            found.append(f"{more} more places of {self.name} are damaged and left out.")
        for words, number in self._counts.items():
            place = f" (byte {self._places[words]})" if words in self._places else ""
            found.append(f"{self.name}: {words.format(number)}{place}.")
        return found
