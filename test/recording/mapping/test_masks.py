# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stretches in which the robot was not powered, not in the right mode, or out of sight."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mapped_signals import COMMAND, SHOULDER, mapped

from sysid_ros.dataset import load_dataset
from sysid_ros.errors import DataError, ExperimentError
from sysid_ros.experiment import load_experiment
from sysid_ros.experiment.experiment_schema import MaskConfig
from sysid_ros.experiment.load import parse_experiment
from sysid_ros.recording.messages.stored_message import Clock

from ..conftest import START_NS, Entry

POWERED = MaskConfig("/powered", "data", clock=Clock.RECEIVE)


@pytest.fixture
def with_states(arm, ros2):
    """Add a Bool or Int32 topic, one message for each (seconds, value)."""

    def make(topic, *states):
        kind = "Bool" if isinstance(states[0][1], bool) else "Int32"
        message = ros2.types[f"std_msgs/msg/{kind}"]
        added = [Entry(topic, START_NS + round(t * 1e9), message(value)) for t, value in states]
        return sorted([*arm, *added], key=lambda entry: entry.log_ns)

    return make


def test_a_state_that_is_repeated_changes_somewhere_between_two_messages(
    with_states, write_bag
) -> None:
    states = [(0.1 * k, 2 <= k < 6) for k in range(10)]
    result = mapped(write_bag(with_states("/powered", *states)), SHOULDER, enabled_when=[POWERED])
    (before, after) = result.masked
    assert before == (0.0, pytest.approx(0.2))
    assert after == (pytest.approx(0.5 + 1e-6), pytest.approx(0.99)), "known to hold until 0.5 s"
    times = result.measured[0].times
    assert (times[0], times[-1]) == (pytest.approx(0.2), pytest.approx(0.5))
    assert result.measured[0].gaps == (), "a masked stretch is not a gap in what counts"
    assert result.quality[0].masked == pytest.approx(0.69, abs=1e-5)


def test_a_state_sent_on_change_lasts_until_the_next(with_states, write_bag) -> None:
    states = [(-0.5, True), (0.3, False), (0.6, True)]
    path = write_bag(with_states("/powered", *states))
    on = mapped(path, SHOULDER, enabled_when=[POWERED])
    assert on.masked == ((pytest.approx(0.3), pytest.approx(0.6)),)
    off = mapped(path, SHOULDER, enabled_when=[replace(POWERED, invert=True)])
    assert off.measured[0].times[[0, -1]] == pytest.approx([0.3, 0.59])
    assert len(on.measured[0].times) + len(off.measured[0].times) == 100


def test_modes_and_several_masks_on_one_signal(with_states, write_bag, ros2) -> None:
    entries = with_states("/mode", (0.0, 1), (0.2, 2), (0.5, 7), (0.8, 3))
    mode = MaskConfig("/mode", "data", equals=(2.0, 7.0), clock=Clock.RECEIVE)
    early = MaskConfig("/command", "data[0]", equals=4.0, invert=True)  # reached at 0.8 s
    moving = replace(SHOULDER, enabled_when=(mode, early))
    result = mapped(write_bag(entries), moving, COMMAND, start=0.1)
    assert result.measured[0].times[[0, -1]] == pytest.approx([0.2, 0.78], abs=1e-6)
    assert len(result.controls[0].times) == 50, "commands stay, they may be delayed"
    assert [row.masked > 0 for row in result.quality] == [True, False, False]


def test_a_command_need_not_be_known_while_it_does_not_count(with_states, write_bag) -> None:
    """As with the servo, whose commands stop while it has no power."""
    states = [(0.02 * k, k < 10) for k in range(50)]
    entries = [
        entry
        for entry in with_states("/powered", *states)
        if entry.topic != "/command" or entry.log_ns < START_NS + 0.19e9
    ]
    path = write_bag(entries)
    with pytest.raises(DataError, match=r"known for only .* say with enabled_when"):
        mapped(path, COMMAND, SHOULDER)
    result = mapped(path, replace(COMMAND, enabled_when=(POWERED,)), SHOULDER)
    assert result.controls[0].gaps == ()
    assert result.masked[0] == (pytest.approx(0.18, abs=1e-5), pytest.approx(0.99))
    assert len(result.measured[0].times) == 100, "only the command does not count"


def test_what_cannot_be_a_mask(with_states, write_bag) -> None:
    path = write_bag(with_states("/powered", (0.0, False), (0.5, False)))
    with pytest.raises(DataError, match=r"\(/powered, data\) never holds: the values are 0 in"):
        mapped(path, SHOULDER, enabled_when=[POWERED])
    with pytest.raises(DataError, match="unknown field of std_msgs/msg/Bool 'powered'"):
        mapped(path, SHOULDER, enabled_when=[replace(POWERED, field="powered")])
    path = write_bag(with_states("/powered", (0.981, True), (0.989, False)), "late")
    with pytest.raises(DataError, match="has no sample while its enabled_when holds"):
        mapped(path, SHOULDER, enabled_when=[POWERED])


def test_a_silent_publisher_says_nothing(with_states, write_bag) -> None:
    states = [(0.01 * k, True) for k in range(100) if not 30 < k < 70]
    result = mapped(write_bag(with_states("/powered", *states)), SHOULDER, enabled_when=[POWERED])
    assert result.masked[0] == (pytest.approx(0.3, abs=1e-5), pytest.approx(0.7))


def test_the_servo_without_power(shared_data) -> None:
    """No window touches the stretch in which the arm is held up."""
    example = Path(__file__).resolve().parents[3] / "examples" / "servo" / "drop.yaml"
    data = load_dataset(load_experiment(example), shared_data / "servo")
    masked = [row.masked for row in data.quality if row.topic == "/joint_states"]
    assert masked == pytest.approx([0.2] * 4)
    for stretches in data.training[0].gaps:
        assert stretches == ((0.0, pytest.approx(0.2)),)
    for series in data.training[0].sensordata:
        assert series.times[0] == pytest.approx(0.2)
        assert np.isfinite(series.data).all()


def test_how_masks_are_written() -> None:
    text = """
model: m.xml
sequences: [bag]
enabled_when: [{topic: /a, field: data}, {topic: /b, field: mode, equals: [1, 2], invert: true}]
signals:
  - {sensor: s, topic: /t, field: f, enabled_when: {topic: /c, field: data, clock: receive}}
parameters: []
"""
    experiment = parse_experiment(text)
    first, second = experiment.enabled_when
    assert (first.equals, second.equals, second.invert) == (None, (1.0, 2.0), True)
    assert experiment.signals[0].enabled_when == (
        MaskConfig("/c", "data", clock=Clock.RECEIVE),
    )  # fmt: skip
    with pytest.raises(ExperimentError, match=r"'inverted' in enabled_when\[1\]; nearest"):
        parse_experiment(text.replace("invert:", "inverted:"))
    with pytest.raises(ExperimentError, match="enabled_when"):
        parse_experiment(text.replace("{topic: /c, field: data, clock: receive}", "true"))


def test_a_noisy_number_is_a_state_that_is_repeated(arm, write_bag, ros2):
    number = ros2.types["std_msgs/msg/Float64"]
    volts = [Entry("/volts", START_NS + k * 50_000_000, number(12.1 + k % 3)) for k in range(10)]
    result = mapped(
        write_bag([*volts, *arm]),
        SHOULDER,
        enabled_when=(MaskConfig("/volts", "data", clock=Clock.RECEIVE),),
    )
    assert result.masked[-1] == pytest.approx((0.45, 0.99), abs=1e-3)
