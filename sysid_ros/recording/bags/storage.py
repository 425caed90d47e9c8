# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interface of every bag format: its topics, and its messages one after the other.

Each format has one module (``storage_mcap``, ``storage_sqlite3``, ``storage_rosbag1``) that reads
one file from front to back. Reading the records directly rather than through
``rosbags.highlevel.AnyReader`` keeps the publish time of MCAP messages, reads files that were cut
off or have no index, and cannot lose connections whose QoS text differs between
``metadata.yaml`` and the storage.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.recording.bags.omissions import Omissions
from sysid_ros.recording.messages import Definition, RawMessage


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
