# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From bags to signals: values, clocks, gaps, and every way in which data is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mapped_signals import COMMAND, mapped
from rosbags.highlevel import AnyReader

from sysid_ros.dataset import unusable
from sysid_ros.errors import BagError, DataError, ErrorCode
from sysid_ros.experiment.experiment_schema import SignalConfig
from sysid_ros.recording.bags import open_recording, read_columns
from sysid_ros.recording.mapping import doubts_of, one_signal
from sysid_ros.recording.mapping.dating import date_topics
from sysid_ros.recording.mapping.mapping_settings import ClockCorrection, Interpolation, SignalKind
from sysid_ros.recording.mapping.simulation_time import (
    CLOCK_FIELDS,
    CLOCK_TOPIC,
    simulation_time,
)
from sysid_ros.recording.messages import parse_field
from sysid_ros.recording.messages.stored_message import Clock

from ..conftest import START_NS, Entry

ACTUATOR, SENSOR, QPOS = SignalKind.ACTUATOR, SignalKind.SENSOR, SignalKind.QPOS
SHOULDER = SignalConfig(SENSOR, "shoulder_pos", "/joint_states", "position[shoulder]")
ELBOW = SignalConfig(QPOS, "elbow", "/joint_states", "position[elbow]")
TORQUE = SignalConfig(ACTUATOR, "motor", "/joint_states", "effort[shoulder]")


def refused(path, *signals, error=DataError, **options):
    with pytest.raises(error) as refusal:
        mapped(path, *signals, **options)
    message = str(refusal.value)
    assert message.startswith("run: ")
    assert "\n" not in message
    return message


def test_the_double_pendulum(shared_data) -> None:
    path = shared_data / "double_pendulum" / "bags" / "trajectory_05"
    torque = replace(TORQUE, scale=2.0, offset=0.5)
    commands = replace(COMMAND, topic="/effort_controller/commands", name="commanded")
    result = mapped(path, torque, commands, SHOULDER, replace(ELBOW, noise=1e-3))
    with AnyReader([path]) as reader:
        states = [
            reader.deserialize(data, connection.msgtype)
            for connection, _, data in reader.messages()
            if connection.topic == "/joint_states"
        ]
    stamps = np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in states])
    shoulder = states[0].name.index("shoulder")
    control, command = result.controls
    sensor, qpos = result.measured
    assert result.start_ns == stamps[0]
    np.testing.assert_array_equal(sensor.times, (stamps - stamps[0]) / 1e9)
    np.testing.assert_array_equal(sensor.values, [m.position[shoulder] for m in states])
    effort = np.array([m.effort[shoulder] for m in states])
    np.testing.assert_array_equal(control.values, 2.0 * effort + 0.5)
    assert (control.held, command.held, sensor.held) == (False, True, False)
    assert (qpos.kind, qpos.name, qpos.noise) == (QPOS, "elbow", 1e-3)
    assert result.end == sensor.times[-1]
    assert result.warnings == ()
    states_row, commands_row = result.quality
    assert (states_row.topic, states_row.clock) == ("/joint_states", "header")
    assert (commands_row.topic, commands_row.clock) == ("/effort_controller/commands", "publish")
    assert states_row.messages == states_row.promised == len(states)
    assert states_row.rate == pytest.approx(500.0, rel=0.01)
    assert len(result.input_hash) == 64


def test_all_powered_servo_recordings_and_no_drop(shared_data) -> None:
    bags = sorted((shared_data / "servo" / "bags").iterdir())
    servo = SignalConfig(SENSOR, "angle", "/joint_states", "position[servo]")
    command = replace(COMMAND, topic="/servo/command")
    for bag in bags[::7]:
        if not bag.name.endswith("drop"):
            result = mapped(bag, command, servo)
            assert result.controls[0].gaps == ()
    drop = next(bag for bag in bags if bag.name.endswith("drop"))
    message = refused(drop, command, servo)
    assert "'motor' (/servo/command, data[0]) is known for only 0.18 of 1.18 s" in message
    message = refused(bags[0], replace(servo, field="velocity[servo]"))
    assert "velocity is empty although 'servo' is named, in all 150 messages" in message


@pytest.mark.parametrize("form", ["mcap", "sqlite3"])
def test_clocks(arm, write_bag, form) -> None:
    path = write_bag(arm, form=form)
    stamped = mapped(path, COMMAND, SHOULDER)
    assert stamped.start_ns == arm[0].log_ns - 500_000, "the first header stamp"
    # without a header the command is dated 0.6 ms later, by publish or else receive time
    assert stamped.controls[0].times[0] == pytest.approx(0.6e-3, abs=1e-12)
    assert stamped.quality[0].clock == ("publish" if form == "mcap" else "receive")
    late = "/command is dated by its receive time"
    assert any(late in text for text in stamped.warnings) == (form == "sqlite3")
    received = mapped(path, COMMAND, SHOULDER, clock=Clock.RECEIVE)
    assert received.start_ns == arm[0].log_ns
    assert received.controls[0].times[0] == pytest.approx(0.1e-3, abs=1e-12)
    mixed = mapped(path, SHOULDER, replace(ELBOW, clock=Clock.RECEIVE))
    assert mixed.measured[1].times[0] == pytest.approx(0.5e-3, abs=1e-12)
    assert [row.clock for row in mixed.quality] == ["header", "receive"]


def test_topics_whose_clocks_have_nothing_in_common(arm, write_bag) -> None:
    """Simulation time in the headers, wall time for the commands."""
    for entry in arm:
        if entry.topic == "/joint_states":
            entry.message.header.stamp.sec -= 1_600_000_000
    path = write_bag(arm)
    message = refused(path, COMMAND, SHOULDER)
    assert "the times of /joint_states (header) end 1.6e+09 s before those of /command" in message
    assert "'clock: receive'" in message
    assert mapped(path, COMMAND, SHOULDER, clock=Clock.RECEIVE).end == pytest.approx(0.99)


def test_duplicate_and_backward_stamps(arm, write_bag) -> None:
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    disordered = [*states[:10], states[9], *states[11:13], states[10], *states[13:]]
    disordered = [replace(e, log_ns=states[0].log_ns + k) for k, e in enumerate(disordered)]
    result = mapped(write_bag(disordered), SHOULDER)
    row = result.quality[0]
    assert (row.messages, row.duplicates, row.backwards) == (101, 1, 1)
    np.testing.assert_allclose(result.measured[0].times, 0.01 * np.arange(100), atol=1e-9)
    np.testing.assert_allclose(result.measured[0].values, np.sin(0.03 * np.arange(100)))


def test_a_clock_that_is_set_back_in_mid_recording_is_told(arm, joint_state, write_bag) -> None:
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    for tick in range(60, 100):
        stamp, t = START_NS + tick * 10_000_000 - 205_000_000, 0.01 * tick
        message = joint_state(stamp, ["shoulder"], [np.sin(3.0 * t)], [0.0], [t])
        states[tick] = Entry("/joint_states", stamp + 500_000, message)
    result = mapped(write_bag(states), SHOULDER)
    (said,) = doubts_of(result.quality)
    assert said == "the clock that stamps /joint_states was set back, by 0.2 s in run"


@pytest.mark.parametrize("with_recorder", [True, False])
def test_a_clock_that_is_set_far_back_is_refused_with_what_can_be_done(
    joint_state, write_bag, with_recorder: bool
) -> None:
    """Only what the recorder received one after the other can be split."""
    entries = []
    for tick in range(600):
        at, set_back, t = START_NS + tick * 10_000_000, (tick >= 300) * 1_500_000_000, 0.01 * tick
        message = joint_state(at - set_back, ["shoulder"], [np.sin(3.0 * t)], [0.0], [t])
        received = at - set_back * with_recorder + 500_000
        entries.append(Entry("/joint_states", received, message))
    message = refused(write_bag(entries), SHOULDER)
    assert "the header stamps jump back by 1.49 s after 2.990 s" in message
    assert ("record again while no clock is set" in message) is with_recorder
    assert ("sysid_ros recover BAG --split" in message) is not with_recorder


def test_joints_of_one_node_after_those_of_another_are_no_clock_that_was_set_back(
    joint_state, write_bag
) -> None:
    """As a script writes a bag, one array after the other."""
    entries = []
    for name in ("shoulder", "elbow"):
        for tick in range(300):
            stamp, t = START_NS + tick * 10_000_000, 0.01 * tick
            message = joint_state(stamp, [name], [np.sin(3.0 * t)], [0.0], [t])
            entries.append(Entry("/joint_states", stamp + 500_000, message))
    result = mapped(write_bag(entries), SHOULDER)
    assert len(result.measured[0].times) == 300
    assert doubts_of(result.quality) == ()


def test_names_in_any_order_and_shared_topics(joint_state, write_bag, arm) -> None:
    """Two publishers with other joints, one of which changes their order."""
    entries = []
    for entry in arm:
        if entry.topic != "/joint_states":
            continue
        message, tick = entry.message, len(entries)
        if tick % 4 == 0:
            message.name.reverse()
            message.position = message.position[::-1].copy()
        entries.append(entry)
        if tick % 3 == 0:
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec + 1000
            gripper = joint_state(stamp, ["gripper"], [float(tick)])
            entries.append(replace(entry, message=gripper, log_ns=entry.log_ns + 1))
    result = mapped(
        write_bag(entries), SHOULDER, replace(SHOULDER, name="g", field="position[gripper]")
    )
    np.testing.assert_allclose(result.measured[0].values, np.sin(0.03 * np.arange(100)))
    assert len(result.measured[1].values) == len(entries) - 100


def test_publishers_that_share_stamps_lose_nothing(joint_state, write_bag, arm) -> None:
    """One topic, two publishers, other joints with the very same stamps."""
    entries = []
    for entry in arm:
        if entry.topic == "/joint_states":
            stamp = entry.message.header.stamp
            stamp_ns = stamp.sec * 10**9 + stamp.nanosec
            gripper = joint_state(stamp_ns, ["gripper"], [float(len(entries))])
            entries += [entry, replace(entry, message=gripper, log_ns=entry.log_ns + 1)]
    gripper = replace(SHOULDER, name="g", field="position[gripper]")
    result = mapped(write_bag(entries), SHOULDER, gripper)
    assert [len(signal.values) for signal in result.measured] == [100, 100]
    assert result.quality[0].duplicates == 0
    twice = [again for entry in arm for again in (entry, entry)]
    result = mapped(write_bag(twice, "twice"), SHOULDER)
    assert result.quality[0].duplicates == 100
    assert len(result.measured[0].values) == 100


def test_a_command_sent_before_the_first_measurement_is_in_force(arm, write_bag) -> None:
    early = replace(arm[1], log_ns=arm[0].log_ns - 50 * 10**9)
    late = replace(arm[-1], topic="/command", message=arm[1].message)
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    result = mapped(write_bag([early, *states, late]), COMMAND, SHOULDER)
    assert result.start_ns == arm[0].log_ns - 500_000
    assert result.controls[0].times[0] <= 0.0
    assert result.controls[0].gaps == ()


def test_clocks_that_differ_are_said(arm, write_bag) -> None:
    for entry in arm:
        if entry.topic == "/joint_states":
            entry.message.header.stamp.nanosec += 200_000_000
    path = write_bag(arm)
    warning, *_ = mapped(path, COMMAND, SHOULDER).warnings
    assert "header stamps of /joint_states lie 0.2 s after their receipt" in warning
    assert mapped(path, SHOULDER, ELBOW).warnings == (), "nothing to compare them with"


def drifting(entries, topic, offset, drift):
    """Put a topic's headers on a clock of its own: ahead by an offset [s] that grows [s/s]."""
    for entry in entries:
        if entry.topic == topic:
            stamp = entry.log_ns - 500_000
            stamp += round((offset + drift * (stamp - START_NS) / 1e9) * 1e9)
            entry.message.header.stamp.sec, entry.message.header.stamp.nanosec = divmod(
                stamp, 10**9
            )
    return entries


def test_stamps_of_two_computers_are_brought_together_on_request(
    joint_state, arm, write_bag
) -> None:
    other = [
        Entry("/camera", e.log_ns, joint_state(e.log_ns - 500_000, ["marker"], [0.1 * k]))
        for k, e in enumerate(e for e in arm if e.topic == "/joint_states")
    ]
    entries = sorted([*arm, *drifting(other, "/camera", 0.3, 0.01)], key=lambda e: e.log_ns)
    marker = SignalConfig(SENSOR, "marker", "/camera", "position[marker]")
    path = write_bag(entries)
    plain = mapped(path, SHOULDER, marker)
    (warning,) = plain.warnings
    assert "stamps of /joint_states and /camera are 0.3 s apart" in warning
    assert plain.quality[1].clock_offset == pytest.approx(-0.2995, abs=1e-3)
    message = refused(path, SHOULDER, marker, clock_correction=ClockCorrection.DRIFT)
    assert "which is no drift" in message, "a hundredth is no clock"
    entries = sorted([*arm, *drifting(other, "/camera", 0.3, 5e-4)], key=lambda e: e.log_ns)
    result = mapped(
        write_bag(entries, "b"), SHOULDER, marker, clock_correction=ClockCorrection.DRIFT
    )
    assert result.warnings == ()
    np.testing.assert_allclose(result.measured[0].times, result.measured[1].times, atol=2e-6)
    row = result.quality[1]
    assert row.clock_corrected
    assert row.clock_drift == pytest.approx(-5e-4, rel=0.02)


def test_headers_of_a_simulation_at_an_uneven_pace_say_nothing_of_clocks(
    joint_state, arm, write_bag
) -> None:
    """Robot and camera of one simulation, whose stamps take another and another time to pass."""
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    entries = []
    for k, entry in enumerate(states):
        stamp = 5 * 10**9 + entry.log_ns - START_NS
        at = START_NS + 2 * (entry.log_ns - START_NS)
        late = 80_000_000 + 2_000_000 * k  # of the camera's messages, which queue up
        camera = joint_state(stamp, ["marker"], [0.1 * k])
        entries.append(Entry("/camera", at + late, camera))
        entries.append(Entry("/joint_states", at, joint_state(stamp, ["shoulder"], [0.1 * k])))
    marker = SignalConfig(SENSOR, "marker", "/camera", "position[marker]")
    path = write_bag(sorted(entries, key=lambda e: e.log_ns))
    assert mapped(path, SHOULDER, marker).warnings == ()


def test_simulation_time_dates_commands_without_a_header(arm, write_bag, ros2) -> None:
    """A simulation at half speed that began at 5 s; its commands have no header."""
    types = ros2.types
    entries = []
    for entry in arm:
        at = START_NS + 2 * (entry.log_ns - START_NS)
        if entry.topic == "/joint_states":
            stamp = 5 * 10**9 + entry.log_ns - START_NS - 500_000
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            entry.message.header.stamp = time
            clock = types["rosgraph_msgs/msg/Clock"](time)
            entries.append(Entry("/clock", at - 1_000_000, clock))
        entries.append(replace(entry, log_ns=at))
    path = write_bag(sorted(entries, key=lambda e: e.log_ns))
    result = mapped(path, COMMAND, SHOULDER)
    assert [row.clock for row in result.quality] == ["simulation", "header"]
    # by the /clock that was in force, which was that of the state of the same tick
    np.testing.assert_allclose(result.controls[0].times, 0.02 * np.arange(50), atol=1e-6)
    (said,) = result.warnings
    assert "/command has no header; it is dated by the simulation's time" in said
    asked = mapped(path, replace(COMMAND, clock=Clock.SIMULATION), SHOULDER)
    np.testing.assert_array_equal(asked.controls[0].times, result.controls[0].times)
    assert asked.warnings == ()


@pytest.mark.parametrize("pace", [2.0, 1.0])
def test_stamps_of_a_simulation_date_commands_where_no_clock_was_recorded(
    arm, write_bag, ros2, pace: float
) -> None:
    """At a computer's pace they may be of a board whose clock nobody set, which is corrected."""
    types, entries = ros2.types, []
    for entry in arm:
        at = START_NS + round(pace * (entry.log_ns - START_NS))
        if entry.topic == "/joint_states":
            stamp = 5 * 10**9 + entry.log_ns - START_NS - 500_000
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            entry.message.header.stamp = time
        entries.append(replace(entry, log_ns=at))
    path = write_bag(entries)
    if pace == 1.0:
        with pytest.raises(DataError, match="date them by the same clock"):
            mapped(path, COMMAND, SHOULDER)
        return
    result = mapped(path, COMMAND, SHOULDER)
    assert [row.clock for row in result.quality] == ["simulation", "header"]
    np.testing.assert_allclose(result.controls[0].times, 0.02 * np.arange(50), atol=1e-3)


def test_a_board_that_nobody_set_dates_nothing_beside_a_computer(
    arm, joint_state, write_bag
) -> None:
    """Its stamps count from when it was switched on, four in a thousand too fast."""
    board = []
    for entry in arm:
        since = round(1.004 * (entry.log_ns - START_NS))
        message = joint_state(73 * 10**9 + since, ["wheel"], [1e-9 * since])
        board.append(Entry("/board", entry.log_ns + 1000, message))
    path = write_bag(sorted([*arm, *board], key=lambda e: e.log_ns))
    wanted = {
        "/joint_states": (parse_field("position[shoulder]"),),
        "/board": (parse_field("position[wheel]"),),
        "/command": (parse_field("data[0]"),),
    }
    with open_recording(path) as recording:
        read = read_columns(recording, wanted)
    assert simulation_time(read) is None
    assert simulation_time({name: read[name] for name in ("/board", "/command")}) is not None


def test_commands_recorded_in_simulated_time_are_dated_by_it_where_nothing_has_a_header(
    arm, write_bag, ros2
) -> None:
    """As rosbag2 records with use_sim_time; the computers' time of publishing is later."""
    types, entries = ros2.types, []
    for entry in arm:
        at = entry.log_ns - START_NS
        if entry.topic == "/command":
            time = types["builtin_interfaces/msg/Time"](at // 10**9, at % 10**9)
            clock = types["rosgraph_msgs/msg/Clock"](time)
            entries += [Entry("/clock", at, clock), replace(entry, log_ns=at + 1)]
    with open_recording(write_bag(entries)) as recording:
        fields = {"/command": [parse_field("data[0]")], CLOCK_TOPIC: CLOCK_FIELDS}
        tables = read_columns(recording, fields)
    later = {name: replace(t, publish_ns=t.log_ns + START_NS) for name, t in tables.items()}
    dated = date_topics(later, [COMMAND], [], Clock.HEADER)
    (topic,) = dated.topics.values()
    assert topic.stamps.clock is Clock.SIMULATION
    np.testing.assert_allclose(np.diff(topic.times), 0.02, atol=1e-6)


def test_two_publishers_that_contradict_each_other_are_said(joint_state, arm, write_bag) -> None:
    second = [
        Entry(e.topic, e.log_ns + 1000, joint_state(e.log_ns - 500_000, ["shoulder"], [9.0]))
        for e in arm[:30]
        if e.topic == "/joint_states"
    ]
    result = mapped(write_bag(sorted([*arm, *second], key=lambda e: e.log_ns)), SHOULDER)
    assert f"{len(second)} messages of /joint_states have the stamp of the one before" in " ".join(
        result.warnings
    )
    assert result.quality[0].duplicates == result.quality[0].conflicts == len(second)
    assert result.measured[0].values.max() <= 1.0, "the first counts"


def without(entries, topic, start, stop):
    """Leave out a topic's messages from start to stop seconds."""
    first = entries[0].log_ns
    return [e for e in entries if e.topic != topic or not start <= (e.log_ns - first) / 1e9 < stop]


def test_gaps_are_listed_and_said(arm, write_bag) -> None:
    entries = without(arm, "/joint_states", 0.4, 0.6)
    entries = without(entries, "/command", 0.7, 0.9)
    result = mapped(write_bag(entries), COMMAND, SHOULDER)
    assert result.measured[0].gaps == ((pytest.approx(0.39), pytest.approx(0.6)),)
    assert result.controls[0].gaps == (
        (pytest.approx(0.6806, abs=1e-9), pytest.approx(0.9006, abs=1e-9)),
    )
    assert [row.gaps for row in result.quality] == [1, 1]
    assert result.quality[1].longest_gap == pytest.approx(0.21)
    assert any("actuator motor is unknown for 0.22 of 0.99 s" in text for text in result.warnings)


def test_commands_are_unknown_from_a_silence_to_the_next_one(arm, write_bag) -> None:
    asked = [entry for entry in arm if entry.topic == "/command"]
    seldom = [entry for entry in arm if entry not in asked or asked.index(entry) % 6 == 0]
    entries = without(without(seldom, "/joint_states", 0.38, 0.62), "/command", 0.38, 0.62)
    result = mapped(write_bag(entries), COMMAND, SHOULDER)
    ((_, heard),) = result.silent
    ((start, end),) = result.controls[0].gaps
    assert (start, end) == (heard, pytest.approx(0.82, abs=0.01))
    assert unusable(result) == ((result.silent[0][0], end),)


def test_a_whole_recording_keeps_no_second_copy_of_its_commands(arm, write_bag) -> None:
    """Nothing is to come that would be judged by them."""
    (command,) = mapped(write_bag(arm), COMMAND, SHOULDER).controls
    assert command.habit is None


def test_commands_that_start_late_and_stop_early(arm, write_bag) -> None:
    entries = without(arm, "/command", 0.0, 0.2)
    result = mapped(write_bag(without(entries, "/command", 0.8, 2.0)), COMMAND, SHOULDER)
    (before, after) = result.controls[0].gaps
    assert before == (0.0, pytest.approx(0.2006, abs=1e-9))
    assert after == (pytest.approx(0.7806, abs=1e-9), pytest.approx(0.99))
    assert not any("is unknown" in text for text in result.warnings)  # usual around a motion


def test_commands_that_end_long_before_the_recording_are_said(arm, write_bag, monkeypatch) -> None:
    monkeypatch.setattr("sysid_ros.recording.mapping.mapping_warnings._USUAL", 0.15)
    result = mapped(write_bag(without(arm, "/command", 0.8, 2.0)), COMMAND, SHOULDER)
    assert any("actuator motor is unknown for 0.209 of 0.99 s" in text for text in result.warnings)


def test_commands_on_change_have_no_gaps(arm, write_bag, multi_array) -> None:
    entries = [entry for entry in arm if entry.topic == "/joint_states"]
    for k in (0, 30, 60):
        entries.append(replace(arm[k], topic="/command", message=multi_array(float(k))))
    result = mapped(write_bag(entries), COMMAND, SHOULDER)
    assert result.controls[0].gaps == ()
    assert result.controls[0].values.tolist() == [0.0, 30.0, 60.0]
    assert next(row for row in result.quality if row.topic == "/command").gaps == 0


def test_lost_commands_are_filled_in_and_pauses_without_change_are_no_gaps(
    arm, write_bag, multi_array
) -> None:
    states = [entry for entry in arm if entry.topic == "/joint_states"]

    def told(places) -> list[Entry]:
        sent = [
            replace(states[2 * place], topic="/command", message=multi_array(float(value)))
            for value, place in places
        ]
        return [*states, *sent]

    lossy = [(k, k) for k in range(50) if k not in (20, 21)]
    (control,) = mapped(write_bag(told(lossy), "lossy"), COMMAND, SHOULDER).controls
    np.testing.assert_allclose(control.values, np.arange(50.0), rtol=1e-9)
    assert control.times[20] == pytest.approx(0.4005)  # as received
    sent = [k for k in range(50) if k not in (*range(11, 20), *range(31, 40))]
    (control,) = mapped(write_bag(told(enumerate(sent)), "still"), COMMAND, SHOULDER).controls
    assert control.gaps == ()
    lost = [(k, k) for k in sent]
    (control,) = mapped(write_bag(told(lost), "lost"), COMMAND, SHOULDER).controls
    assert len(control.gaps) == 2


def test_start_and_end_cut_but_do_not_shift(arm, write_bag, monkeypatch) -> None:
    monkeypatch.setattr(one_signal, "_STILL_FELT", 0.005)
    result = mapped(write_bag(arm), COMMAND, SHOULDER, start=0.25, end=0.55)
    sensor, control = result.measured[0], result.controls[0]
    np.testing.assert_allclose(sensor.times, 0.01 * np.arange(25, 55), atol=1e-9)
    assert control.times[0] == 0.245, "the held value stays in force across the cut"
    assert control.values[0] == 1.0
    assert control.gaps == ()
    assert result.end == sensor.times[-1]
    message = refused(write_bag(arm, "again"), SHOULDER, start=5.0)
    assert "nothing was measured from 5 s to inf s; the recording has 0 to 0.990 s" in message


@pytest.mark.parametrize("signal", [COMMAND, TORQUE])
def test_commands_from_before_a_cut_stay_as_delayed_ones_act_after_it(
    arm, write_bag, signal
) -> None:
    bag = write_bag(arm)
    control = mapped(bag, signal, SHOULDER, start=0.5).controls[0]
    before = mapped(bag, signal, SHOULDER).controls[0]
    assert np.sum(control.times < 0.5) > 1
    np.testing.assert_array_equal(control.times, before.times)
    np.testing.assert_array_equal(control.values, before.values)
    assert control.gaps == ()


@pytest.mark.parametrize(
    ("signal", "held"),
    [
        (COMMAND, True),
        (TORQUE, False),
        (replace(COMMAND, kind=SENSOR), False),
        (replace(COMMAND, interpolation=Interpolation.LINEAR), False),
        (replace(COMMAND, interpolation=Interpolation.CUBIC), False),
        (replace(TORQUE, interpolation=Interpolation.HOLD), True),
    ],
)
def test_commands_hold_and_measurements_are_linear(arm, write_bag, signal, held) -> None:
    result = mapped(write_bag(arm), signal)
    assert (result.controls + result.measured)[0].held is held


def test_a_weighted_sum_of_a_messages_numbers_is_one_signal(arm, write_bag) -> None:
    path = write_bag(arm)
    both = "2 * position[shoulder] - 0.5 * position[elbow]"
    wheel = replace(COMMAND, field="3 * data[0] + data[1]", scale=10.0, offset=1.0)
    result = mapped(path, wheel, SHOULDER, ELBOW, replace(SHOULDER, name="both", field=both))
    shoulder, elbow, summed = (one.values for one in result.measured)
    np.testing.assert_allclose(summed, 2.0 * shoulder - 0.5 * elbow, atol=1e-12)
    (plain,) = mapped(path, replace(COMMAND, field="data[0]"), SHOULDER).controls
    np.testing.assert_allclose(result.controls[0].values, 30.0 * plain.values + 11.0)
    assert result.controls[0].held
    assert "has only 2 elements" in refused(path, replace(COMMAND, field="data[0] + data[2]"))


def test_a_rotors_thrust_goes_by_the_square_of_its_speed(arm, write_bag) -> None:
    path = write_bag(arm)
    thrust = replace(COMMAND, field="0.5 * data[0]^2 - data[1] ^ 2")
    (plain, other), (squared,) = (
        mapped(path, *signals, SHOULDER).controls
        for signals in (
            [replace(COMMAND, field="data[0]"), replace(COMMAND, name="other", field="data[1]")],
            [thrust],
        )
    )
    np.testing.assert_allclose(squared.values, 0.5 * plain.values**2 - other.values**2)
    (alone,) = mapped(path, replace(COMMAND, field="data[0]^2"), SHOULDER).controls
    np.testing.assert_allclose(alone.values, plain.values**2)


def test_what_is_absent_is_named_with_what_is_there(arm, write_bag) -> None:
    path = write_bag(arm)
    message = refused(path, replace(SHOULDER, topic="/joint_state"), error=BagError)
    assert "unknown topic '/joint_state'; nearest: '/joint_states'; valid: '/command'" in message
    message = refused(path, replace(SHOULDER, field="position[sholder]"))
    assert "unknown element 'sholder'; nearest: 'shoulder'; valid: 'elbow', 'shoulder'" in message
    message = refused(path, replace(SHOULDER, field="positions[shoulder]"))
    assert "nearest: 'position'" in message
    message = refused(path, replace(COMMAND, field="data[2]"))
    assert "data has only 2 elements, in all 50 messages" in message
    message = refused(path, replace(COMMAND, field="data["))
    assert "'data[' is not a field path" in message


def test_a_topic_without_messages(arm, write_bag, ros2) -> None:
    from rosbags.rosbag2 import StoragePlugin, Writer

    path = write_bag(arm).with_name("silent")
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        kind = "sensor_msgs/msg/JointState"
        writer.add_connection("/joint_states", kind, typestore=ros2)
        other = writer.add_connection("/other", kind, typestore=ros2)
        writer.write(other, 1, ros2.serialize_cdr(arm[0].message, kind))
    assert "topic /joint_states of" in refused(path, SHOULDER, error=BagError)


@pytest.mark.parametrize(
    ("bad", "what"), [(np.nan, "not a number"), (np.inf, "not a number"), (1e300, "beyond 1e+15")]
)
def test_what_is_not_a_number(arm, write_bag, bad, what) -> None:
    for entry in arm[45:48]:
        if entry.topic == "/joint_states":
            entry.message.position[0] = bad
    message = refused(write_bag(arm), SHOULDER)
    assert f"'shoulder_pos' (/joint_states, position[shoulder]) is {what} in 2 of" in message
    assert "100 samples, first at 0.300 s" in message
    assert DataError.code is ErrorCode.DATA_UNUSABLE


def test_constant_channels(arm, write_bag) -> None:
    for entry in arm:
        if entry.topic == "/joint_states":
            entry.message.position[0] = 0.25
    path = write_bag(arm)
    dead, live = mapped(path, SHOULDER, ELBOW).measured
    assert "is constant (0.25 in all 100 samples)" in dead.steady
    assert not live.steady
    control = mapped(path, replace(COMMAND, field="data[1]"), ELBOW)
    assert control.controls[0].values.tolist() == [1.0] * 50
    assert control.warnings == ()


def test_arrays_that_are_empty_now_and_then(arm, write_bag) -> None:
    arm[6].message.velocity = np.empty(0)
    message = refused(write_bag(arm), replace(SHOULDER, field="velocity[shoulder]"))
    assert "velocity is empty although 'shoulder' is named, in 1 of 100 messages" in message


def test_a_single_sample(arm, write_bag) -> None:
    assert "has samples at 1 instant only; at least 2 are needed" in refused(
        write_bag(arm[:1]), SHOULDER
    )


def test_a_topic_slower_than_the_allowed_gap(arm, write_bag) -> None:
    message = refused(write_bag(arm), SHOULDER, max_gap=0.005)
    assert "is known for only 0 of 0.99 s, counting intervals up to 0.005 s" in message
    assert "raise max_gap" in message


def test_lost_messages_are_said(arm, write_bag) -> None:
    path = write_bag(arm)
    text = (path / "metadata.yaml").read_text()
    (path / "metadata.yaml").write_text(text.replace("message_count: 50", "message_count: 70"))
    result = mapped(path, COMMAND, SHOULDER)
    assert result.warnings == (
        "run: /command was promised 70 messages by the bag and 50 were read.",
    )
    assert result.quality[0].promised == 70


def test_a_recording_of_which_three_fifths_are_lost_in_bursts_is_used_and_said(
    arm, write_bag
) -> None:
    start = min(entry.log_ns for entry in arm)
    kept = [entry for entry in arm if (entry.log_ns - start) % 250_000_000 < 100_000_000]
    result = mapped(write_bag(kept), SHOULDER)
    (states,) = result.measured
    assert len(states.times) == 40
    assert [round(end - begin, 2) for begin, end in states.gaps] == [0.16, 0.16, 0.16]


def test_a_cut_off_bag_is_used_and_said(arm, write_bag) -> None:
    path = write_bag(arm) / "bag.mcap"
    path.write_bytes(path.read_bytes()[:12000])
    result = mapped(path, SHOULDER)
    assert 10 < len(result.measured[0].times) < 100
    assert "was cut off (its end mark is missing)" in result.warnings[0]


def test_messages_that_name_a_joint_twice_are_left_out_and_counted(arm, write_bag) -> None:
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    for entry in states[10:13]:
        entry.message.name = ["elbow", "elbow"]
    result = mapped(write_bag(arm), SHOULDER, ELBOW)
    assert len(result.measured[1].times) == len(states) - 3
    assert result.warnings == (
        "run: 3 of 100 messages of /joint_states name the element of position[elbow] more than "
        "once; they do not count.",
    )


def test_angles_modulo_a_turn_are_joined_from_the_beginning_of_the_recording(
    write_bag, joint_state
) -> None:
    angle = 9.0 * np.sin(np.linspace(0.0, 6.0, 600))
    told = np.degrees((angle + np.pi) % (2.0 * np.pi) - np.pi)
    entries = [
        Entry(
            "/joint_states",
            START_NS + 10_000_000 * k,
            joint_state(START_NS + 10_000_000 * k, ["table"], [one], effort=[one]),
        )
        for k, one in enumerate(told)
    ]
    path = write_bag(entries)
    table = SignalConfig(QPOS, "table", "/joint_states", "position[table]", scale=np.pi / 180.0)
    torque = SignalConfig(ACTUATOR, "motor", "/joint_states", "effort[table]")
    result = mapped(path, table, torque, start=3.0)
    np.testing.assert_allclose(result.measured[0].values, angle[300:], atol=1e-9)
    assert np.ptp(result.controls[0].values) < 360.0
    (warning,) = mapped(path, table).warnings
    assert "table: angles jump by a whole turn, 4 times" in warning


@pytest.mark.parametrize("jumps", [False, True])
def test_angles_modulo_a_turn_are_joined_before_they_are_summed(
    write_bag, joint_state, jumps: bool
) -> None:
    """As of two motors of a differential gear, whose halves jump by half a turn."""
    angles = [[4.0], [2.0]] * np.sin([[1.0], [1.7]] * np.linspace(0.0, 10.0, 1000))
    told = (angles + np.pi) % (2.0 * np.pi) - np.pi if jumps else 0.5 * angles
    stamps = START_NS + 10_000_000 * np.arange(1000)
    path = write_bag(
        [
            Entry("/joint_states", int(at), joint_state(int(at), ["l", "r"], list(both)))
            for at, both in zip(stamps, told.T, strict=True)
        ]
    )
    roll = SignalConfig(QPOS, "roll", "/joint_states", "0.5 * position[l] - 0.5 * position[r]")
    (summed,) = mapped(path, roll).measured
    expected = [0.5, -0.5] @ (angles if jumps else told)
    np.testing.assert_allclose(summed.values, expected, atol=1e-9)
    assert summed.turns == np.count_nonzero(np.abs(np.diff(told)) > np.pi)


def test_metres_that_jump_by_about_a_turns_size_are_not_joined(write_bag, ros2) -> None:
    """A robot that a simulation puts back where it was, 5 m away."""
    place, types = (
        np.concatenate([np.linspace(0.0, 5.0, 300), np.linspace(0.0, 5.0, 300)]),
        "geometry_msgs/msg/",
    )
    rest = ros2.types[types + "Quaternion"](0.0, 0.0, 0.0, 1.0)
    entries = [
        Entry(
            "/pose",
            START_NS + 10_000_000 * k,
            ros2.types[types + "Pose"](ros2.types[types + "Point"](one, 0.0, 0.0), rest),
        )
        for k, one in enumerate(place)
    ]
    x = SignalConfig(SENSOR, "x", "/pose", "position.x", clock=Clock.RECEIVE)
    np.testing.assert_allclose(mapped(write_bag(entries), x).measured[0].values, place)
