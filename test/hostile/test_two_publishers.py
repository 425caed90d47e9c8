# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Topics that two nodes publish, and stamps that jump back: warnings with the count."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from mapped_signals import Mapping
from mcap.writer import Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.experiment.experiment_schema import SignalConfig
from sysid_ros.recording.bags import BagFolder, open_recording
from sysid_ros.recording.mapping import SignalKind, map_recording
from sysid_ros.rehearsal import messages

START_NS = 1_700_000_000_000_000_000
STORE = get_typestore(Stores.ROS2_KILTED)
TYPE = "sensor_msgs/msg/JointState"


def write(path: Path, samples: Iterable[tuple[float, float]]) -> Path:
    """Joint states from stamps [s] and positions, received in this order every 10 ms."""
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        text, _ = STORE.generate_msgdef(TYPE, ros_version=2)
        channel = writer.register_channel(
            "/joint_states", "cdr", writer.register_schema(TYPE, "ros2msg", text.encode())
        )
        for number, (seconds, position) in enumerate(samples):
            ns = START_NS + round(seconds * 1e9)
            stamp = STORE.types["builtin_interfaces/msg/Time"](ns // 10**9, ns % 10**9)
            header = STORE.types["std_msgs/msg/Header"](stamp=stamp, frame_id="")
            none = np.empty(0)
            effort = np.array([5.0 * (number % 2) + position])  # two messages on each command
            message = STORE.types[TYPE](header, ["elbow"], np.array([position]), none, effort)
            received = START_NS + number * 10_000_000 + 1_000_000
            writer.add_message(
                channel, received, bytes(STORE.serialize_cdr(message, TYPE)), received
            )
        writer.finish()
    return path


def warnings_of(bag: Path) -> tuple[str, ...]:
    signals = [
        SignalConfig(SignalKind.QPOS, "elbow", "/joint_states", "position[elbow]"),
        SignalConfig(SignalKind.ACTUATOR, "motor", "/joint_states", "effort[elbow]"),
    ]
    with open_recording(bag) as recording:
        return map_recording(recording, Mapping(signals), name="bag").warnings


def course(number: float) -> float:
    return float(np.sin(0.03 * number))


def test_one_publisher_is_not_warned_of(tmp_path) -> None:
    samples = [(0.01 * n, course(n)) for n in range(200)]
    assert not warnings_of(write(tmp_path / "bag.mcap", samples))


def test_noise_is_not_taken_for_a_second_publisher(tmp_path) -> None:
    noise = np.random.default_rng(1).normal(size=200)
    samples = [(0.01 * n, float(noise[n])) for n in range(200)]
    assert not warnings_of(write(tmp_path / "bag.mcap", samples))


def test_a_command_at_rest_whose_last_digit_wavers_is_no_second_publisher(tmp_path) -> None:
    wavers = np.random.default_rng(4).integers(0, 3, 400) // 2  # mostly as two messages before
    wavers[1::2] = 1
    samples = [(0.01 * n, 0.7 + 1.1e-16 * wavers[n] + (n > 300)) for n in range(400)]
    assert not warnings_of(write(tmp_path / "bag.mcap", samples))


def test_a_current_that_is_loud_in_motion_only_is_no_second_publisher(tmp_path) -> None:
    rng = np.random.default_rng(1)
    loud = np.where(np.arange(1000) < 510, 0.01, 1.0)
    samples = [(0.01 * n, size * rng.normal()) for n, size in enumerate(loud)]
    assert not warnings_of(write(tmp_path / "bag.mcap", samples))


def test_an_acceleration_that_jumps_with_every_command_is_no_second_publisher(tmp_path) -> None:
    bag = BagFolder(tmp_path, "bag", dated=False)
    place = bag.add_topic(messages.topic_of("/imu", "sensor_msgs/msg/Imu"))
    for number in range(200):
        stamp = START_NS + number * 5_000_000
        braked = np.array([course(number) + 2.0 * (number % 2), 0.0, 9.81])
        data = messages.imu(stamp, np.array([0.0, 0.0, course(number)]), braked)
        bag.write(place, data, log_ns=stamp, publish_ns=stamp, sequence=number)
    bag.close()
    read = ("angular_velocity", "linear_acceleration")
    signals = [SignalConfig(SignalKind.SENSOR, field, "/imu", field) for field in read]
    with open_recording(tmp_path / "bag") as recording:
        assert not map_recording(recording, Mapping(signals), name="bag").warnings


def test_two_publishers_in_turn_are_named_with_the_count(tmp_path) -> None:
    samples = [(0.01 * n, course(n) + 0.5 * (n % 2)) for n in range(200)]
    (said,) = warnings_of(write(tmp_path / "bag.mcap", samples))
    assert said.startswith("bag: 200 messages of /joint_states change between two courses")


@pytest.mark.parametrize("period", [0.023, 0.0333, 0.05])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_publishers_of_different_rates_are_named(tmp_path, period: float, noise: float) -> None:
    fast = [(0.01 * n, course(n)) for n in range(400)]
    times = np.arange(0.004, 4.0, period)
    slow = [(float(t), course(100.0 * t) + 0.5) for t in times]
    error = noise * np.random.default_rng(0).normal(size=400 + len(slow))
    merged = [(t, x + e) for (t, x), e in zip(sorted(fast + slow), error, strict=True)]
    found = warnings_of(write(tmp_path / "bag.mcap", merged))
    (said,) = (text for text in found if "two courses" in text)
    assert 0.7 * len(slow) < int(said.split()[1]) <= len(merged)


@pytest.mark.parametrize("resolution", [1e-3, 0.05, 0.5])
def test_quantised_values_are_not_taken_for_a_second_publisher(tmp_path, resolution) -> None:
    noise = np.random.default_rng(2).normal(size=400)
    for number, values in enumerate(
        (
            [course(n) for n in range(400)] + 0.3 * resolution * noise,
            np.floor(0.2 * np.arange(401) + 0.1 * noise[0]),  # a speed from an encoder's ticks
        )
    ):
        values = np.diff(values) if number else values
        quantised = resolution * np.round(values / (1.0 if number else resolution))
        samples = [(0.01 * n, float(value)) for n, value in enumerate(quantised)]
        assert not warnings_of(write(tmp_path / f"bag{number}.mcap", samples))


@pytest.mark.parametrize("count", [1, 3])
def test_stamps_that_jump_back_are_counted(tmp_path, count) -> None:
    late = {40 * (n + 1) for n in range(count)}
    samples = [(0.01 * n - 0.015 * (n in late), course(n)) for n in range(200)]
    found = warnings_of(write(tmp_path / "bag.mcap", samples))
    assert any(
        f"{count} messages of /joint_states have a header stamp before" in text for text in found
    )
