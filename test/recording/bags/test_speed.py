# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reading joint states is much faster than decoding them one by one.

``python -m benchmark.ingest`` measures how much: seven times and more.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer

from sysid_ros.recording.bags import open_recording, read_columns
from sysid_ros.recording.messages import parse_field

MESSAGES = 20_000


@pytest.mark.slow
@pytest.mark.parametrize("joints", [7, 29])
def test_joint_states(tmp_path, joint_state, ros2, joints) -> None:
    kind = "sensor_msgs/msg/JointState"
    names = [f"joint_{number}" for number in range(joints)]
    path = tmp_path / "bag"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/joint_states", kind, typestore=ros2)
        for tick in range(MESSAGES):
            values = np.full(joints, float(tick))
            message = joint_state(tick * 10**6, names, values, values, values)
            writer.write(connection, tick * 10**6, ros2.serialize_cdr(message, kind))
    fields = [parse_field(f"{kind}[{name}]") for kind in ("position", "effort") for name in names]

    def by_rosbags() -> float:
        with AnyReader([path]) as reader:
            messages = [reader.deserialize(data, kind) for _, _, data in reader.messages()]
        return float(sum(message.position[0] for message in messages))

    def by_columns() -> float:
        with open_recording(path) as recording:
            columns = read_columns(recording, {"/joint_states": fields})
        return float(columns["/joint_states"].values[:, 0].sum())

    assert by_rosbags() == by_columns()
    spent: list[list[float]] = [[], []]
    for _ in range(5):  # in turn, so that a busy machine is so for both
        for function, times in zip((by_columns, by_rosbags), spent, strict=True):
            began = time.process_time()
            function()
            times.append(time.process_time() - began)
    columns, rosbags = map(min, spent)
    assert columns < rosbags / 2.5  # half of what is reached, whatever the processor
