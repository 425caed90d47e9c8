# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interface of every bag format: its topics, its messages one after the other, and its losses.

Each format has one module (``storage_mcap``, ``storage_sqlite3``, ``storage_rosbag1``) that reads
one file from front to back. Reading the records directly rather than through
``rosbags.highlevel.AnyReader`` keeps the publish time of MCAP messages, reads files that were cut
off or have no index, and cannot lose connections whose QoS text differs between
``metadata.yaml`` and the storage.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sysid_ros.recording.messages import Definition, RawMessage

_LISTED = 10  # damaged places that get a sentence of their own


@dataclass(frozen=True)
class StoredTopic:
    """One topic of one file."""

    name: str  # the topic's name
    msgtype: str  # its type in ROS 2 spelling, such as ``sensor_msgs/msg/JointState``
    serialization: str  # ``"cdr"``, ``"ros1"``, or what else the file says
    definition: Definition  # the type's definition
    # how many messages the file's own index promises, ``None`` without an index
    promised: int | None
    qos: str = ""  # the offered QoS profiles as text, empty where unknown


class Storage(ABC):
    """One open bag file."""

    format: str  # ``"mcap"``, ``"sqlite3"`` or ``"rosbag1"``

    def __init__(self, path: Path, *, salvage: bool = False, shown: Path | None = None) -> None:
        """Open a file and learn its topics.

        Args:
          path: The file.
          salvage: Whether damaged parts are left out with a warning, where the format allows.
          shown: What messages call the file, if not ``path``.

        Raises:
          BagError: It is not of this format or is damaged.
        """
        self._path = shown or path
        self._salvage = salvage
        self._omissions = Omissions(self._path.name)

    @property
    def warnings(self) -> Sequence[str]:
        """Sentences on what was wrong with the file; complete after ``messages`` ran to its end."""
        return self._omissions.sentences()

    @property
    @abstractmethod
    def topics(self) -> Sequence[StoredTopic]:
        """The file's topics; a topic recorded over several connections appears once for each."""

    @property
    @abstractmethod
    def checks(self) -> Sequence[str]:
        """Sentences on what vouches for what was read; complete after ``messages`` ran."""

    @property
    @abstractmethod
    def progress(self) -> float:
        """The share of the file that ``messages`` has read, 0 to 1."""

    @abstractmethod
    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Yield the messages of some topics in the order in which they lie in the file.

        Raises:
          BagError: The file is damaged.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


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
