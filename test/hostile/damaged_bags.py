# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small bags of every format, whole and damaged by a seeded generator; what they really hold."""

from __future__ import annotations

import random
import re
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from mcap.reader import NonSeekingReader
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from rosbags.rosbag1 import Reader as Rosbag1Reader
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Rosbag2Writer
from rosbags.typesys import Stores, get_typestore

START_NS = 1_700_000_000_000_000_000
MESSAGES = 60
TOPICS = ("/joint", "/command")
TYPE = "std_msgs/msg/Float64"

Held = Counter[tuple[str, int, bytes]]  # topic, time of receipt, content


def _payload(number: int) -> bytes:
    return b"\x00\x01\x00\x00" + struct.pack("<d", number / 7.0)


def _stamp(number: int) -> int:
    return START_NS + number * 1_000_000


def write_mcap(
    path: Path, *, compression: CompressionType = CompressionType.NONE, crc: bool = True
) -> Path:
    """A file of several chunks, as recorders write them, with or without checksums."""
    with path.open("wb") as stream:
        writer = McapWriter(
            stream, chunk_size=256, compression=compression, enable_crcs=crc, enable_data_crcs=False
        )
        writer.start()
        schema = writer.register_schema(TYPE, "ros2msg", b"float64 data")
        channels = [writer.register_channel(topic, "cdr", schema) for topic in TOPICS]
        for number in range(MESSAGES):
            stamp = _stamp(number)
            writer.add_message(channels[number % 2], stamp, _payload(number), stamp)
        writer.finish()
    return path


def write_sqlite3(path: Path) -> Path:
    """A file of rosbag2's SQLite storage."""
    store = get_typestore(Stores.ROS2_KILTED)
    folder = path.with_suffix("")
    with Rosbag2Writer(folder, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        connections = [writer.add_connection(topic, TYPE, typestore=store) for topic in TOPICS]
        for number in range(MESSAGES):
            writer.write(connections[number % 2], _stamp(number), _payload(number))
    (folder / f"{folder.name}.db3").replace(path)
    return path


def write_rosbag1(path: Path, compression: str = "none") -> Path:
    """A bag of ROS 1."""
    store = get_typestore(Stores.ROS1_NOETIC)
    writer = Rosbag1Writer(path)
    writer.chunk_threshold = 500
    if compression != "none":
        writer.set_compression(Rosbag1Writer.CompressionFormat[compression.upper()])
    with writer:
        connections = [writer.add_connection(topic, TYPE, typestore=store) for topic in TOPICS]
        for number in range(MESSAGES):
            writer.write(connections[number % 2], _stamp(number), _payload(number)[4:])
    return path


WRITERS = {
    "mcap": lambda path: write_mcap(path.with_suffix(".mcap")),
    "mcap-without-checksums": lambda path: write_mcap(path.with_suffix(".mcap"), crc=False),
    "mcap-lz4": lambda path: write_mcap(path.with_suffix(".mcap"), compression=CompressionType.LZ4),
    "mcap-zstd": lambda path: write_mcap(
        path.with_suffix(".mcap"), compression=CompressionType.ZSTD
    ),
    "sqlite3": lambda path: write_sqlite3(path.with_suffix(".db3")),
    "rosbag1": lambda path: write_rosbag1(path.with_suffix(".bag")),
    "rosbag1-bz2": lambda path: write_rosbag1(path.with_suffix(".bag"), "bz2"),
}


def truth(path: Path) -> Held:
    """What a whole file holds, by a reader that is not ours."""
    if path.suffix == ".mcap":
        with path.open("rb") as stream:
            return Counter(
                (channel.topic, message.log_time, message.data)
                for _, channel, message in NonSeekingReader(stream).iter_messages()
            )
    if path.suffix == ".db3":
        with closing(sqlite3.connect(path)) as database:
            return Counter(
                database.execute(
                    "SELECT name, timestamp, data FROM messages JOIN topics "
                    "ON topics.id = messages.topic_id"
                )
            )
    with Rosbag1Reader(path) as reader:
        return Counter((c.topic, stamp, bytes(data)) for c, stamp, data in reader.messages())


def damaged(content: bytes, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield files cut off and files with one byte changed, in turn, and what was done to them."""
    generator = random.Random(seed)
    # Filler is left alone: nothing depends on it.
    filler = [range(*run.span()) for run in re.finditer(rb"\0{64,}| {64,}", content)]
    positions = [at for at in range(len(content)) if not any(at in run for run in filler)]
    for number in range(count):
        position = generator.choice(positions)
        if number % 2:
            yield f"cut at {position}", content[:position]
        else:
            changed = bytearray(content)
            changed[position] ^= generator.randrange(1, 256)
            yield f"byte {position} changed to {changed[position]}", bytes(changed)
