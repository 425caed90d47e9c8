# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What `sysid_ros info` says."""

from __future__ import annotations

import json
from functools import partialmethod

import pytest

from sysid_ros.errors import BagError
from sysid_ros.recording.bags import describe


def test_a_real_recording(shared_data) -> None:
    info = describe(shared_data / "double_pendulum" / "bags" / "trajectory_00")
    assert (info.format, info.files) == ("mcap", ("trajectory_00.mcap",))
    assert info.messages == info.promised == 9994
    assert info.duration == pytest.approx(9.99987, abs=1e-5)
    commands, states = info.topics
    assert (commands.name, commands.clock) == ("/effort_controller/commands", "publish")
    assert (states.name, states.clock) == ("/joint_states", "header")
    assert states.rate == pytest.approx(500.0, rel=1e-3)
    assert states.gaps == 0
    assert json.loads(json.dumps(info.to_dict(), allow_nan=False))["topics"][1]["messages"] == 4997
    table = str(info).splitlines()
    assert table[1] == "9994 messages in 10.000 s"
    row = ["/joint_states", "sensor_msgs/msg/JointState", "4997", "499.6", "Hz"]
    assert table[-1].split() == [*row, "0.0033", "s", "header"]


def test_a_gap_and_the_delay_to_receipt(shared_data) -> None:
    info = describe(shared_data / "odd_bags" / "imu_tools" / "ardrone_imu.bag")
    imu = info.topics[0]
    assert imu.longest_gap == pytest.approx(0.999, abs=1e-3)
    assert imu.gaps == 24, "stamps taken from a wireless link come in bursts"
    assert imu.rate == pytest.approx(imu.messages / (imu.last - imu.first), rel=0.01)
    assert imu.delay is not None
    assert imu.delay.median == pytest.approx(0.5e-3, abs=0.5e-3)


@pytest.mark.parametrize("form", ["mcap", "sqlite3"])
def test_stamps_and_promises(arm, write_bag, form) -> None:
    path = write_bag(arm, form=form)
    text = (path / "metadata.yaml").read_text()
    (path / "metadata.yaml").write_text(text.replace("message_count: 50", "message_count: 70"))
    info = describe(path)
    command, states = info.topics
    assert (command.messages, command.promised) == (50, 70)
    assert info.warnings == ("the bag promises 170 messages, 150 were read.",)
    assert "150 messages of 170 promised in" in str(info)
    assert states.delay is not None
    assert states.delay.median == pytest.approx(0.5e-3)
    assert states.first == pytest.approx(-0.5e-3)
    assert command.clock == ("publish" if form == "mcap" else "receive")


def test_types_that_cannot_be_decoded_are_said_not_refused(arm, write_bag) -> None:
    import sqlite3

    path = write_bag(arm, form="sqlite3")
    with sqlite3.connect(path / "bag.db3") as database:
        database.execute("UPDATE topics SET type = 'a/msg/B' WHERE name = '/command'")
    database.close()
    info = describe(path)
    assert info.topics[0].messages == 50
    assert "type a/msg/B has no definition" in str(info.topics[0].problem)
    assert "! /command: " in str(info)


def test_a_cut_off_bag(arm, write_bag) -> None:
    path = write_bag(arm) / "bag.mcap"
    path.write_bytes(path.read_bytes()[:12000])
    info = describe(path)
    assert 10 < info.messages < 150
    assert info.promised is None
    assert str(info).splitlines()[-1].startswith("! bag.mcap was cut off")


def test_stamps_of_either_byte_order(arm, write_bag, monkeypatch, ros2) -> None:
    little = describe(write_bag(arm, "little"))
    store = type(ros2)
    big_endian = partialmethod(store.serialize_cdr, little_endian=False)
    monkeypatch.setattr(store, "serialize_cdr", big_endian)
    big = describe(write_bag(arm, "big"))
    assert [t.rate for t in big.topics] == [t.rate for t in little.topics]


@pytest.mark.parametrize("missing", [5, 60, 200])
def test_a_ros1_bag_that_was_cut_in_its_index(arm, write_bag, ros1, joint_state, missing) -> None:
    entries = [
        type(one)("/joint_states", one.log_ns, joint_state(one.log_ns, ["a"], [1.0], store=ros1))
        for one in arm
    ]
    path = write_bag(entries, form="rosbag1")
    path.write_bytes(path.read_bytes()[:-missing])
    info = describe(path)
    assert info.messages == len(entries)
    assert "was cut off" in str(info)


def test_what_is_no_bag(tmp_path) -> None:
    with pytest.raises(BagError, match="does not exist"):
        describe(tmp_path / "nothing")
