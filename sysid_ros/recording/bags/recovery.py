# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A whole, indexed bag from what is left of a broken one, which stays as it is.

Broken are bags whose recorder was killed or ran out of disk: MCAP files that end in the middle or
have no index, SQLite files with a journal of what was not completed, folders without
``metadata.yaml`` or with one that disagrees with the files.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rosbags.typesys import Stores, TypesysError, get_typestore

from sysid_ros.errors import BagError
from sysid_ros.recording.bags.bag import Recording, TopicInfo, open_recording
from sysid_ros.recording.bags.bag_files import find_bag_files, storage_files
from sysid_ros.recording.bags.bag_folder import BagFolder, BagTopic
from sysid_ros.recording.bags.mcap_extras import STORAGE_RECORD, McapExtras, read_extras
from sysid_ros.recording.bags.qos_text import read_profiles
from sysid_ros.recording.messages import RawMessage

_PACKED = (".zstd", ".zst")
_ENCODINGS = {"msg": "ros2msg", "idl": "ros2idl"}


@dataclass
class Recovery:
    """The outcome of a recovery."""

    path: Path  # the new bag
    messages: int = 0  # how many messages it holds
    topics: dict[str, int] = field(default_factory=dict)  # messages by topic
    first_ns: int = 0  # receive time of the first message
    last_ns: int = 0  # receive time of the last one
    extras: int = 0  # files and records besides messages
    warnings: list[str] = field(default_factory=list)  # what could not be saved, one sentence each

    def __str__(self) -> str:
        seconds = (self.last_ns - self.first_ns) / 1e9
        lines = [
            f"{self.path}: {self.messages} messages in {seconds:.3f} s, {self.extras} attachments "
            "and records",
            *(f"  {name}  {count}" for name, count in sorted(self.topics.items())),
            *(f"! {text}" for text in self.warnings),
        ]
        return "\n".join(lines)


def recover(
    path: str | Path,
    *,
    output: Path | None = None,
    compression: str = "none",
    msg_paths: Sequence[str | Path] = (),
) -> Recovery:
    """Copy everything readable of a bag into a new one.

    Args:
      path: The broken bag: a folder or a file.
      output: The new bag's folder, which must not exist; ``<bag>_recovered`` beside it by default.
      compression: ``none``, ``lz4`` or ``zstd``, of the new bag's chunks.
      msg_paths: Message definitions that neither the bag nor ROS has.

    Raises:
      BagError: Nothing can be saved.
      OutputError: The new bag cannot be written.
    """
    source = Path(path)
    files, promised = _files_of(source)
    folder = output or _beside(source)
    bag: BagCopy | None = None
    complaints: list[str] = []
    with ExitStack() as undo:  # half a copy helps nobody, and keeps the next one from its name
        for file in files:
            try:
                with open_recording(file, msg_paths=msg_paths, salvage=True) as recording:
                    _refuse_ros1(recording)
                    if bag is None:
                        bag = BagCopy(
                            BagFolder(folder.parent, folder.name, compression, dated=False)
                        )
                        undo.callback(shutil.rmtree, folder, ignore_errors=True)
                    complaints += bag.take(recording, read_extras(file))
            except BagError as error:
                complaints.append(str(error))
        if bag is None:
            raise BagError(f"nothing can be saved of {source}: {'; '.join(complaints)}")
        recovery = bag.close()
        undo.pop_all()
    recovery.warnings = [*complaints, *_broken_promise(promised, recovery.messages)]
    return recovery


def _refuse_ros1(recording: Recording) -> None:
    if recording.format == "rosbag1":
        raise BagError(f"{recording.path} is a bag of ROS 1, which is repaired by rosbag reindex")


def _files_of(source: Path) -> tuple[tuple[Path, ...], int | None]:
    """The storage files there really are, and how many messages ``metadata.yaml`` promises."""
    if source.is_dir():
        promised = None
        with suppress(BagError):  # a bag is broken in that way, too
            named = find_bag_files(source)
            promised = sum(named.promised.values()) if named.promised else None
        files = storage_files(source)
        packed = {file.name for file in files if file.suffix in _PACKED}
        # rosbag2 leaves beside a compressed file what it has decompressed
        twins = [file for file in files if any(file.name + end in packed for end in _PACKED)]
        return tuple(file for file in files if file not in twins), promised
    return find_bag_files(source).files, None


def _beside(source: Path) -> Path:
    """A folder beside a bag that does not exist yet."""
    bag = source.absolute()
    name = f"{bag.stem if bag.is_file() else bag.name}_recovered"
    candidates = (bag.parent / (name if n == 1 else f"{name}_{n}") for n in range(1, 1000))
    return next(path for path in candidates if not path.exists())


def _broken_promise(promised: int | None, saved: int) -> list[str]:
    if promised is None or promised <= saved:
        return []
    return [f"metadata.yaml promises {promised} messages, {saved} could be saved."]


class BagCopy:
    """The new bag while it is filled."""

    def __init__(self, bag: BagFolder) -> None:
        self._bag = bag
        self._channels: dict[tuple[str, str, str], int] = {}
        self._recovery = Recovery(bag.path)

    def take(
        self,
        recording: Recording,
        extras: McapExtras,
        chosen: Callable[[RawMessage], bool] | None = None,
    ) -> list[str]:
        """Copy one file, or the messages chosen of it; returns what could not be copied."""
        for attachment in extras.attachments:
            self._bag.attach(attachment.name, attachment.media_type, attachment.data)
        records = {k: v for k, v in (extras.records or {}).items() if k != STORAGE_RECORD}
        for name, entries in records.items():
            self._bag.add_record(name, entries)
        self._recovery.extras += len(extras.attachments) + len(records)
        complaints, channels = [], {}
        for name, topic in recording.topics.items():
            try:
                channels[name] = self._channel(recording, topic)
            except BagError as error:
                complaints.append(f"{error}; it is left out.")
        before = Counter(self._recovery.topics)
        try:
            self._copy(recording, channels, chosen)
        except BagError as error:
            complaints.append(str(error))
        if chosen is not None:
            return [*complaints, *recording.warnings]
        saved = Counter(self._recovery.topics) - before
        complaints += [
            f"{name}: {topic.promised} messages are promised by the file, {saved[name]} were saved."
            for name, topic in recording.topics.items()
            if topic.promised is not None and topic.promised > saved[name]
        ]
        return [*complaints, *recording.warnings]

    def close(self) -> Recovery:
        """Complete the bag."""
        self._bag.close()
        return self._recovery

    def _copy(
        self,
        recording: Recording,
        channels: dict[str, int],
        chosen: Callable[[RawMessage], bool] | None,
    ) -> None:
        saved = self._recovery
        for message in filter(chosen, recording.messages(channels)):
            self._bag.write(
                channels[message.topic],
                message.data,
                log_ns=message.log_ns,
                publish_ns=message.publish_ns or message.log_ns,
            )
            saved.topics[message.topic] = saved.topics.get(message.topic, 0) + 1
            first = saved.first_ns if saved.messages else message.log_ns
            saved.first_ns, saved.last_ns = (
                min(first, message.log_ns),
                max(saved.last_ns, message.log_ns),
            )
            saved.messages += 1

    def _channel(self, recording: Recording, topic: TopicInfo) -> int:
        recording.topic(topic.name)  # refuses what no reader could tell apart
        where = f"bag {recording.path}: topic {topic.name}"
        if topic.serialization != "cdr":
            raise BagError(f"{where} is serialized as {topic.serialization!r}, not as by ROS 2")
        if topic.other_definitions:
            raise BagError(f"{where} holds messages of different versions of {topic.msgtype}")
        key = topic.name, topic.msgtype, topic.definition.text
        if key not in self._channels:
            self._channels[key] = self._bag.add_topic(_described(recording, topic))
        return self._channels[key]


def _described(recording: Recording, topic: TopicInfo) -> BagTopic:
    """The topic with its definition, from ROS's own types where the bag has none."""
    language, text, digest = (
        topic.definition.language,
        topic.definition.text,
        topic.definition.digest,
    )
    if not language:
        language, text, digest = next(_standard_definition(recording, topic), ("msg", "", digest))
    return BagTopic(
        topic.name, topic.msgtype, text, digest, read_profiles(topic.qos), _ENCODINGS[language]
    )


def _standard_definition(recording: Recording, topic: TopicInfo) -> Iterator[tuple[str, str, str]]:
    """Language, text and hash of a type that the bag only names, if it is known at all."""
    store = get_typestore(Stores.EMPTY)
    with suppress(BagError, TypesysError):
        store.register({name: ([], fields) for name, fields in recording.types(topic.name).items()})
        text, _ = store.generate_msgdef(topic.msgtype, ros_version=2)
        yield "msg", text, store.hash_rihs01(topic.msgtype)
