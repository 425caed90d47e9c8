# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that contradict themselves: the verdict says so before it says what improved."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from arm_recording import arm_model, simulate, write_experiment, wrong_model
from outcomes import outcome as synthetic

from sysid_ros.dataset import FitInputs
from sysid_ros.diagnosis import exchanged_signals
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.judgement.findings import doubts_of
from sysid_ros.judgement.outcome import Judgement
from sysid_ros.pipeline import run_experiment


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ()),
        ({"interleaved": 200}, ("two nodes seem to publish /joint_states in turn (200 messages)",)),
        ({"conflicts": 3}, ("3 messages of /joint_states contradict others of the same stamp",)),
        ({"backwards": 2}, ("2 stamps of /joint_states jump back",)),
    ],
)
def test_doubts_have_a_count(changes: dict[str, int], said: tuple[str, ...]) -> None:
    quality = replace(synthetic().quality[0], **changes)  # type: ignore[arg-type]
    assert doubts_of([quality]) == tuple(f"{one} in trajectory_00" for one in said)


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
    pairs = exchanged_signals(inputs.dataset.training.groups, inputs.params)
    if not exchanged:
        assert pairs == ()
    else:
        assert {frozenset(pair) for pair in pairs} <= {
            frozenset(("p0", "p1")),
            frozenset(("v0", "v1")),
            frozenset(("m0", "m1")),
        }
        assert pairs


def test_the_verdict_says_exchanged_joints_first(tmp_path: Path) -> None:
    """Whatever the fit makes of them."""
    xml = arm_model(5, 2)
    recording = simulate(xml, 1, duration=6.0)
    for what in ("position", "velocity"):
        recording = recording.exchanged(what, 0, 1)
    file = write_experiment(tmp_path, wrong_model(xml, 5), recording, velocities=True)
    experiment = with_overrides(load_experiment(file), ["fit.max_iterations=2"])
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
    experiment = with_overrides(load_experiment(file), ["fit.max_iterations=2"])
    outcome = run_experiment(experiment, output_dir=tmp_path / "out").outcome
    assert outcome.judgement is Judgement.SUSPECT_DATA
    (offset,) = re.findall(r"^Suspect data: 'p1' is off by (\S+)", outcome.verdict)
    assert float(offset) == pytest.approx(0.4, abs=0.05)  # the model is wrong, which shifts it
    assert outcome.warnings[0].startswith(f"'p1' is off by {offset}")
