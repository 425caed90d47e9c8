# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The same recording is the same signals, whatever it is stored as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import CompressionMode

from sysid_ros.cli import main

EXPERIMENT = """model: arm.xml
sequences: [bag]
clock: {clock}
parameters: [{{joint: elbow, damping: }}]
signals:
  - {{qpos: shoulder, topic: /joint_states, field: "position[shoulder]"}}
  - {{qvel: elbow, topic: /joint_states, field: "velocity[elbow]"}}
  - {{actuator: motor, topic: /command, field: "data[0]", clock: receive}}
"""
MODEL = """<mujoco><worldbody><body><joint name="shoulder"/><geom size="0.1"/>
  <body><joint name="elbow"/><geom size="0.1"/></body></body></worldbody>
  <actuator><motor name="motor" joint="elbow"/></actuator></mujoco>"""


def exported(bag: Path, folder: Path, clock: str) -> dict[str, np.ndarray]:
    folder.mkdir(exist_ok=True)
    (folder / "arm.xml").write_text(MODEL)
    file, arrays = folder / "experiment.yaml", folder / "arrays.npz"
    file.write_text(EXPERIMENT.format(clock=clock))
    assert main(["export", str(file), "--bag", str(bag), "--output", str(arrays)]) == 0
    with np.load(arrays) as found:
        return {name: found[name] for name in found.files}


def as_ros1(entries: list[Any], store: Any) -> list[Any]:
    """The same messages with the headers of ROS 1."""
    changed = []
    for entry in entries:
        message = entry.message
        if hasattr(message, "header"):
            stamp = store.types["builtin_interfaces/msg/Time"](
                message.header.stamp.sec, message.header.stamp.nanosec
            )
            header = store.types["std_msgs/msg/Header"](0, stamp, "")
            parts = (message.name, message.position, message.velocity, message.effort)
            message = store.types["sensor_msgs/msg/JointState"](header, *parts)
        changed.append(type(entry)(entry.topic, entry.log_ns, message))
    return changed


def write_plain_mcap(path: Path, entries: list[Any], store: Any, **options: Any) -> Path:
    """Write a file without a folder, as the mcap library does."""
    with path.open("wb") as stream:
        writer = McapWriter(stream, **options)
        writer.start("ros2")
        channels: dict[str, int] = {}
        for entry in entries:
            kind = entry.message.__msgtype__
            if entry.topic not in channels:
                text, _ = store.generate_msgdef(kind, ros_version=2)
                schema = writer.register_schema(kind, "ros2msg", text.encode())
                channels[entry.topic] = writer.register_channel(entry.topic, "cdr", schema)
            data = bytes(store.serialize_cdr(entry.message, kind))
            writer.add_message(channels[entry.topic], entry.log_ns, data, entry.log_ns)
        writer.finish()
    return path


@pytest.mark.parametrize("clock", ["header", "receive"])
def test_every_format_gives_the_same_signals(arm, write_bag, ros1, ros2, tmp_path, clock) -> None:
    old = as_ros1(arm, ros1)
    bags = [
        write_bag(arm, "mcap"),
        write_bag(arm, "sqlite", form="sqlite3"),
        write_bag(arm, "packed", compression=CompressionMode.FILE),
        write_bag(arm, "messages", form="sqlite3", compression=CompressionMode.MESSAGE),
        write_bag(old, "ros1", form="rosbag1"),
        *(
            write_bag(old, f"ros1_{mode.name}", form="rosbag1", compression=mode)
            for mode in Rosbag1Writer.CompressionFormat
        ),
        *(
            write_plain_mcap(tmp_path / f"{mode.name}.mcap", arm, ros2, compression=mode)
            for mode in CompressionType
        ),
        write_plain_mcap(tmp_path / "plain.mcap", arm, ros2, use_chunking=False),
    ]
    first, *others = [exported(bag, tmp_path / "experiment", clock) for bag in bags]
    assert len(first["measured_times"]) == 100
    for other in others:
        assert first.keys() == other.keys()
        for name, array in first.items():
            assert np.array_equal(array, other[name]), name
