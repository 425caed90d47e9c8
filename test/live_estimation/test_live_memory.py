# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The memory of an estimator: flat over hours, and another run's where it is of the same."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from kept_objects import kept_objects
from pendulum_experiment import TRUE, write_pendulum_experiment

from sysid_ros.engine.moving_horizon import HorizonSettings, arrival_cost
from sysid_ros.errors import DataError
from sysid_ros.experiment import SequenceConfig, load_experiment
from sysid_ros.live_estimation import LiveEstimate, LiveEstimator
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.messages import RawMessage

_STAMP = struct.Struct("<iI")  # behind the four bytes that begin a message
NS = 1_000_000_000
PASS, PAUSE, EVERY = 8.0, 1.0, 2.0  # s of a bag, between two of them, of messages per update
SHARES = 12  # that are kept apart, so that they are full soon
FULL = 6  # passes after which horizon and arrival cost are full
SLACK = 30  # objects: one share more would be about ten, and there are seven windows in a pass


def _later(message: RawMessage, shift_ns: int) -> RawMessage:
    data = message.data
    if message.topic == "/joint_states":
        sec, nanosec = _STAMP.unpack_from(data, 4)
        stamp = _STAMP.pack(*divmod(sec * NS + nanosec + shift_ns, NS))
        data = data[:4] + stamp + data[4 + _STAMP.size :]
    published = None if message.publish_ns is None else message.publish_ns + shift_ns
    return RawMessage(message.topic, message.log_ns + shift_ns, published, data)


def _passes(folder: Path, count: int) -> Iterator[tuple[LiveEstimator, LiveEstimate]]:
    """The estimator and its estimate after each pass through one bag, one behind the other."""
    write_pendulum_experiment(folder, duration=PASS)
    experiment = load_experiment(folder / "experiment.yaml")
    bag = SequenceConfig("bags/first")
    with open_recording(folder / "bags" / "first") as recording:
        estimator = LiveEstimator(experiment, recording, bag, HorizonSettings(length=2.0))
        messages = list(recording.messages(estimator.topics))
    first, updates = messages[0].log_ns, round(PASS / EVERY)
    for number in range(count):
        shift = round(number * (PASS + PAUSE) * NS)
        for part in range(updates):
            begin, end = first + part * EVERY * NS, first + (part + 1) * EVERY * NS
            new = [_later(m, shift) for m in messages if begin <= m.log_ns < end]
            found = estimator.update(new)
        yield estimator, found


def _assert_flat(folder: Path, passes: int) -> None:
    kept, last = [], LiveEstimate(None)
    for number, (estimator, last) in enumerate(_passes(folder, passes)):  # noqa: B007
        if number >= FULL:
            kept.append(kept_objects(estimator))
    assert last.estimate is not None and not last.problem
    assert last.estimate.windows >= 6 * passes
    values = {p.name: p.value for p in last.estimate.parameters}
    assert values == pytest.approx(TRUE, rel=0.02)
    half = len(kept) // 2
    early, late = (np.max(part, axis=0) for part in (kept[:half], kept[half:]))
    assert late[0] <= early[0] + SLACK
    assert late[1] <= 1.01 * early[1]


@pytest.fixture(autouse=True)
def _few_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival_cost, "MOST_SHARES", SHARES)


def test_what_is_kept_does_not_grow(tmp_path: Path) -> None:
    _assert_flat(tmp_path, FULL + 4)


@pytest.mark.slow
def test_what_is_kept_does_not_grow_in_two_hours(tmp_path: Path) -> None:
    _assert_flat(tmp_path, 900)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("pendulum.xml", 'damping="0.5"', 'damping="0.6"', "the model changed"),
        ("experiment.yaml", "position[pivot]", "velocity[pivot]", "the setting signals changed"),
        ("experiment.yaml", "windows:", "# windows:", ""),
    ],
)
def test_what_was_kept_counts_for_its_own_model_and_signals(
    tmp_path: Path, file: str, old: str, new: str, words: str
) -> None:
    write_pendulum_experiment(tmp_path / "a", duration=2.0)

    def begun() -> LiveEstimator:
        experiment, bag = load_experiment(tmp_path / "a/experiment.yaml"), "bags/first"
        with open_recording(tmp_path / "a" / bag) as recording:
            return LiveEstimator(experiment, recording, SequenceConfig(bag), HorizonSettings())

    begun().keep(tmp_path / "state.json")
    begun().recall(tmp_path / "state.json")
    edited = tmp_path / "a" / file
    text = edited.read_text()
    assert old in text
    edited.write_text(text.replace(old, new))
    with pytest.raises(DataError, match=words) if words else nullcontext():
        begun().recall(tmp_path / "state.json")
