# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Three times per message, from the robot to the fit: when it was measured, sent and received."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from mapped_signals import Mapping
from recorder_process import arrived, listening, received, start_recorder, time_of
from ros_client import RosClient
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState

from sysid_ros.experiment.experiment_schema import SignalConfig
from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.mapping import MappedRecording, map_recording
from sysid_ros.recording.mapping.mapping_settings import SignalKind
from sysid_ros.recording.messages.stored_message import Clock
from sysid_ros_interfaces.srv import Start, Stop

PERIOD = 0.01  # s
AGE = 5.0  # s from measuring to sending: a header stamp that nothing else could explain
HELD_UP = 0.6  # s for which the recorder gets no processor
SIGNAL = SignalConfig(
    kind=SignalKind.QPOS, name="elbow", topic="/joint_states", field="position[elbow]"
)


def mapped(bag: str, clock: Clock) -> MappedRecording:
    with open_recording(bag) as recording:
        return map_recording(recording, Mapping([SIGNAL], clock, max_gap=10.0), name="bag")


def test_each_clock_dates_the_signal_by_its_own_time(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    process = start_recorder(nodes, tmp_path / "bags", "/joint_states")
    publisher = client.node.create_publisher(JointState, "/joint_states", 1000)
    client.wait_until(lambda: listening(publisher))
    bag = client.call(Start, "/recorder/start").bag_path
    sent, gone = [], []
    offset = time.time() - time.monotonic()
    for number in range(120):
        if number == 20:
            os.kill(process.pid, signal.SIGSTOP)
        if number == 20 + round(HELD_UP / PERIOD):
            os.kill(process.pid, signal.SIGCONT)
        now = time.time()
        message = JointState(name=["elbow"], position=[0.1 * number])
        stamp = round(1e9 * (now - AGE))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        publisher.publish(message)
        sent.append(now)
        gone.append(time.time())
        time.sleep(PERIOD)
    arrived(publisher)
    assert client.call(Stop, "/recorder/stop").success
    if abs(time.time() - time.monotonic() - offset) > 1e-3 or np.any(np.diff(sent) <= 0.0):
        pytest.skip("the clock of this machine was set while the robot was recorded")

    times = {}
    for clock in (Clock.HEADER, Clock.PUBLISH, Clock.RECEIVE):
        recording = mapped(bag, clock)
        (measured,) = recording.measured
        times[clock] = 1e-9 * recording.start_ns + measured.times
        number = np.rint(10.0 * measured.values).astype(int)
        if clock is Clock.RECEIVE:  # what was sent again and what had waited for it date alike
            assert np.all(np.diff(number) > 0)
            assert len(number) > 60
            sent_then = np.array(sent)[number]
        else:
            np.testing.assert_array_equal(number, np.arange(120)[-number.size :])
    np.testing.assert_allclose(times[Clock.HEADER], np.array(sent) - AGE, atol=1e-3)
    assert np.all(times[Clock.PUBLISH] >= np.array(sent) - 1e-3)
    assert np.all(times[Clock.PUBLISH] <= np.array(gone) + 1e-3)
    queued = times[Clock.RECEIVE] - sent_then
    assert np.max(queued) > 0.7 * HELD_UP  # what a fit by this clock would take for a delay
    assert np.min(queued) > -1e-3


@pytest.mark.parametrize("jump", [-3.0, 7.0], ids=["back", "forward"])
def test_simulated_time_that_jumps_does_not_end_the_recording(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, jump: float
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", use_sim_time="true")
    clock = client.node.create_publisher(ClockMessage, "/clock", 10)
    publisher = client.node.create_publisher(JointState, "/joint_states", 100)
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    client.wait_until(lambda: listening(publisher) and listening(clock))

    def tell(seconds: float, count: int) -> None:
        """Until a status of that time counts so many messages."""
        client.tell_time(
            clock,
            round(1e9 * seconds),
            lambda: (
                time_of(diagnostics) == pytest.approx(seconds) and received(diagnostics) == count
            ),
        )

    tell(10.0, 0)
    bag = client.call(Start, "/recorder/start").bag_path
    now = 10.0
    for number in range(20):
        now += jump if number == 10 else 0.1
        if number in (0, 9, 10):  # otherwise a message may come before its time
            tell(now, number)
        publisher.publish(JointState(name=["elbow"], position=[float(number)]))
        if number in (0, 9, 10):
            tell(now, number + 1)
    arrived(publisher)
    assert client.call(Stop, "/recorder/stop").success
    with open_recording(bag) as recording:
        log_times = np.array([message.log_ns for message in recording.messages()]) * 1e-9
    assert len(log_times) == 20
    steps = np.diff(log_times)
    assert steps[np.argmax(np.abs(steps))] == pytest.approx(jump, abs=1e-3)
    assert 10.0 <= log_times[0] < 11.0  # the simulation's time, not the machine's
