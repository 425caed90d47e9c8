# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whatever happens to its messages, an estimator goes on with what it knows."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pendulum_experiment import TRUE, write_pendulum_bag, write_pendulum_experiment

from sysid_ros.engine.moving_horizon import HorizonSettings
from sysid_ros.errors import BagError
from sysid_ros.experiment import SequenceConfig, load_experiment
from sysid_ros.live_estimation import LiveEstimate, LiveEstimator, message_buffer
from sysid_ros.live_estimation.message_buffer import MessageBuffer
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.messages import RawMessage

_STAMP = struct.Struct("<iI")  # behind the four bytes that begin a message
NS = 1_000_000_000
Change = Callable[[RawMessage, float], RawMessage | None]  # of a message, s since the first one


def _follow(
    folder: Path,
    change: Change,
    *,
    bag: str = "first",
    every: float = 0.5,
    search_time: float = math.inf,
) -> Iterator[LiveEstimate]:
    """Estimates from a bag whose messages are changed or left out."""
    experiment = load_experiment(folder / "experiment.yaml")
    with open_recording(folder / "bags" / bag) as recording:
        estimator = LiveEstimator(
            experiment,
            recording,
            SequenceConfig(f"bags/{bag}"),
            HorizonSettings(length=2.0, search_time=search_time),
        )
        messages = list(recording.messages(estimator.topics))
    first, new, until = messages[0].log_ns, [], every
    for message in messages:
        at = (message.log_ns - first) / NS
        changed = change(message, at)
        if changed is not None:
            new.append(changed)
        if at >= until:
            yield estimator.update(new)
            new, until = [], at + every
    yield estimator.update(new, ended=True)


def _set_back(message: RawMessage, seconds: float) -> RawMessage:
    """A message of a computer whose clock was set back."""
    data = message.data
    if message.topic == "/joint_states":
        sec, nanosec = _STAMP.unpack_from(data, 4)
        stamp = sec * NS + nanosec - round(seconds * NS)
        data = data[:4] + _STAMP.pack(*divmod(stamp, NS)) + data[4 + _STAMP.size :]
    earlier = message.log_ns - round(seconds * NS)
    return RawMessage(message.topic, message.log_ns, earlier, data)


def _damping(found: LiveEstimate) -> float:
    assert found.estimate is not None
    (value,) = (p.value for p in found.estimate.parameters if p.name == "pivot_damping")
    return value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The pendulum's experiment with bags of eight seconds."""
    write_pendulum_experiment(tmp_path, duration=8.0)
    return tmp_path


def test_a_clock_of_stamps_that_is_set_back_ends_nothing(folder: Path):
    found = list(_follow(folder, lambda m, at: _set_back(m, 100.0) if at > 2.2 else m))
    problems = [one.problem for one in found]
    assert any("jump back" in problem for problem in problems)
    assert not problems[-1]
    last = found[-1].estimate
    assert last is not None and last.windows > 2  # from before and after
    assert last.time < 4.0  # on the new axis
    assert _damping(found[-1]) == pytest.approx(TRUE["pivot_damping"], rel=0.02)


def test_when_this_computers_clock_or_a_simulation_is_set_back_estimates_go_on(folder: Path):
    def set_back(message: RawMessage, at: float) -> RawMessage:
        if at < 2.2:
            return message
        return _set_back(message, 100.0)._replace(log_ns=message.log_ns - 100 * NS)

    found = list(_follow(folder, set_back))
    assert [one.problem for one in found if one.problem] == [
        "the clock was set back by 100 s; estimates go on on its new time"
    ]
    last = found[-1].estimate
    assert last is not None and last.windows >= 6  # a window is lost
    assert last.time == pytest.approx(5.8, abs=0.1)  # on the new axis
    assert _damping(found[-1]) == pytest.approx(TRUE["pivot_damping"], rel=0.02)


def test_a_search_that_a_restart_interrupts_or_a_slow_computer_draws_out_leaves_nothing_wrong(
    folder: Path,
):
    """One evaluation an update: windows must not leave as they were where the search began."""

    def set_back(message: RawMessage, at: float) -> RawMessage:
        if at < 2.2:
            return message
        return _set_back(message, 100.0)._replace(log_ns=message.log_ns - 100 * NS)

    found = list(_follow(folder, set_back, every=0.3, search_time=0.0))
    estimates = [one.estimate for one in found if one.estimate is not None]
    assert estimates[0].searching and any(not one.searching for one in estimates)
    assert estimates[-1].thinned >= 1.0
    assert _damping(found[-1]) == pytest.approx(TRUE["pivot_damping"], rel=0.02)


def test_a_first_command_that_comes_before_what_was_measured_then_is_no_failure(folder: Path):
    """Drivers stamp what they measure some milliseconds before it is received."""

    def delayed(message: RawMessage, at: float) -> RawMessage | None:
        if message.topic == "/joint_states":
            return _set_back(message, 0.08)
        return message if at > 1.05 else None

    found = list(_follow(folder, delayed, every=0.1))
    assert {one.problem for one in found} == {"", "no message of /torque yet"}
    assert found[-1].estimate is not None


def test_a_gap_costs_no_more_than_its_windows(folder: Path):
    found = list(_follow(folder, lambda m, at: None if 3.2 < at < 4.9 else m))
    assert _damping(found[-1]) == pytest.approx(TRUE["pivot_damping"], rel=0.02)
    assert found[-1].estimate is not None and 5 <= found[-1].estimate.windows <= 8


def test_a_stream_that_pauses_while_nothing_changes_is_in_force_meanwhile(folder: Path):
    write_pendulum_bag(folder / "bags" / "still", duration=8.0, pausing=True)
    found = list(_follow(folder, lambda m, at: m, bag="still", every=0.1))
    times = [0.0 if one.estimate is None else one.estimate.time for one in found]
    behind = 0.1 * np.arange(1, len(found) + 1) - times
    assert behind[10:20].max() > 0.5  # nobody knows yet that nothing was lost in a pause
    assert behind[40:].max() < 0.15
    assert _damping(found[-1]) == pytest.approx(TRUE["pivot_damping"], rel=0.02)


def test_a_signal_whose_name_changes_is_named(folder: Path):
    def renamed(message: RawMessage, at: float) -> RawMessage:
        return (
            message._replace(data=message.data.replace(b"pivot", b"tovip")) if at > 2.2 else message
        )

    found = list(_follow(folder, renamed))
    assert [bool(one.problem) for one in found] == [k > 7 for k in range(len(found))]
    assert found[-1].problem.startswith("no sample of angle for more than 2 s")
    assert found[-1].estimate is not None


def test_a_sample_that_is_no_number_is_left_out(folder: Path):
    write_pendulum_bag(folder / "bags" / "nan", duration=4.0, nan=True)
    found = list(_follow(folder, lambda m, at: m, bag="nan"))
    assert _damping(found[-1]) == pytest.approx(TRUE["pivot_damping"], rel=0.05)


def test_what_comes_long_before_the_first_command_is_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(message_buffer, "IDLE", 1.0)
    experiment = load_experiment(folder / "experiment.yaml")
    with open_recording(folder / "bags" / "first") as recording:
        buffer = MessageBuffer(experiment, recording)
        states = [one for one in recording.messages(buffer.topics) if one.topic == "/joint_states"]
    for second in range(8):
        buffer.add(states[200 * second : 200 * (second + 1)])
        with pytest.raises(BagError, match="no message of /torque yet"):
            buffer.mapped("first")
    kept = buffer._reader.columns()["/joint_states"]
    assert 190 <= len(kept.log_ns) <= 210  # of the last second
