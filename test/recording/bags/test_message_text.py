# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Text from a bag."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sysid_ros.errors import BagError
from sysid_ros.recording.bags import open_recording, read_text


def test_the_last_text_counts(arm, write_bag, ros2) -> None:
    entry = type(arm[0])
    string = ros2.types["std_msgs/msg/String"]
    texts = [
        entry("/robot_description", arm[k].log_ns, string(text))
        for k, text in ((0, "<robot/>"), (9, "<robot>größer</robot>"))
    ]
    with open_recording(write_bag([*arm, *texts])) as recording:
        assert read_text(recording, "/robot_description") == "<robot>größer</robot>"
        with pytest.raises(BagError, match=r"unknown topic '/robot_descr'"):
            read_text(recording, "/robot_descr")
        with pytest.raises(BagError, match=r"unknown text field of .*JointState 'data': there is"):
            read_text(recording, "/joint_states")


def test_a_topic_without_messages(arm, write_bag) -> None:
    with open_recording(write_bag(arm)) as recording:
        silent = SimpleNamespace(
            topic=recording.topic,
            types=recording.types,
            path=recording.path,
            messages=lambda _topics: iter(()),
        )
        with pytest.raises(BagError, match="topic /command holds no messages"):
            read_text(silent, "/command")
