# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that contradict themselves: the verdict says so before it says what improved."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from arm_recording import ArmRecording, arm_model, simulate, write_experiment, wrong_model
from outcomes import fit_result

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import FitInputs
from sysid_ros.diagnosis import FindingKind, check_experiment, exchanged_signals, mistaken_values
from sysid_ros.engine.estimation.shifts import ModelError
from sysid_ros.engine.estimation.window_sample import Place
from sysid_ros.engine.parameters import CHANGES_AT_ONCE
from sysid_ros.engine.uncertainty import Drift
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.judgement.outcome import Judgement
from sysid_ros.judgement.scored_fit import _changed
from sysid_ros.pipeline import run_experiment

ALONE = ["fit.landscapes=0", "fit.model_error=false"]  # neither is in what is said first
BRIEFLY = [*ALONE, "fit.max_iterations=2"]


@pytest.mark.parametrize("exchanged", [(), ("position", "velocity"), ("velocity",)])
def test_exchanged_joints_are_found_and_right_ones_are_not(
    tmp_path: Path, exchanged: tuple[str, ...]
) -> None:
    xml = arm_model(5, 3)
    recording = simulate(xml, 1, duration=8.0)
    for what in exchanged:
        recording = recording.exchanged(what, 0, 1)
    file = write_experiment(tmp_path, wrong_model(xml, 5), recording, velocities=True)
    inputs = FitInputs.read(load_experiment(file), None)
    pairs = exchanged_signals(inputs.dataset.training, inputs.params)
    if not exchanged:
        assert pairs == ()
    else:
        assert {frozenset(pair) for pair in pairs} <= {
            frozenset(("p0", "p1")),
            frozenset(("v0", "v1")),
            frozenset(("m0", "m1")),
        }
        assert pairs


def test_an_exchange_that_hides_well_is_found(tmp_path: Path) -> None:
    """Some robot explains nine tenths of these torques in spite of it."""
    xml = arm_model(1, 3)
    recording = simulate(xml, 1, duration=6.0)
    for what in ("position", "velocity"):
        recording = recording.exchanged(what, 0, 1)
    file = write_experiment(tmp_path, wrong_model(xml, 1), recording, velocities=True)
    inputs = FitInputs.read(load_experiment(file), None)
    pairs = exchanged_signals(inputs.dataset.training, inputs.params)
    assert {frozenset(pair) for pair in pairs} == {frozenset(("p0", "p1")), frozenset(("v0", "v1"))}


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        # a joint's axis: units and names that explain some of it are not named
        ('name="j1" axis="1 0 0"', 'name="j1" axis="0 1 0"', ""),
        # gravity that turns about the first joint: its zero explains as much, and both are named
        ("<option ", '<option gravity="9.81 0 0" ', "or the robot is not mounted as the model is"),
    ],
)
def test_a_wrong_model_is_not_taken_for_a_wrong_signal(
    tmp_path: Path, right: str, wrong: str, said: str
) -> None:
    xml = arm_model(5, 2)
    assert right in xml
    recording = simulate(xml, 5, duration=6.0)
    model = wrong_model(xml.replace(right, wrong), 5)
    file = write_experiment(tmp_path, model, recording, velocities=True)
    inputs = FitInputs.read(load_experiment(file), None)
    found = mistaken_values(inputs.experiment, inputs.dataset)
    assert [said in one.claim for one in found] == [True] * bool(said)
    assert exchanged_signals(inputs.dataset.training, inputs.params) == ()


@pytest.mark.parametrize("given", [0.01, 0.0])
def test_the_time_constant_of_a_servo_is_no_mistake_of_its_commands(
    tmp_path: Path, given: float
) -> None:
    """One that the model lacks is told as a lag."""
    xml = arm_model(5, 2, servos=True).replace("kv=", 'timeconst="0.01" kv=')
    recording = simulate(xml, 1, duration=4.0)
    model = wrong_model(xml.replace('timeconst="0.01"', f'timeconst="{given}"'), 5)
    inputs = FitInputs.read(load_experiment(write_experiment(tmp_path, model, recording)), None)
    found = mistaken_values(inputs.experiment, inputs.dataset)
    assert [one.kind for one in found] == [FindingKind.LAG] * (given == 0.0)


def test_the_verdict_says_exchanged_joints_first(tmp_path: Path) -> None:
    """Whatever the fit makes of them."""
    xml = arm_model(5, 2)
    recording = simulate(xml, 1, duration=6.0)
    for what in ("position", "velocity"):
        recording = recording.exchanged(what, 0, 1)
    file = write_experiment(tmp_path, wrong_model(xml, 5), recording, velocities=True)
    experiment = with_overrides(load_experiment(file), BRIEFLY)
    outcome = run_experiment(experiment, output_dir=tmp_path / "out").outcome
    assert outcome.judgement is Judgement.SUSPECT_DATA
    assert outcome.verdict.startswith(
        "Suspect data: 4 signals seem to be exchanged, 'p0' with 'p1'"
    )
    assert outcome.warnings[0].startswith("4 signals seem to be exchanged")


def test_the_verdict_says_first_what_check_would_have_said(tmp_path: Path) -> None:
    """A fit makes up for half of an offset, which looks like an improvement."""
    xml = arm_model(5, 2)
    recording = simulate(xml, 1, duration=6.0).changed("position", 1, lambda q: q + 0.4)
    file = write_experiment(tmp_path, wrong_model(xml, 5), recording, velocities=True)
    experiment = with_overrides(load_experiment(file), BRIEFLY)
    outcome = run_experiment(experiment, output_dir=tmp_path / "out").outcome
    assert outcome.judgement is Judgement.SUSPECT_DATA
    (offset,) = re.findall(r"^Suspect data: 'p1' is off by (\S+)", outcome.verdict)
    assert float(offset) == pytest.approx(0.4, abs=0.05)  # the model is wrong, which shifts it
    assert outcome.warnings[0].startswith(f"'p1' is off by {offset}")


def test_the_verdict_says_first_that_a_sensor_had_stopped(tmp_path: Path) -> None:
    """Half a recording of a joint that seems to stand, which no friction or load explains."""
    xml = arm_model(5, 2, servos=True)

    def stopped(q: FloatArray) -> FloatArray:
        return np.where(np.arange(len(q)) < len(q) // 2, q, q[len(q) // 2])

    recording = simulate(xml, 1, duration=12.0).changed("position", 1, stopped)
    file = write_experiment(tmp_path, wrong_model(xml, 5), recording)
    experiment = with_overrides(load_experiment(file), BRIEFLY)
    outcome = run_experiment(experiment, output_dir=tmp_path / "out").outcome
    assert outcome.judgement is Judgement.SUSPECT_DATA
    assert outcome.verdict.startswith("Suspect data: 'p1' stands still at")
    (found,) = check_experiment(experiment, None)
    assert (found.kind, found.signals) == (FindingKind.STANDSTILL, ("p1",))


def spliced(before: str, after: str, begin: float) -> ArmRecording:
    """A recording of one arm, and from some instant on of another under the same commands."""
    first, last = (simulate(xml, 1, duration=24.0) for xml in (before, after))
    later = (first.times >= begin)[:, None]
    parts = (
        np.where(later, getattr(last, name), getattr(first, name))
        for name in ("position", "velocity", "command")
    )
    return ArmRecording(first.times, *parts)


@pytest.mark.parametrize(("begin", "load"), [(10.0, 0.5), (10.0, 0.15), (99.0, 0.5)])
def test_the_verdict_says_first_what_was_taken_up_on_the_way(
    tmp_path: Path, begin: float, load: float
) -> None:
    """Whatever the fit makes of it with a mass that is free; none if nothing is.

    Of a small load that leaves less than a twentieth of the motion.
    """
    model = arm_model(1, 2, servos=True)
    spec = mujoco.MjSpec.from_string(model)
    spec.body("link1").mass += load
    file = write_experiment(tmp_path, model, spliced(model, spec.to_xml(), begin))
    freed = "parameters+=[{body: link1, mass: {min: 0.05, max: 8}}]"
    experiment = with_overrides(load_experiment(file), [*ALONE, "windows.length=1.0", freed])
    outcome = run_experiment(experiment, output_dir=tmp_path / "out").outcome
    said = r"Suspect data: From about (\S+) s on .* 'link1' carried (\S+) kg"
    told = re.match(said, outcome.verdict)
    assert (told is not None) == (begin < 24.0)
    if told is not None:
        assert float(told[1]) == pytest.approx(begin, abs=1.6)
        assert float(told[2]) == pytest.approx(load, rel=0.2)


@pytest.mark.parametrize("share", [0.6, 1.0])
def test_a_fit_says_when_a_drive_was_tuned_anew(tmp_path: Path, share: float) -> None:
    """A load that is taken up looks alike, which the verdict may begin with."""
    model = arm_model(1, 2, servos=True)
    spec = mujoco.MjSpec.from_string(model)
    for servo in spec.actuators:
        servo.gainprm[0] *= share
        servo.biasprm[:3] *= share
    file = write_experiment(tmp_path, model, spliced(model, spec.to_xml(), 10.0))
    experiment = with_overrides(load_experiment(file), ["fit.landscapes=0", "windows.length=1.0"])
    outcome = run_experiment(experiment, output_dir=tmp_path / "out").outcome
    flagged = [one.name for one in outcome.fit.parameters if CHANGES_AT_ONCE in one.flags]
    said = [one for one in outcome.warnings if " s on estimates are others in 'bag'" in one]
    assert bool(flagged) == bool(said) == (share < 1.0)
    assert (outcome.judgement is Judgement.SUSPECT_DATA) == (share < 1.0)
    if said:
        told = re.match(r"From about (\S+) s on", said[0])
        assert told is not None
        assert float(told[1]) == pytest.approx(10.0, abs=1.0)


@pytest.mark.parametrize("alike", [True, False])
def test_what_changes_where_motion_does_may_be_what_the_model_lacks(alike: bool) -> None:
    fit = fit_result(np.random.default_rng(0))
    one, change = np.ones(len(fit.parameters)), Drift(0, -0.1, 0.1, 7, alike)
    since = ModelError(one, one, (), (change,), Place((0, "bag"), 8.0))
    assert bool(_changed(replace(fit, model_error=since))) is alike
