# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bags written on the spot, with the writers of rosbags and mcap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import CompressionFormat, StoragePlugin
from rosbags.rosbag2 import Writer as Rosbag2Writer
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

START_NS = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class Entry:
    """One message to write."""

    topic: str
    log_ns: int
    message: Any


WriteBag = Callable[..., Path]


@pytest.fixture(scope="session")
def ros2() -> Typestore:
    return get_typestore(Stores.ROS2_KILTED)


@pytest.fixture(scope="session")
def ros1() -> Typestore:
    return get_typestore(Stores.ROS1_NOETIC)


@pytest.fixture
def joint_state(ros2: Typestore) -> Callable[..., Any]:
    """Make a JointState from a stamp in nanoseconds and arrays by joint."""

    def make(
        stamp_ns: int,
        names: Sequence[str],
        position: Sequence[float] = (),
        velocity: Sequence[float] = (),
        effort: Sequence[float] = (),
        *,
        frame: str = "",
        store: Typestore = ros2,
    ) -> Any:
        types = store.types
        stamp = types["builtin_interfaces/msg/Time"](stamp_ns // 10**9, stamp_ns % 10**9)
        sequence = {"seq": 0} if "seq" in types["std_msgs/msg/Header"].__annotations__ else {}
        header = types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame, **sequence)
        arrays = [np.array(values, dtype=np.float64) for values in (position, velocity, effort)]
        return types["sensor_msgs/msg/JointState"](header, list(names), *arrays)

    return make


@pytest.fixture
def multi_array(ros2: Typestore) -> Callable[..., Any]:
    def make(*values: float, store: Typestore = ros2) -> Any:
        layout = store.types["std_msgs/msg/MultiArrayLayout"]([], 0)
        data = np.array(values, dtype=np.float64)
        return store.types["std_msgs/msg/Float64MultiArray"](layout, data)

    return make


@pytest.fixture
def write_bag(tmp_path: Path, ros2: Typestore, ros1: Typestore) -> WriteBag:
    """Write entries as a bag of the wanted format and return its folder (or file for ROS 1)."""

    def write(
        entries: Iterable[Entry], name: str = "bag", *, form: str = "mcap", compression: Any = None
    ) -> Path:
        if form == "rosbag1":
            ros1_writer = Rosbag1Writer(tmp_path / f"{name}.bag")
            if compression is not None:
                ros1_writer.set_compression(compression)
            _write(ros1_writer, entries, ros1, ros1.serialize_ros1)
            return tmp_path / f"{name}.bag"
        plugin = {"mcap": StoragePlugin.MCAP, "sqlite3": StoragePlugin.SQLITE3}[form]
        writer = Rosbag2Writer(tmp_path / name, version=9, storage_plugin=plugin)
        if compression is not None:
            writer.set_compression(compression, CompressionFormat.ZSTD)
        _write(writer, entries, ros2, ros2.serialize_cdr)
        return tmp_path / name

    return write


def _write(
    writer: Rosbag1Writer | Rosbag2Writer,
    entries: Iterable[Entry],
    store: Typestore,
    serialize: Callable[[Any, str], Any],
) -> None:
    connections: dict[str, Any] = {}
    with writer:
        for entry in entries:
            msgtype, topic = entry.message.__msgtype__, entry.topic
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, msgtype, typestore=store)
            writer.write(connections[topic], entry.log_ns, serialize(entry.message, msgtype))


@pytest.fixture
def arm(joint_state: Callable[..., Any], multi_array: Callable[..., Any]) -> list[Entry]:
    """Two joints swinging for one second at 100 Hz, a stepped command at 50 Hz."""
    entries = []
    for tick in range(100):
        stamp = START_NS + tick * 10_000_000
        t = tick * 0.01
        position = [np.sin(3.0 * t), np.cos(3.0 * t)]
        velocity = [3.0 * np.cos(3.0 * t), -3.0 * np.sin(3.0 * t)]
        message = joint_state(stamp, ["shoulder", "elbow"], position, velocity, [t, -t])
        entries.append(Entry("/joint_states", stamp + 500_000, message))
        if tick % 2 == 0:
            entries.append(Entry("/command", stamp + 600_000, multi_array(float(tick // 20), 1.0)))
    return entries
