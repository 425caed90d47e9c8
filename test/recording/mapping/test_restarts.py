# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording in which a simulation starts over becomes a bag for each stretch, whole together."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from mapped_signals import COMMAND, SHOULDER, mapped

from sysid_ros.errors import BagError, DataError
from sysid_ros.recording.bags import BagFolder, BagTopic, QosProfile, describe, open_recording
from sysid_ros.recording.mapping import split_at_restarts
from sysid_ros.rehearsal import messages as messages_of

from ..conftest import START_NS, Entry

TICK, RESTART = 10_000_000, 400  # ns; the tick at which the simulation starts over
LATE = 3  # messages of the old stretch that are received after the clock's restart


@pytest.fixture
def twice(write_bag, joint_state, multi_array, ros2) -> Path:
    """Four seconds of simulated time, and three anew; joint states are received 25 ms late."""
    entries, types = [], ros2.types
    for tick in range(700):
        received = START_NS + tick * TICK
        ns = (tick if tick < RESTART else tick - RESTART) * TICK + TICK
        time = types["builtin_interfaces/msg/Time"](ns // 10**9, ns % 10**9)
        entries.append(Entry("/clock", received, types["rosgraph_msgs/msg/Clock"](time)))
        state = joint_state(ns, ["shoulder"], [np.sin(1e-8 * ns)])
        entries.append(Entry("/joint_states", received + LATE * TICK - TICK // 2, state))
        entries.append(Entry("/command", received + 1000, multi_array(np.sin(1e-8 * ns + 0.1))))
    return write_bag(sorted(entries, key=lambda one: one.log_ns))


def messages(bag: Path) -> Counter[tuple[str, bytes]]:
    with open_recording(bag) as recording:
        return Counter((one.topic, bytes(one.data)) for one in recording.messages())


def test_each_stretch_can_be_mapped_and_no_message_is_lost(twice: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="recover BAG --split"):
        mapped(twice, COMMAND, SHOULDER)
    assert "/joint_states: the header stamps jump back once" in str(describe(twice))
    parts = split_at_restarts(twice, output=tmp_path / "part")
    assert not any(topic.restarts for part in parts for topic in describe(part.path).topics)
    assert [part.path.name for part in parts] == ["part_1", "part_2"]
    assert sum((messages(part.path) for part in parts), Counter()) == messages(twice)
    for part, seconds in zip(parts, (4.0, 3.0), strict=True):
        found = mapped(part.path, COMMAND, SHOULDER)
        times = found.measured[0].times
        assert len(times) == round(seconds * 1e9 / TICK), "also those that came late"
        assert times[-1] - times[0] == pytest.approx(seconds - 1e-9 * TICK)
        assert len(found.controls[0].times) == len(times)


@pytest.mark.parametrize("with_clock", [True, False])
def test_what_comes_late_among_the_first_of_its_topic_is_in_the_stretch_that_it_is_from(
    write_bag, joint_state, ros2, tmp_path: Path, with_clock: bool
) -> None:
    """Two nodes publish ``/tf``, say, and what one of them sent is 50 ms longer on its way."""
    entries, time = [], ros2.types["builtin_interfaces/msg/Time"]
    for tick in range(700):
        received = START_NS + tick * TICK
        ns = (tick if tick < RESTART else tick - RESTART) * TICK + TICK
        told = ros2.types["rosgraph_msgs/msg/Clock"](time(ns // 10**9, ns % 10**9))
        if with_clock:
            entries.append(Entry("/clock", received, told))
        for late, joint in ((0, "shoulder"), (5, "elbow")):
            at = received + late * TICK + 1000 + late
            entries.append(Entry("/joint_states", at, joint_state(ns, [joint], [1.0])))
    bag = write_bag(sorted(entries, key=lambda one: one.log_ns))
    parts = split_at_restarts(bag, output=tmp_path / "part")
    lengths = [2 * RESTART, 2 * (700 - RESTART)]
    assert [part.topics["/joint_states"] for part in parts] == lengths
    assert not any(topic.restarts for part in parts for topic in describe(part.path).topics)


def test_where_the_simulation_dates_receipt_too_publication_tells_the_stretches(
    twice: Path, tmp_path: Path
) -> None:
    """As a recorder with use_sim_time has it: sorted by receipt both stretches are interleaved."""
    bag = BagFolder(tmp_path, "simulated", dated=False)
    with open_recording(twice) as recording:
        channels = {
            name: bag.add_topic(messages_of.topic_of(name, topic.msgtype))
            for name, topic in recording.topics.items()
        }
        now = 0
        for one in recording.messages():
            seconds, nanoseconds = struct.unpack_from("<iI", one.data, 4)  # of most a stamp
            stamp = seconds * 10**9 + nanoseconds
            if one.topic == "/clock":
                now = stamp
            elif one.topic == "/joint_states" and stamp > now:
                continue  # such a simulation leaves nothing that comes late
            bag.write(channels[one.topic], bytes(one.data), log_ns=now, publish_ns=one.log_ns)
    bag.close()
    parts = split_at_restarts(bag.path)
    assert sum((messages(part.path) for part in parts), Counter()) == messages(bag.path)
    for part, ticks in zip(parts, (RESTART, 700 - RESTART), strict=True):
        times = mapped(part.path, COMMAND, SHOULDER).measured[0].times
        assert ticks - LATE <= len(times) <= ticks


def test_what_is_latched_is_in_every_stretch(tmp_path: Path) -> None:
    bag = BagFolder(tmp_path, "bag", dated=False)
    clock = bag.add_topic(messages_of.topic_of("/clock", "rosgraph_msgs/msg/Clock"))
    kept = QosProfile(durability="transient_local")
    text = bag.add_topic(
        BagTopic("/description", "std_msgs/msg/String", "string data", "", (kept,))
    )
    for tick in range(600):
        time, received = struct.pack("<iI", 1 + tick % 400, 0), START_NS + tick * TICK
        bag.write(clock, b"\0\1\0\0" + time, log_ns=received, publish_ns=received)
        if tick == 5:
            said = b"\0\1\0\0\2\0\0\0a\0"
            bag.write(text, said, log_ns=received + 1, publish_ns=received + 1)
    bag.close()
    parts = split_at_restarts(bag.path)
    assert [part.topics["/description"] for part in parts] == [1, 1]
    assert [part.topics["/clock"] for part in parts] == [400, 200]


def test_without_a_clock_what_has_no_stamp_is_cut_where_nothing_came(
    write_bag, joint_state, multi_array, tmp_path: Path
) -> None:
    """After a pause a new command is received before the first measurement."""
    entries = []
    for tick in range(200):
        received = START_NS + tick * TICK + (tick >= 100) * 10**10
        state = joint_state((tick % 100) * TICK + 5 * 10**9 * (tick < 100), ["shoulder"], [0.1])
        entries.append(Entry("/command", received, multi_array(0.1)))
        entries.append(Entry("/joint_states", received + 1000, state))
    parts = split_at_restarts(write_bag(entries), output=tmp_path / "part")
    assert [part.topics for part in parts] == [{"/command": 100, "/joint_states": 100}] * 2


def test_bags_of_ros1_are_refused(write_bag, multi_array) -> None:
    bag = write_bag([Entry("/command", START_NS, multi_array(0.1))], form="rosbag1")
    with pytest.raises(BagError, match="ROS 1"):
        split_at_restarts(bag)


def test_a_bag_that_never_starts_over_is_not_split(arm, write_bag, tmp_path: Path) -> None:
    with pytest.raises(BagError, match="nothing to split it at"):
        split_at_restarts(write_bag(arm), output=tmp_path / "part")
    assert not list(tmp_path.glob("part*"))


def test_two_publishers_are_no_restarts(write_bag, joint_state, tmp_path: Path) -> None:
    states = [
        Entry("/joint_states", START_NS + k * TICK,
              joint_state(START_NS + k * TICK - (k % 2) * 5 * 10**9, ["shoulder"], [0.1 * k]))
        for k in range(100)
    ]  # fmt: skip
    with pytest.raises(BagError, match="two nodes publish it"):
        split_at_restarts(write_bag(states), output=tmp_path / "part")


def test_a_topic_that_jumps_again_and_again_tells_no_restart_and_is_split_with_the_others(
    twice: Path, write_bag, joint_state, multi_array, ros2, tmp_path: Path
) -> None:
    """Localization dates its transforms ahead, between those of now."""
    with open_recording(twice) as recording:
        rows = [(one.topic, one.log_ns) for one in recording.messages()]
    clock = [at for name, at in rows if name == "/clock"]
    entries, time = [], ros2.types["builtin_interfaces/msg/Time"]
    for tick, at in enumerate(clock):
        ns = (tick if tick < RESTART else tick - RESTART) * TICK + TICK
        told = ros2.types["rosgraph_msgs/msg/Clock"](time(ns // 10**9, ns % 10**9))
        entries.append(Entry("/clock", at, told))
        ahead = ns + (tick % 2) * 2 * 10**9
        entries.append(Entry("/poses", at + 1000, joint_state(ahead, ["base"], [1.0])))
    parts = split_at_restarts(write_bag(entries, "more"), output=tmp_path / "part")
    assert [part.topics for part in parts] == [
        {"/clock": RESTART, "/poses": RESTART},
        {"/clock": 700 - RESTART, "/poses": 700 - RESTART},
    ]


def test_bags_are_named_after_a_folder_with_a_dot(twice: Path) -> None:
    dotted = twice.rename(twice.with_name("arm_v1.2"))
    names = [part.path.name for part in split_at_restarts(dotted)]
    assert names == ["arm_v1.2_1", "arm_v1.2_2"]


def test_a_clock_that_starts_over_within_its_first_second_can_be_split(
    write_bag, ros2, tmp_path: Path
) -> None:
    """Mapping refuses it and names ``--split``; time begins at zero, which is no missing stamp."""
    entries, time = [], ros2.types["builtin_interfaces/msg/Time"]
    for tick in range(300):
        ns = (tick if tick < 50 else tick - 50) * TICK
        told = ros2.types["rosgraph_msgs/msg/Clock"](time(ns // 10**9, ns % 10**9))
        entries.append(Entry("/clock", START_NS + tick * TICK, told))
    parts = split_at_restarts(write_bag(entries), output=tmp_path / "part")
    assert [part.topics["/clock"] for part in parts] == [50, 250]
