# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that scatter on their way to the recorder are told from those that are sent unevenly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import robot_kinds
from robot_to_try import PLAN, hidden, of_text
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, check_experiment, command_interpolation
from sysid_ros.diagnosis.fits import InterpolationScores
from sysid_ros.errors import DataError
from sysid_ros.experiment import Experiment, load_experiment
from sysid_ros.proposal import propose
from sysid_ros.recording.mapping import Interpolation
from sysid_ros.rehearsal import Controller, generate

TOPIC = "/position_controller/commands"


def as_received(published: Path, received: Path, most: float, seed: int) -> None:
    """Write a bag that knows times of receipt only: commands up to so many seconds after the rest.

    Whoever publishes them is as far away from the recorder as from the drives.
    """
    random = np.random.default_rng(seed)
    with Reader(published) as bag:
        messages = [(one, sent, data) for one, sent, data in bag.messages()]
    late = [
        (sent + (round(1e9 * random.uniform(0.0, most)) if one.topic == TOPIC else 0), one, data)
        for one, sent, data in messages
    ]
    with Writer(received, version=9, storage_plugin=StoragePlugin.SQLITE3) as bag:
        written = {
            one.topic: bag.add_connection(
                one.topic, one.msgtype, msgdef=one.msgdef.data, rihs01=one.digest
            )
            for one in {one.topic: one for one, *_ in messages}.values()
        }
        for at, one, data in sorted(late, key=lambda message: message[0]):
            bag.write(written[one.topic], at, data)


def proposed(folder: Path, *, way: float = 0.0, jitter: float = 0.0, seed: int = 1) -> Experiment:
    """What ``init`` writes of a SCARA whose commands take so long, or are sent so unevenly, s."""
    spec = of_text(robot_kinds.SCARA)()
    controller = Controller(topic=TOPIC, delay=0.008, jitter=jitter)
    plan = replace(
        PLAN, duration=6.0, timestep=5e-4, rate=50.0, controllers=(controller,),
        truth=hidden(spec.compile(), 7), seed=seed,
    )  # fmt: skip
    made = generate(spec, plan, folder / "published")
    as_received(made.bag, folder / "bag", way, seed)
    (folder / "robot.xml").write_text(spec.to_xml())
    file = folder / "experiment.yaml"
    file.write_text(propose(folder / "robot.xml", [folder / "bag"], file).text)
    return load_experiment(file)


def clocks(experiment: Experiment) -> set[str]:
    commanded = [one for one in experiment.signals if one.topic == TOPIC]
    return {"" if one.clock is None else one.clock.value for one in commanded}


def test_commands_that_scatter_on_their_way_are_dated_by_their_even_rate(tmp_path: Path) -> None:
    experiment = proposed(tmp_path, way=2e-3)
    assert clocks(experiment) == {"even"}
    (row,) = [row for row in load_dataset(experiment, None).quality if row.topic == TOPIC]
    assert (row.clock, row.jitter) == ("even", pytest.approx(0.0, abs=1e-5))
    assert check_experiment(experiment, None) == ()
    file = tmp_path / "experiment.yaml"
    file.write_text(file.read_text().replace(", clock: even", ""))
    (found,) = check_experiment(load_experiment(file), None)
    assert found.kind is FindingKind.SCATTER
    assert found.evidence["left receive"] > 1.1
    assert all(one.endswith(".clock=even") for one in found.overrides)


def test_commands_that_are_sent_unevenly_are_dated_as_received(tmp_path: Path) -> None:
    assert clocks(proposed(tmp_path, jitter=5e-4)) == {""}


def test_dates_that_cannot_be_compared_leave_what_methods_explain(monkeypatch) -> None:
    scores = InterpolationScores({"zoh": np.ones(8), "linear": np.full(8, 2.0)}, {})

    values = {"damping of m": 0.2}

    class Fit:
        def __init__(self) -> None:
            self.values = values

        def compared(self, *_: object) -> InterpolationScores:
            return scores

    def failing(*_: object) -> None:
        raise DataError("the model cannot follow what is dated otherwise")

    nothing = {"mapped_recordings": {}, "_joined": None, "_params": None, "_others": []}
    for name, result in nothing.items():
        monkeypatch.setattr(command_interpolation, name, lambda *_, result=result: result)
    monkeypatch.setattr(command_interpolation.RecordedFit, "of", lambda *_: Fit())
    monkeypatch.setattr(command_interpolation, "_dates", failing)
    topics = [
        command_interpolation.CommandSampling(name, ("m",), 0.02, Interpolation.HOLD)
        for name in ("/a", "/b")
    ]
    sequences = SimpleNamespace(sequence_name=(), spec=None)
    fitted: dict[str, float] = {}
    told = [*command_interpolation._compared(None, sequences, None, topics, fitted.update)]
    assert fitted == values
    assert [(one.topic, one.methods, one.dates) for one in told] == [
        ("/a", scores, None),
        ("/b", scores, None),
    ]
