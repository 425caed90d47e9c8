# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""While a bag grows, what a fit of it would find out is known beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pendulum_experiment import EXPERIMENT, TRUE, write_pendulum_experiment

from sysid_ros.errors import SysidError
from sysid_ros.experiment import load_experiment
from sysid_ros.live_estimation.sufficiency import LiveSufficiency, Sufficiency
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.recording.bags import BagFolder, BagTopic, Recording, open_recording
from sysid_ros.recording.messages import RawMessage


class Replay:
    """Writes a recorded bag anew, a stretch at a time."""

    def __init__(self, source: Path, folder: Path) -> None:
        with open_recording(source) as recording:
            self._source = iter(list(recording.messages()))
            self._bag = BagFolder(folder, "live", dated=False)
            self._channels = {
                name: self._bag.add_topic(_described(recording, name)) for name in recording.topics
            }
        self.path = self._bag.path

    def write(self, seconds: float) -> None:
        until = None
        for message in self._source:
            until = until or message.log_ns + round(1e9 * seconds)
            self._write(message)
            if message.log_ns >= until:
                break
        self._bag.flush()

    def _write(self, message: RawMessage) -> None:
        self._bag.write(
            self._channels[message.topic],
            message.data,
            log_ns=message.log_ns,
            publish_ns=message.publish_ns or message.log_ns,
        )


def _described(recording: Recording, name: str) -> BagTopic:
    topic = recording.topic(name)
    return BagTopic(name, topic.msgtype, topic.definition.text, topic.definition.digest)


@pytest.fixture
def experiment_file(tmp_path: Path) -> Iterator[Path]:
    """The driven pendulum, its bag 12 s long."""
    return write_pendulum_experiment(tmp_path, duration=12.0)


def test_expected_errors_are_those_of_the_fit(experiment_file: Path, tmp_path: Path):
    experiment = load_experiment(experiment_file)
    live = Replay(tmp_path / "bags" / "first", tmp_path)
    judge = LiveSufficiency(experiment, live.path)
    found: list[Sufficiency] = []
    for _ in range(5):
        live.write(2.5)
        found.append(_known(judge.update()))
    assert [judged.windows for judged in found] == sorted(judged.windows for judged in found)
    assert not found[0].settled and not found[0].sufficient  # two windows show no scatter
    assert found[-1].sufficient
    assert str(found[-1]) == "after 12 s every parameter is determined well enough"
    by_noise = replace(experiment, fit=replace(experiment.fit, model_error=False))
    outcome = run_experiment(by_noise, output_dir=tmp_path / "results").outcome
    for expected, fitted in zip(found[-1].parameters, outcome.fit.parameters, strict=True):
        assert fitted.standard_error is not None
        assert expected.name == fitted.name and expected.unit == fitted.unit
        assert expected.standard_error == pytest.approx(fitted.standard_error, rel=0.3)
        assert expected.value == pytest.approx(TRUE[expected.name], rel=0.02)


def test_errors_shrink_as_data_comes(experiment_file: Path, tmp_path: Path):
    experiment = load_experiment(experiment_file, overrides=["fit.intervals=white"])
    live = Replay(tmp_path / "bags" / "first", tmp_path)
    judge = LiveSufficiency(experiment, live.path, precision=1e-5)
    live.write(6.5)
    early = _known(judge.update())
    live.write(5.4)
    late = _known(judge.update())
    assert not late.sufficient
    for before, after in zip(early.parameters, late.parameters, strict=True):
        assert after.standard_error < before.standard_error
        assert 0.0 < before.progress < after.progress < 1.0
        needed = (after.standard_error / after.target) ** 2
        assert after.remaining == pytest.approx((needed - 1.0) * late.duration)
    assert "more of the same, 1 other less; another motion would tell sooner" in str(late)


def test_pieces_add_up_to_the_whole(experiment_file: Path, tmp_path: Path):
    experiment = load_experiment(experiment_file)
    live = Replay(tmp_path / "bags" / "first", tmp_path)
    judge = LiveSufficiency(experiment, live.path)
    for _ in range(12):
        live.write(1.0)
        pieces = judge.update()
    whole = _known(LiveSufficiency(experiment, live.path).update())
    np.testing.assert_allclose(
        [parameter.standard_error for parameter in _known(pieces).parameters],
        [parameter.standard_error for parameter in whole.parameters],
        rtol=0.25,
    )


def test_what_nothing_shows_is_never_enough(experiment_file: Path, tmp_path: Path):
    """The motor's strength scales every inertia, and nothing tells them apart."""
    text = EXPERIMENT.replace("parameters:", "parameters:\n  - {body: arm, mass: {}}")
    experiment_file.write_text(text + "  - {actuator: motor, gear: {min: 0.5, max: 2.0}}\n")
    judged = _known(
        LiveSufficiency(load_experiment(experiment_file), tmp_path / "bags" / "first").update()
    )
    open_ones = [p for p in judged.parameters if math.isinf(p.remaining)]
    assert {"arm_mass", "motor_gear"} <= {parameter.name for parameter in open_ones}
    assert all(parameter.progress == 0.0 for parameter in open_ones)
    assert not judged.sufficient
    assert any("motor_gear" in sentence for sentence in judged.undetermined)
    assert "nothing determines" in str(judged)


def test_parameter_at_its_bound_has_an_error_and_spoils_no_other(
    experiment_file: Path, tmp_path: Path
):
    bag = tmp_path / "bags" / "first"
    without = _known(LiveSufficiency(load_experiment(experiment_file), bag).update())
    experiment_file.write_text(EXPERIMENT + "    frictionloss: {initial: 0.1, max: 1.0}\n")
    judged = _known(LiveSufficiency(load_experiment(experiment_file), bag).update())
    *others, friction = judged.parameters  # the pendulum has none
    assert friction.name == "pivot_frictionloss"
    assert friction.value == pytest.approx(0.0, abs=2e-3)
    assert 0.0 < friction.standard_error < 0.01
    for expected, known in zip(others, without.parameters, strict=True):
        # friction that may be there after all acts as damping does, in part
        assert 0.5 * known.standard_error < expected.standard_error < 5.0 * known.standard_error


def test_one_of_several_robots_is_judged_by_its_own_parameters(
    experiment_file: Path, tmp_path: Path
):
    text = EXPERIMENT.replace("[bags/first]", "[{bag: bags/first, robot: left}]")
    text = text.replace("[bags/second]", "[{bag: bags/second, robot: right}]")
    experiment_file.write_text(
        text.replace("damping: {max: 1.0}", "damping: {max: 1.0, per_robot: true}")
    )
    judge = LiveSufficiency(
        load_experiment(experiment_file), tmp_path / "bags" / "second", robot="right"
    )
    names = [parameter.name for parameter in _known(judge.update()).parameters]
    assert names == ["pivot_armature", "right/pivot_damping"]


def test_too_early_to_say(experiment_file: Path, tmp_path: Path):
    live = Replay(tmp_path / "bags" / "first", tmp_path)
    judge = LiveSufficiency(load_experiment(experiment_file), live.path)
    with pytest.raises(SysidError, match="holds no messages"):
        judge.update()
    live.write(0.5)
    assert judge.update() is None
    live.write(1.0)
    assert _known(judge.update()).windows == 2  # one of which is still growing


def test_topics_that_nobody_publishes_yet_are_named(experiment_file: Path, tmp_path: Path):
    with open_recording(tmp_path / "bags" / "first") as source:
        bag = BagFolder(tmp_path, "live", dated=False)
        channel = bag.add_topic(_described(source, "/torque"))
        first = next(source.messages(["/torque"]))
        bag.write(channel, first.data, log_ns=first.log_ns, publish_ns=first.log_ns)
        bag.flush()
    judge = LiveSufficiency(load_experiment(experiment_file), bag.path)
    with pytest.raises(SysidError, match=r"^no message of /joint_states yet$"):
        judge.update()


def _known(judged: Sufficiency | None) -> Sufficiency:
    assert judged is not None
    return judged
