# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Types of topics, be they in a bag or on the network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sysid_ros.errors import BagError, unknown_name
from sysid_ros.recording.bags.bag import TopicInfo
from sysid_ros.recording.bags.bag_folder import BagTopic
from sysid_ros.recording.messages import Definition, Definitions

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs


class TopicTypes(Protocol):
    """The topics that messages come from: an open bag, for example."""

    @property
    def topics(self) -> Mapping[str, TopicInfo]:
        """All topics by name."""

    def topic(self, name: str) -> TopicInfo:
        """A topic that a message can be read from."""

    def types(self, name: str) -> dict[str, Fielddefs]:
        """The fields of a topic's type and of the types it uses."""


class LiveTopics:
    """Topics that somebody publishes, described as a recorder would."""

    def __init__(self, topics: Iterable[BagTopic], msg_paths: Sequence[Path] = ()) -> None:
        """Take over descriptions.

        Args:
          topics: The topics.
          msg_paths: Files or folders of definitions that these lack.

        Raises:
          BagError: A path is missing or has no definitions.
        """
        self._definitions = Definitions(msg_paths)
        self.topics: Mapping[str, TopicInfo] = {
            topic.name: TopicInfo(
                topic.name,
                topic.msgtype,
                None,
                "cdr",
                topic.qos_yaml(),
                Definition("msg", topic.definition, topic.type_hash),
            )
            for topic in topics
        }

    def topic(self, name: str) -> TopicInfo:
        """Return a topic.

        Raises:
          BagError: Nobody publishes it.
        """
        if name not in self.topics:
            raise BagError(unknown_name("topic", name, self.topics))
        return self.topics[name]

    def types(self, name: str) -> dict[str, Fielddefs]:
        """Return the fields of a topic's type and of the types it uses.

        Raises:
          BagError: Nobody publishes it, or its definition is malformed.
        """
        topic = self.topic(name)
        return self._definitions.types(topic.msgtype, topic.definition)
