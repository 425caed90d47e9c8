"""A rosbag2 folder: one MCAP file and the ``metadata.yaml`` that describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from sysid_ros.errors import OutputError
from sysid_ros.nodes.mcap_file import McapFile

_METADATA_VERSION = 9
_MAX_SUFFIX = 1000  # bags that may be started within one second


@dataclass(frozen=True)
class QosProfile:
    """What one publisher offers, in the words of rosbag2's metadata."""

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

    def qos_yaml(self) -> str:
        """The offered profiles as the YAML text that MCAP channels carry."""
        return str(yaml.safe_dump([profile.entry() for profile in self.qos])) if self.qos else ""


class BagFolder:
    """A bag being written. What :meth:`flush` has written survives the death of the process."""

    def __init__(
        self, parent: Path, prefix: str, *, compression: str = "none", distribution: str = ""
    ) -> None:
        """Create ``<parent>/<prefix>_<date>_<time>``; what is there stays untouched.

        Args:
          parent: Holds the bags; created if missing.
          prefix: Begins the folder's name.
          compression: ``none``, ``lz4`` or ``zstd``, of chunks.
          distribution: The ROS distribution that is running.

        Raises:
          OutputError: The folder or its file cannot be created.
        """
        try:
            self.path = _new_folder(parent, prefix)
            self._name = f"{self.path.name}_0.mcap"
            self._file = McapFile(
                self.path / self._name, library="sysid_ros", compression=compression
            )
        except OSError as error:
            raise OutputError(f"cannot write a bag below {parent}: {error.strerror}") from error
        self._distribution = distribution
        self._topics: dict[int, BagTopic] = {}

    @property
    def message_count(self) -> int:
        """Messages taken so far."""
        return sum(self._file.counts.values())

    def add_topic(self, topic: BagTopic) -> int:
        """Announce a topic.

        Returns:
          Its channel, for :meth:`write`.
        """
        metadata = {"offered_qos_profiles": topic.qos_yaml(), "topic_type_hash": topic.type_hash}
        channel = self._file.add_channel(
            topic.name, topic.msgtype, "ros2msg", topic.definition, metadata
        )
        self._topics[channel] = topic
        return channel

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

    def flush(self) -> None:
        """Hand everything taken so far to the operating system.

        Raises:
          OutputError: The disk is full or gone.
        """
        try:
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Complete the file and write ``metadata.yaml``.

        Raises:
          OutputError: The disk is full or gone; the bag is readable up to the last flush.
        """
        try:
            document = yaml.safe_dump({"rosbag2_bagfile_information": self._information()})
            self._file.add_metadata("rosbag2", {"serialized_metadata": document})
            self._file.close()
            temporary = self.path / ".metadata.yaml"
            temporary.write_text(document, encoding="utf-8")
            temporary.replace(self.path / "metadata.yaml")
        except OSError as error:
            raise self._unwritable(error) from error

    def _information(self) -> dict[str, Any]:
        counts = self._file.counts
        first, last = self._file.time_range
        span = {
            "starting_time": {"nanoseconds_since_epoch": first},
            "duration": {"nanoseconds": last - first},
            "message_count": sum(counts.values()),
        }
        return {
            "version": _METADATA_VERSION,
            "storage_identifier": "mcap",
            **span,
            "topics_with_message_count": [
                _topic_entry(topic, counts.get(channel, 0))
                for channel, topic in self._topics.items()
            ],
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [self._name],
            "files": [{"path": self._name, **span}],
            "custom_data": None,
            "ros_distro": self._distribution,
        }

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(f"cannot write to {self.path}: {error.strerror or error}")


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


def _new_folder(parent: Path, prefix: str) -> Path:
    name = f"{prefix}_{datetime.now().strftime('%Y-%m-%d_%H-%M-%S')}"
    candidates: Sequence[str] = [name, *(f"{name}_{n}" for n in range(2, _MAX_SUFFIX))]
    parent.mkdir(parents=True, exist_ok=True)
    for candidate in candidates:
        try:
            (parent / candidate).mkdir()
        except FileExistsError:
            continue
        return parent.absolute() / candidate
    raise OutputError(f"{parent} already holds {_MAX_SUFFIX} bags named {name}")


def _duration(nanoseconds: int) -> dict[str, int]:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return {"sec": seconds, "nsec": rest}
