# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A rosbag2 folder: MCAP files and the ``metadata.yaml`` that describes them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from sysid_ros.errors import OutputError
from sysid_ros.files import replace_file, sync_folder
from sysid_ros.recording.bags.mcap_writer import McapFile

_METADATA_VERSION = 9
_MAX_SUFFIX = 1000  # bags that may be started within one second
_RESERVE = ".reserve"
_RESERVE_SIZE = 1 << 18  # bytes; the index of an hour of recording


@dataclass(frozen=True)
class QosProfile:
    """The QoS that one publisher offers, in the words of rosbag2's metadata."""

    history: str = "unknown"
    depth: int = 0
    reliability: str = "reliable"
    durability: str = "volatile"
    deadline_ns: int = 0
    lifespan_ns: int = 0
    liveliness: str = "automatic"
    lease_ns: int = 0

    def entry(self) -> dict[str, Any]:
        """The profile as in ``metadata.yaml``."""
        return {
            "history": self.history,
            "depth": self.depth,
            "reliability": self.reliability,
            "durability": self.durability,
            "deadline": _duration(self.deadline_ns),
            "lifespan": _duration(self.lifespan_ns),
            "liveliness": self.liveliness,
            "liveliness_lease_duration": _duration(self.lease_ns),
            "avoid_ros_namespace_conventions": False,
        }


@dataclass(frozen=True)
class BagTopic:
    """A topic as its bag describes it."""

    name: str
    msgtype: str  # such as sensor_msgs/msg/JointState
    definition: str  # as ros2msg, types that it uses included
    type_hash: str  # RIHS01_...
    qos: tuple[QosProfile, ...] = ()
    encoding: str = "ros2msg"  # of the definition: or ros2idl

    def qos_yaml(self) -> str:
        """The offered profiles as the YAML text that MCAP channels carry."""
        return str(yaml.safe_dump([profile.entry() for profile in self.qos])) if self.qos else ""


class BagFolder:
    """A bag being written. What :meth:`flush` has written survives the death of the process."""

    def __init__(
        self,
        parent: Path,
        prefix: str,
        compression: str = "none",
        *,
        distribution: str = "",
        dated: bool = True,
    ) -> None:
        """Create ``<parent>/<prefix>_<date>_<time>``; what is there stays untouched.

        Args:
          parent: Holds the bags; created if missing.
          prefix: Begins the folder's name.
          compression: ``none``, ``lz4`` or ``zstd``, of chunks.
          distribution: The ROS distribution that is running.
          dated: Whether date and time are part of the folder's name.

        Raises:
          OutputError: The folder or its file cannot be created.
        """
        self._compression = compression
        self._distribution = distribution
        self._topics: list[BagTopic] = []  # a topic's channel is its place here, from one
        self._complete: list[_FileSummary] = []
        made: Path | None = None
        try:
            made = self.path = _new_folder(parent, prefix, dated)
            self._file = self._open()
            # Room for the index, so that even a bag that fills the disk is completed.
            (self.path / _RESERVE).write_bytes(bytes(_RESERVE_SIZE))
        except OSError as error:
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)
            raise OutputError(f"cannot write bag {parent / prefix}: {error.strerror}") from error

    @property
    def message_count(self) -> int:
        """Messages taken so far."""
        # A file that was completed is counted with those, also where no next one could be begun.
        last = 0 if self._file.closed else sum(self._file.counts.values()) + self._file.pending
        return last + sum(file.messages for file in self._complete)

    @property
    def file_size(self) -> int:
        """Bytes in the file that is being written."""
        return self._file.size

    @property
    def size(self) -> int:
        """Bytes in all files."""
        return self._file.size + sum(file.size for file in self._complete)

    def add_topic(self, topic: BagTopic) -> int:
        """Announce a topic.

        Returns:
          Its channel, for :meth:`write`.
        """
        self._topics.append(topic)
        return self._announce(topic)

    def write(
        self, channel: int, data: bytes, *, log_ns: int, publish_ns: int, sequence: int = 0
    ) -> None:
        """Take one serialized message with the times it was received and published.

        Raises:
          OutputError: The disk is full or gone.
        """
        try:
            self._file.add_message(
                channel, data, log_ns=log_ns, publish_ns=publish_ns, sequence=sequence
            )
        except OSError as error:
            raise self._unwritable(error) from error

    def attach(self, name: str, media_type: str, data: bytes) -> None:
        """Put a file, such as the experiment, into the bag.

        Raises:
          OutputError: The disk is full or gone.
        """
        try:
            self._file.add_attachment(name, media_type, data)
        except OSError as error:
            raise self._unwritable(error) from error

    def add_record(self, name: str, entries: Mapping[str, str]) -> None:
        """Put named texts, such as a model's hash, into the bag.

        Raises:
          OutputError: The disk is full or gone.
        """
        try:
            self._file.add_metadata(name, entries)
        except OSError as error:
            raise self._unwritable(error) from error

    def flush(self) -> bool:
        """Hand everything taken so far to the operating system.

        Where somebody has deleted the file, it is written anew from what is still open.

        Returns:
          Whether that was necessary.

        Raises:
          OutputError: The disk is full or gone.
        """
        try:
            self._file.flush()
            vanished = self._file.vanished
            if vanished:
                self.path.mkdir(parents=True, exist_ok=True)
                self._file.move(self.path / self._name)
        except OSError as error:
            raise self._unwritable(error) from error
        return vanished

    def split(self) -> None:
        """Complete the present file and go on in a new one.

        Raises:
          OutputError: The disk is full or gone.
        """
        try:
            self._complete_file()
            self._file = self._open()
            for topic in self._topics:
                self._announce(topic)
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Complete the file and write ``metadata.yaml``.

        Raises:
          OutputError: The disk is full or gone; the bag is readable up to the last flush.
        """
        try:
            self._file.flush()
            (self.path / _RESERVE).unlink(missing_ok=True)
            self._complete_file()
            self._write_metadata()
        except OSError as error:
            raise self._unwritable(error) from error

    def end_early(self) -> int:
        """Complete the bag, as far as possible, after a disk has failed.

        Returns:
          How many messages were taken and are not in it.
        """
        with suppress(OSError):  # they may fit once the reserve is given back
            (self.path / _RESERVE).unlink(missing_ok=True)
        dropped = self._file.drop_pending()
        with suppress(OSError, OutputError):  # without its index the bag is still readable
            if not self._file.closed:
                self._complete_file()
            self._write_metadata()
        self._file.abandon()
        return dropped

    def _open(self) -> McapFile:
        self._name = f"{self.path.name}_{len(self._complete)}.mcap"
        return McapFile(self.path / self._name, library="sysid_ros", compression=self._compression)

    def _announce(self, topic: BagTopic) -> int:
        metadata = {"offered_qos_profiles": topic.qos_yaml(), "topic_type_hash": topic.type_hash}
        return self._file.add_channel(
            topic.name,
            topic.msgtype,
            topic.encoding if topic.definition else "",
            topic.definition,
            metadata,
        )

    def _complete_file(self) -> None:
        self._file.flush()  # so that the counts are of all messages
        document = self._document([*self._complete, _summary(self._name, self._file)])
        self._file.add_metadata("rosbag2", {"serialized_metadata": document})
        self._file.close()
        self._complete.append(_summary(self._name, self._file))

    def _write_metadata(self) -> None:
        present = [file for file in self._complete if (self.path / file.name).is_file()]
        replace_file(self.path / "metadata.yaml", self._document(present))
        sync_folder(self.path.parent)  # the bag's own name

    def _document(self, files: Sequence[_FileSummary]) -> str:
        counts = sum((file.counts for file in files), Counter[int]())
        spans = [file for file in files if file.messages]
        first = min((file.first_ns for file in spans), default=0)
        last = max((file.last_ns for file in spans), default=0)
        information = {
            "version": _METADATA_VERSION,
            "storage_identifier": "mcap",
            **_span(first, last, sum(counts.values())),
            "topics_with_message_count": [
                _topic_entry(topic, counts[channel])
                for channel, topic in enumerate(self._topics, start=1)
            ],
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [file.name for file in files],
            "files": [
                {"path": file.name, **_span(file.first_ns, file.last_ns, file.messages)}
                for file in files
            ],
            "custom_data": None,
            "ros_distro": self._distribution,
        }
        return str(yaml.safe_dump({"rosbag2_bagfile_information": information}))

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(f"cannot write to {self.path}: {error.strerror or error}")


@dataclass(frozen=True)
class _FileSummary:
    """The entry of ``metadata.yaml`` about one file."""

    name: str
    size: int
    first_ns: int
    last_ns: int
    counts: Counter[int]

    @property
    def messages(self) -> int:
        return sum(self.counts.values())


def _summary(name: str, file: McapFile) -> _FileSummary:
    first, last = file.time_range
    return _FileSummary(name, file.size, first, last, Counter(file.counts))


def _span(first_ns: int, last_ns: int, count: int) -> dict[str, Any]:
    return {
        "starting_time": {"nanoseconds_since_epoch": first_ns},
        "duration": {"nanoseconds": last_ns - first_ns},
        "message_count": count,
    }


def _topic_entry(topic: BagTopic, count: int) -> dict[str, Any]:
    return {
        "topic_metadata": {
            "name": topic.name,
            "type": topic.msgtype,
            "serialization_format": "cdr",
            "offered_qos_profiles": [profile.entry() for profile in topic.qos],
            "type_description_hash": topic.type_hash,
        },
        "message_count": count,
    }


def _new_folder(parent: Path, prefix: str, dated: bool) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    if not dated:
        (parent / prefix).mkdir()
        return parent.absolute() / prefix
    name = f"{prefix}_{datetime.now().strftime('%Y-%m-%d_%H-%M-%S')}"
    for candidate in (name, *(f"{name}_{n}" for n in range(2, _MAX_SUFFIX))):
        try:
            (parent / candidate).mkdir()
        except FileExistsError:
            continue
        return parent.absolute() / candidate
    raise OutputError(f"{parent} already holds {_MAX_SUFFIX} bags named {name}")


def _duration(nanoseconds: int) -> dict[str, int]:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return {"sec": seconds, "nsec": rest}
