# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Instants of what is said once, and of what comes between the ticks of a clock."""

from __future__ import annotations

import numpy as np
from mapped_signals import COMMAND, SHOULDER, mapped

from sysid_ros.experiment.experiment_schema import MaskConfig
from sysid_ros.recording.mapping import control_time_series, differing_clocks

from ..conftest import START_NS, Entry

NS = 1_000_000_000


def states(arm):
    return [entry for entry in arm if entry.topic == "/joint_states"]


def test_the_last_command_is_in_force_to_the_end(arm, write_bag, multi_array):
    commands = [Entry("/command", START_NS + k * NS // 5, multi_array(float(k))) for k in range(3)]
    bag = write_bag([*commands, *states(arm)])
    result = mapped(bag, COMMAND, SHOULDER)
    series = control_time_series(result)
    assert (series.times[-1], series.data[-1, 0]) == (result.end, 2.0)
    later = control_time_series(mapped(bag, COMMAND, SHOULDER, start=0.6))
    assert (later.times[-1], later.data[-1, 0]) == (result.end, 2.0)


def test_what_stays_in_force_may_have_been_said_before(arm, write_bag, multi_array, ros2):
    on = ros2.types["std_msgs/msg/Bool"](True)
    early = [Entry("/enabled", START_NS - NS, on), Entry("/command", START_NS - NS, multi_array(3))]
    mask = MaskConfig(topic="/enabled", field="data")
    result = mapped(write_bag([*early, *states(arm)]), COMMAND, SHOULDER, enabled_when=(mask,))
    assert result.masked == result.controls[0].gaps == ()
    assert result.controls[0].values.tolist() == [3.0]


def test_a_slow_clock_loses_no_commands(arm, write_bag, ros2, multi_array):
    types, entries = ros2.types, []
    for tick, entry in enumerate(states(arm)):
        time = types["builtin_interfaces/msg/Time"](5, tick * 10_000_000)
        entry.message.header.stamp = time
        if tick % 10 == 0 or tick == 99:
            clock = types["rosgraph_msgs/msg/Clock"](time)
            entries.append(Entry("/clock", START_NS + tick * 10_000_000, clock))
        sent = Entry("/command", entry.log_ns + 1000, multi_array(float(tick)))
        entries += [entry, sent] if tick < 99 else [entry]
    motor = mapped(write_bag(entries), COMMAND, SHOULDER).controls[0]
    np.testing.assert_array_equal(motor.values, np.arange(99))
    np.testing.assert_allclose(motor.times, 0.01 * np.arange(99), atol=1e-3)


def in_lock_step(arm, ros2, multi_array, *, late=(), ticks=10_000):
    """Entries of a robot that waits for each command; every other one takes four times as long.

    Commands for the ticks in ``late`` come after the next tick, ``/clock`` ends after ``ticks``.
    """
    types, entries = ros2.types, []
    for tick, entry in enumerate(states(arm)):
        time = types["builtin_interfaces/msg/Time"](5, tick * 10_000_000)
        entry.message.header.stamp = time
        at = START_NS + (tick // 2 * 5 + tick % 2) * 1_000_000
        answered = at + (1_500_000 if tick in late else 1000)
        if tick < ticks:
            entries.append(Entry("/clock", at, types["rosgraph_msgs/msg/Clock"](time)))
        entries.append(Entry("/command", answered, multi_array(float(tick))))
        entries.append(Entry("/joint_states", at, entry.message))
    return sorted(entries, key=lambda entry: entry.log_ns)


def test_two_commands_on_one_tick_leave_the_others_their_ticks(arm, write_bag, ros2, multi_array):
    entries = in_lock_step(arm, ros2, multi_array, late=[40])
    motor = mapped(write_bag(entries), COMMAND, SHOULDER).controls[0]
    ticks = np.delete(0.01 * np.arange(len(states(arm))), 40)
    np.testing.assert_array_equal(motor.values[41:43], [40.0, 42.0])
    np.testing.assert_allclose(np.delete(motor.times, 40), ticks, atol=1e-12)


def test_commands_go_on_where_the_clock_ends_before_them(arm, write_bag, ros2, multi_array):
    entries = in_lock_step(arm, ros2, multi_array, ticks=70)
    motor = mapped(write_bag(entries), COMMAND, SHOULDER).controls[0]
    np.testing.assert_allclose(motor.times, 0.01 * np.arange(len(states(arm))), atol=1e-12)


def test_only_what_no_transport_does_is_a_clock_that_differs() -> None:
    assert differing_clocks({}) == ""
    assert differing_clocks({"/camera/pose": 0.4, "/commands": 0.0}) == ""  # a slow camera
    assert differing_clocks({"/a": 9.0, "/b": 9.3}) == ""  # both of another computer
    assert "0.6 s" in differing_clocks({"/a": 0.6, "/commands": 0.0})
    assert "0.06 s" in differing_clocks({"/a": -0.06, "/commands": 0.0})  # sent after its receipt
