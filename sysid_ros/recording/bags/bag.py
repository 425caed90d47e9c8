# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One type for every bag: :func:`open_recording`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.closing import Closing
from sysid_ros.errors import BagError, unknown_name
from sysid_ros.recording.bags.bag_files import BagFiles, find_bag_files
from sysid_ros.recording.bags.decompression import UNDECOMPRESSABLE, decompress
from sysid_ros.recording.bags.storage import Storage, StoredTopic
from sysid_ros.recording.bags.storage_formats import ZSTD_MAGIC, open_storage
from sysid_ros.recording.messages import Definition, Definitions, RawMessage

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs

_REPORTED = 4096  # messages between two reports of progress
_MOST_TOPICS = 2000
_SERIALIZATIONS = ("cdr", "ros1")


@dataclass(frozen=True)
class TopicInfo:
    """One topic of a recording."""

    name: str
    msgtype: str  # its type in ROS 2 spelling; several, separated by ``" | "``, if it changed
    # how many messages ``metadata.yaml`` or else the files' indices promise, ``None`` where nothing
    # does
    promised: int | None
    serialization: str  # ``"cdr"``, ``"ros1"``, or what the bag says
    qos: str  # the offered QoS profiles as text, empty where unknown
    definition: Definition  # its definition in the bag
    # what other files or connections say, where the texts differ
    other_definitions: tuple[Definition, ...] = ()


class Recording(Closing):
    """An open bag; use it as a context manager. Made by :func:`open_recording`."""

    def __init__(
        self,
        files: BagFiles,
        storages: Sequence[Storage],
        definitions: Definitions,
        resources: ExitStack,
    ) -> None:
        """Take over opened files; :func:`open_recording` does this."""
        self._files = files
        self._storages = tuple(storages)
        self._definitions = definitions
        self._resources = resources
        self._packed = files.message_compression
        self._on_progress: Callable[[float], None] | None = None
        stored = [topic for storage in storages for topic in storage.topics]
        names = {topic.name for topic in stored}.union(files.promised or ())
        if len(names) > _MOST_TOPICS:
            raise BagError(
                f"bag {files.path} has {len(names)} topics; at most {_MOST_TOPICS} are read"
            )
        self.topics: Mapping[str, TopicInfo] = _merge(stored, files.promised)
        self.format = storages[0].format

    def close(self) -> None:
        """Close the files."""
        self._resources.close()

    @property
    def path(self) -> Path:
        """The file or folder that was opened."""
        return self._files.path

    @property
    def files(self) -> tuple[Path, ...]:
        """The storage files, in recording order."""
        return self._files.files

    @property
    def warnings(self) -> tuple[str, ...]:
        """Faults of the files, one sentence each; complete once all was read."""
        found = [text for storage in self._storages for text in storage.warnings]
        return (*self._files.warnings, *found)

    @property
    def checks(self) -> tuple[str, ...]:
        """Checks that vouch for the messages, one sentence each; complete once all was read."""
        return tuple(text for storage in self._storages for text in storage.checks)

    def sha256(self) -> str:
        """Return a hash of the bag's contents, for provenance."""
        return self._files.sha256()

    def topic(self, name: str) -> TopicInfo:
        """Return a topic that a message can be read from.

        Raises:
          BagError: The bag has no such topic, it has two types, or a serialization that is
            neither CDR nor ROS 1.
        """
        if name not in self.topics:
            raise BagError(f"bag {self.path}: {unknown_name('topic', name, self.topics)}")
        topic = self.topics[name]
        if " | " in topic.msgtype:
            raise BagError(f"bag {self.path}: topic {name} holds several types, {topic.msgtype}")
        if topic.serialization not in _SERIALIZATIONS:
            raise BagError(
                f"bag {self.path}: topic {name} is serialized as {topic.serialization!r}; "
                f"readable are {', '.join(_SERIALIZATIONS)}"
            )
        return topic

    def types(self, name: str) -> dict[str, Fielddefs]:
        """Return the fields of a topic's type and of the types it uses.

        Raises:
          BagError: As :meth:`topic`, or the type has no definition, or two that differ.
        """
        topic = self.topic(name)
        try:
            types, *others = (
                self._definitions.types(topic.msgtype, one, serialization=topic.serialization)
                for one in (topic.definition, *topic.other_definitions)
            )
        except BagError as error:
            raise BagError(f"bag {self.path}, topic {name}: {error}") from error
        if any(other != types for other in others):
            raise BagError(
                f"bag {self.path}: topic {name} holds messages of different versions of "
                f"{topic.msgtype}"
            )
        return types

    def messages(self, topics: Collection[str] | None = None) -> Iterator[RawMessage]:
        """Yield messages as they lie in the files.

        Within one topic that is the order in which they were received, except for files that a
        recorder wrote out of order.

        Args:
          topics: Names of the wanted topics; ``None`` for all.

        Raises:
          BagError: A file is damaged, or a topic is not in the bag.
        """
        wanted = set(self.topics) if topics is None else set(topics)
        for name in wanted - set(self.topics):
            raise BagError(f"bag {self.path}: {unknown_name('topic', name, self.topics)}")
        for number, storage in enumerate(self._storages):
            messages = storage.messages(wanted)
            if self._packed:
                messages = map(_unpack_message, messages)
            if self._on_progress is None:
                yield from messages
                continue
            while batch := list(islice(messages, _REPORTED)):
                yield from batch
                self._on_progress((number + storage.progress) / len(self._storages))


def open_recording(
    path: str | Path,
    *,
    msg_paths: Sequence[str | Path] = (),
    salvage: bool = False,
    on_progress: Callable[[float], None] | None = None,
) -> Recording:
    """Open a bag of any format.

    Args:
      path: A bag folder or a single ``.mcap``, ``.db3`` or ``.bag`` file. The format is told by
        content, not by name.
      msg_paths: ``.msg`` files or folders of them, for types that neither the bag nor ROS's
        standard packages define.
      salvage: Leave damaged parts out with a warning, where the format allows, instead of
        refusing the bag.
      on_progress: Told now and then how much has been read, 0 to 1, by each pass over the bag.

    Raises:
      BagError: The path is missing, not a bag, damaged, or without messages.
    """
    files = find_bag_files(Path(path))
    definitions = Definitions([Path(part) for part in msg_paths], ros_distro=files.ros_distro)
    with ExitStack() as stack:
        storages: list[Storage] = []
        for file in files.files:
            if len(files.files) > 1 and not file.stat().st_size:
                note = f"{file.name} is empty (0 bytes) and was left out."
                files = replace(files, warnings=(*files.warnings, note))
                continue
            storage = open_storage(file, stack, salvage)
            stack.callback(storage.close)
            storages.append(storage)
        if not storages:
            raise BagError(f"bag {files.path}: all of its files are empty (0 bytes)")
        recording = Recording(files, storages, definitions, stack)
        _check_content(recording)
        recording._on_progress = on_progress
        recording._resources = stack.pop_all()
    return recording


def _unpack_message(message: RawMessage) -> RawMessage:
    try:
        return message._replace(data=decompress("zstd", message.data))
    except UNDECOMPRESSABLE as error:
        raise BagError(f"a message of {message.topic} does not decompress: {error}") from error


def _merge(
    stored: Sequence[StoredTopic], promised: Mapping[str, int] | None
) -> dict[str, TopicInfo]:
    """Join the connections of each topic, over all files."""
    groups: dict[str, list[StoredTopic]] = {}
    for topic in stored:
        groups.setdefault(topic.name, []).append(topic)
    merged = {}
    for name, group in sorted(groups.items()):
        counts = [topic.promised for topic in group]
        indexed = None if None in counts else sum(count or 0 for count in counts)
        texts = {one.definition.text: one.definition for one in group if one.definition.language}
        defined = list(texts.values()) or [group[0].definition]
        merged[name] = TopicInfo(
            name=name,
            msgtype=" | ".join(sorted({topic.msgtype for topic in group})),
            promised=indexed if promised is None else promised.get(name, indexed),
            serialization=group[0].serialization,
            qos=group[0].qos,
            definition=defined[0],
            other_definitions=tuple(defined[1:]),
        )
    for name, count in (promised or {}).items():
        if count and name not in merged:
            merged[name] = TopicInfo(name, "", count, "cdr", "", Definition())
    return merged


def _check_content(recording: Recording) -> None:
    """Refuse bags that cannot hold a single usable message."""
    topics = recording.topics.values()
    if topics and all(topic.serialization not in _SERIALIZATIONS for topic in topics):
        named = ", ".join(sorted({repr(topic.serialization) for topic in topics}))
        raise BagError(
            f"bag {recording.path} is serialized as {named}; "
            f"readable are {', '.join(_SERIALIZATIONS)}"
        )
    first = next(recording.messages(), None)
    if first is None:
        promised = sum(topic.promised or 0 for topic in topics)
        promise = f" although its metadata promises {promised}" if promised else ""
        why = f": {' '.join(recording.warnings)[:-1]}" if recording.warnings else ""
        raise BagError(f"bag {recording.path} holds no messages{promise}{why}")
    # Without metadata nothing says that messages are compressed, but no CDR starts like that.
    if first.data.startswith(ZSTD_MAGIC):
        recording._packed = True
