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

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

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


class Storage(Protocol):
    """One open bag file."""

    @property
    def format(self) -> str:
        """``"mcap"``, ``"sqlite3"`` or ``"rosbag1"``."""

    @property
    def topics(self) -> Sequence[StoredTopic]:
        """The file's topics; a topic recorded over several connections appears once for each."""

    @property
    def warnings(self) -> Sequence[str]:
        """Sentences on what was wrong with the file; complete after ``messages`` ran to its end."""

    @property
    def checks(self) -> Sequence[str]:
        """Sentences on what vouches for what was read; complete after ``messages`` ran."""

    @property
    def progress(self) -> float:
        """The share of the file that ``messages`` has read, 0 to 1."""

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Yield the messages of some topics in the order in which they lie in the file.

        Raises:
          BagError: The file is damaged.
        """

    def close(self) -> None:
        """Close the file."""
