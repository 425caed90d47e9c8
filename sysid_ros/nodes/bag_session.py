"""The bag that a recorder writes at the moment, if it does, and what the next one must hold."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sysid_ros.errors import OutputError
from sysid_ros.nodes.bag_folder import BagFolder, BagTopic

_LATCHED = 10  # messages of a latched topic kept for the next bag


@dataclass(frozen=True)
class BagSettings:
    """Where and how bags are written."""

    output_dir: Path
    prefix: str
    compression: str  # none | zstd | lz4


class BagSession:
    """Writes while started and not paused; a failing disk ends the bag, not the session."""

    def __init__(self, settings: BagSettings) -> None:
        """Prepare, without a bag."""
        self._settings = settings
        self._bag: BagFolder | None = None
        self._topics: dict[str, BagTopic] = {}
        self._channels: dict[str, int] = {}
        self._latched: dict[str, deque[tuple[bytes, int]]] = {}
        self.paused = False
        self.last_bag = ""
        self.error = ""  # why the last bag ended early

    @property
    def writing(self) -> bool:
        """Whether there is an open bag, paused or not."""
        return self._bag is not None

    @property
    def state(self) -> str:
        """``watching``, ``recording`` or ``paused``."""
        return "watching" if self._bag is None else "paused" if self.paused else "recording"

    @property
    def message_count(self) -> int:
        """Messages in the open bag."""
        return self._bag.message_count if self._bag is not None else 0

    def add_topic(self, topic: BagTopic, *, latched: bool) -> None:
        """Announce a topic before its first message.

        Args:
          topic: Its description.
          latched: Whether its last messages are kept and begin every new bag.
        """
        self._topics[topic.name] = topic
        if latched:
            self._latched.setdefault(topic.name, deque(maxlen=_LATCHED))
        if self._bag is not None:
            self._channels[topic.name] = self._bag.add_topic(topic)

    def forget_topics(self) -> None:
        """Start anew with the topics; an open bag keeps those it has."""
        self._topics.clear()
        self._latched.clear()

    def start(self, attachments: Mapping[str, bytes]) -> None:
        """Begin a new bag.

        Args:
          attachments: YAML files by name that go into the bag.

        Raises:
          OutputError: It cannot be created.
        """
        settings = self._settings
        self.error = ""
        bag = BagFolder(
            settings.output_dir,
            settings.prefix,
            compression=settings.compression,
            distribution=os.environ.get("ROS_DISTRO", ""),
        )
        for name, content in attachments.items():
            bag.attach(name, "application/yaml", content)
        self._bag, self.last_bag, self.paused = bag, str(bag.path), False
        self._channels = {name: bag.add_topic(topic) for name, topic in self._topics.items()}
        now = time.time_ns()
        for name, messages in self._latched.items():
            for data, publish_ns in messages:
                bag.write(self._channels[name], data, log_ns=now, publish_ns=publish_ns)

    def stop(self) -> None:
        """Complete the bag if there is one; :attr:`error` tells whether that failed."""
        bag, self._bag = self._bag, None
        self.paused = False
        if bag is not None:
            try:
                bag.close()
            except OutputError as error:
                self.error = str(error)

    def write(self, name: str, data: bytes, log_ns: int, publish_ns: int, sequence: int) -> None:
        """Take one message of an announced topic; see :meth:`BagFolder.write`."""
        if name in self._latched:
            self._latched[name].append((data, publish_ns))
        if self._bag is None or self.paused:
            return
        try:
            self._bag.write(
                self._channels[name], data, log_ns=log_ns, publish_ns=publish_ns, sequence=sequence
            )
        except OutputError as error:
            self._abandon(error)

    def flush(self) -> None:
        """Hand everything taken so far to the operating system."""
        if self._bag is not None:
            try:
                self._bag.flush()
            except OutputError as error:
                self._abandon(error)

    def _abandon(self, error: OutputError) -> None:
        """Write no more; what is on the disk stays readable there."""
        self.error = str(error)
        self._bag = None
