# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's open bag: start, pause, split and stop, and its end when the disk fills up."""

from __future__ import annotations

import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sysid_ros.errors import OutputError
from sysid_ros.files import translated_os_errors
from sysid_ros.nodes.recorder.snapshot_buffer import BufferedMessage, SnapshotBuffer
from sysid_ros.recording.bags import BagFolder, BagTopic

_LATCHED = 10  # messages of a latched topic kept for the next bag
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class BagSettings:
    """The place and form of bags."""

    output_dir: Path  # holds the bags
    prefix: str  # how their names begin
    compression: str = "none"  # ``none``, ``zstd`` or ``lz4``
    # megabytes after which a new file of the same bag is begun; 0 for never
    split_size: float = 0.0
    split_duration: float = 0.0  # seconds likewise
    max_size: float = 0.0  # megabytes at which the bag is completed; 0 for never
    max_duration: float = 0.0  # seconds likewise
    min_free_disk: float = 0.0  # megabytes that must stay free: below, the bag is completed


@dataclass(frozen=True)
class BagContents:
    """The contents of every bag besides messages."""

    # files: media type and content by name
    attachments: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    # named texts, as MCAP metadata
    records: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class BagSession:
    """Writes while started and not paused; a failing disk ends the bag, not the session.

    With a snapshot buffer it keeps what comes there instead, and writes it when asked to.
    """

    def __init__(
        self,
        settings: BagSettings,
        buffer: SnapshotBuffer | None = None,
        *,
        closing: Callable[[], BagContents] = BagContents,
        catch_up: Callable[[], None] = lambda: None,
        now_ns: Callable[[], int] = time.time_ns,
        ages_by: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare, without a bag.

        Args:
          settings: Where and how to write.
          buffer: Where messages wait for :meth:`take_snapshot`; ``None`` to write them at once.
          closing: Asked what goes into a bag at its end.
          catch_up: Writes what is still on its way when a bag has reached its limit.
          now_ns: The clock that dates the receipt of messages.
          ages_by: The clock that messages in the buffer grow old by, s: a simulation's, or one that
            never jumps.
        """
        self._settings = settings
        self._buffer = buffer
        self._closing, self._catch_up = closing, catch_up
        self._now_ns, self._ages_by = now_ns, ages_by
        self._bag: BagFolder | None = None
        self._topics: dict[str, BagTopic] = {}
        self._channels: dict[str, int] = {}
        self._latched: dict[str, deque[tuple[bytes, int]]] = {}
        self._began = self._file_began = 0.0
        self.paused = False
        self.last_bag = ""
        self.last_count = 0  # messages in the last bag that has ended
        self.error = ""  # why the last bag ended early: a fault
        self.limit = ""  # the limit that ended the last bag: as intended
        self.warning = ""  # what happened to the bag that goes on

    @property
    def writing(self) -> bool:
        """True if there is an open bag, paused or not."""
        return self._bag is not None

    @property
    def in_snapshot_mode(self) -> bool:
        """True if messages wait for :meth:`take_snapshot`."""
        return self._buffer is not None

    @property
    def state(self) -> str:
        """``watching``, ``buffering``, ``recording`` or ``paused``."""
        if self._bag is None and self._buffer is None:
            return "watching"
        if self.paused:
            return "paused"
        return "recording" if self._buffer is None else "buffering"

    @property
    def message_count(self) -> int:
        """Messages in the open bag, or in the buffer."""
        if self._buffer is not None:
            return len(self._buffer)
        return self._bag.message_count if self._bag is not None else 0

    @property
    def size(self) -> int:
        """Bytes in the open bag."""
        return self._bag.size if self._bag is not None else 0

    @property
    def kept_topics(self) -> frozenset[str]:
        """Topics with latched messages, which are in every bag."""
        return frozenset(name for name, messages in self._latched.items() if messages)

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

    def forget_topic(self, name: str) -> None:
        """Leave a topic out of the next bag; an open bag keeps it."""
        self._topics.pop(name, None)
        self._latched.pop(name, None)

    def forget_topics(self) -> None:
        """Start anew with the topics; an open bag keeps those it has."""
        self._topics.clear()
        self._latched.clear()

    def start(self, contents: BagContents) -> None:
        """Begin a new bag.

        Raises:
          OutputError: It cannot be created, or the disk is too full to begin.
        """
        settings = self._settings
        self.error = self.limit = self.warning = ""
        if shortage := self._shortage():
            raise OutputError(shortage)
        bag = BagFolder(
            settings.output_dir,
            settings.prefix,
            compression=settings.compression,
            distribution=os.environ.get("ROS_DISTRO", ""),
        )
        self._bag, self.last_bag, self.paused = bag, str(bag.path), False
        self._began = self._file_began = time.monotonic()
        self._channels = {name: bag.add_topic(topic) for name, topic in self._topics.items()}
        self.attach(contents)
        now = self._now_ns()
        waiting = {id(message.data) for message in self._buffer or ()}  # which come by themselves
        for name, messages in self._latched.items():
            for data, publish_ns in messages:
                if id(data) not in waiting:
                    self._write(BufferedMessage(name, data, now, publish_ns, 0))
        if self.error:
            raise OutputError(self.error)

    def attach(self, contents: BagContents) -> None:
        """Put files and records into the open bag, if there is one."""
        if self._bag is None:
            return
        try:
            for name, (media_type, data) in contents.attachments.items():
                self._bag.attach(name, media_type, data)
            for name, entries in contents.records.items():
                self._bag.add_record(name, entries)
        except OutputError as error:
            self._fail(error)

    def stop(self) -> None:
        """Complete the bag if there is one; :attr:`error` tells whether that failed."""
        self.attach(self._closing())
        if self._bag is None:
            return
        self.last_count = self._bag.message_count
        try:
            self._bag.close()
        except OutputError as error:
            self._fail(error)
        self._bag, self.paused = None, False

    def split(self) -> None:
        """Go on in a new file of the same bag, if there is one."""
        if self._bag is None:
            return
        try:
            self._bag.split()
        except OutputError as error:
            self._fail(error)
        self._file_began = time.monotonic()

    def take_snapshot(self, contents: BagContents) -> None:
        """Write the buffer to a bag of its own and empty it.

        Raises:
          OutputError: There is nothing to write or it cannot be written.
        """
        if not self._buffer:
            why = "is empty" if self.in_snapshot_mode else "is not in use: set snapshot_mode"
            raise OutputError(f"the snapshot buffer {why}")
        paused = self.paused
        self.start(contents)
        for message in self._buffer.drain():
            self._write(message)
            if self.error:  # what is left waits for the next snapshot
                break
        self.stop()
        self.paused = paused
        if self.error:
            raise OutputError(self.error)

    def write(self, name: str, data: bytes, log_ns: int, publish_ns: int, sequence: int) -> None:
        """Take one message of an announced topic; see :meth:`BagFolder.write`."""
        if name in self._latched:
            self._latched[name].append((data, publish_ns))
        if self.paused:
            return
        message = BufferedMessage(name, data, log_ns, publish_ns, sequence)
        if self._buffer is not None:
            self._buffer.add(message, self._ages_by())
        else:
            self._write(message)

    def flush(self) -> None:
        """Hand everything taken so far to the operating system, and keep to the limits."""
        if self._bag is None:
            return
        try:
            if self._bag.flush():
                self.warning = f"{self.last_bag} was deleted and has been written anew"
            self._keep_limits(self._bag)
        except OutputError as error:
            self._fail(error)

    def _write(self, message: BufferedMessage) -> None:
        if self._bag is None:
            return
        channel = self._channels.get(message.topic)
        if channel is None:  # its type changed since it was buffered
            return
        try:
            self._bag.write(
                channel,
                message.data,
                log_ns=message.log_ns,
                publish_ns=message.publish_ns,
                sequence=message.sequence,
            )
        except OutputError as error:
            self._fail(error)

    def _keep_limits(self, bag: BagFolder) -> None:
        settings, now = self._settings, time.monotonic()
        if shortage := self._shortage():
            self.stop()
            self.error = self.error or f"{shortage}; the bag was completed"
        elif _reached(bag.size, now - self._began, settings.max_size, settings.max_duration):
            self._catch_up()
            self.stop()
            self.limit = f"{self.last_bag} reached its limit and was completed"
        elif _reached(
            bag.file_size, now - self._file_began, settings.split_size, settings.split_duration
        ):
            self.split()

    def _shortage(self) -> str:
        """Return the reason why the disk is too full to go on, empty if it is not.

        Raises:
          OutputError: The folder cannot be looked at.
        """
        folder, wanted = self._settings.output_dir.absolute(), self._settings.min_free_disk
        with translated_os_errors(folder):
            while not folder.exists():
                folder = folder.parent
            free = shutil.disk_usage(folder).free / _MEGABYTE
        if free >= wanted:
            return ""
        return f"{free:.0f} MB are free below {folder}, min_free_disk is {wanted:g} MB"

    def _fail(self, error: OutputError) -> None:
        """Write no more; what is on the disk stays readable there."""
        if self._bag is None:
            return
        taken = self._bag.message_count
        dropped = self._bag.end_early()
        self.last_count = taken - dropped
        lost = f"; the last {dropped} messages are not in the bag" if dropped else ""
        self.error = f"{error}{lost}"
        self._bag = None


def _reached(size: int, seconds: float, max_size: float, max_seconds: float) -> bool:
    return 0.0 < max_size <= size / _MEGABYTE or 0.0 < max_seconds <= seconds
