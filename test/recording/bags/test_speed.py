# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reading joint states is at least five times as fast as decoding them one by one."""

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
    assert _shortest(by_columns) < _shortest(by_rosbags) / 5.0


def _shortest(function) -> float:
    durations = []
    for _ in range(5):
        start = time.process_time()
        function()
        durations.append(time.process_time() - start)
    return min(durations)
