# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints of a bus that are read in turn under one stamp: intervals know, and the report says so."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from robot_kinds import servo_arm
from robot_to_try import DELAY, ENCODER, PLAN, hidden

from sysid_ros.engine.estimation import model_error_sentences
from sysid_ros.engine.estimation.shifts import IN_TURN
from sysid_ros.engine.parameters import moves_with
from sysid_ros.engine.uncertainty import JointsInTurn
from sysid_ros.experiment import parse_experiment
from sysid_ros.judgement import Outcome
from sysid_ros.pipeline import run_experiment
from sysid_ros.rehearsal import Motion, generate

JOINTS = ("j0", "j1", "j2")


def fitted(
    folder: Path, dwell: float, *, freed: bool = False, window: float | str = 1.0
) -> tuple[Outcome, int]:
    """The fit of three joints that are read in turn, and how many intervals miss the truth."""
    spec = servo_arm()
    truth = hidden(spec.copy().compile(), 1)
    plan = replace(
        PLAN, truth=truth, seed=1, duration=12.0, motion=Motion(highest=2.5),
        sensors=(replace(ENCODER, dwell=dwell),),
    )  # fmt: skip
    generate(spec, plan, folder / "bag")
    (folder / "robot.xml").write_text(spec.to_xml())
    states, told = {"topic": "/joint_states"}, {"topic": "/position_controller/commands"}
    signals = [{"qpos": one, **states, "field": f"position[{one}]"} for one in JOINTS]
    signals += [{"actuator": f"m{k}", **told, "field": f"data[{k}]"} for k in range(3)]
    late = {"initial": 0.01, "min": -0.005, "max": 0.1, "shared": True}
    parameters = [
        {"joint": "*", "armature": {}, "damping": {}, "frictionloss": {}},
        {"signal": "m*", "delay": late},
    ]
    if freed:
        own = {"initial": 0.0, "min": -0.02, "max": 0.02}
        parameters += [{"signal": f"{one}_qpos", "delay": own} for one in JOINTS[1:]]
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals,
            "parameters": parameters, "validation": {"fraction": 0.2},
            "windows": {"length": window}}  # fmt: skip
    experiment = parse_experiment(yaml.safe_dump(tree), path=folder / "experiment.yaml")
    outcome = run_experiment(experiment, output_dir=folder / "results").outcome
    true = {one.name: one.value for one in truth} | {"m_delay": DELAY}
    true |= {f"{one}_qpos_delay": -k * dwell for k, one in enumerate(JOINTS)}
    missed = 0
    for one in outcome.fit.parameters:
        interval = one.interval()
        assert interval is not None
        missed += not interval[0] <= true[one.name] <= interval[1]
    return outcome, missed


def test_intervals_hold_of_joints_that_are_read_in_turn(tmp_path: Path) -> None:
    outcome, missed = fitted(tmp_path, dwell=1.5e-3)
    assert missed == 0
    moved = [one.name for one in outcome.fit.parameters if moves_with(IN_TURN) in one.flags]
    assert any(name.endswith("damping") for name in moved)
    assert outcome.fit.model_error is not None
    [said] = [
        one for one in model_error_sentences(outcome.fit.parameters, outcome.fit.model_error)
        if IN_TURN in one
    ]  # fmt: skip
    found = re.search(r"read ([\d.]+) ms after", said)
    assert found is not None
    assert float(found[1]) == pytest.approx(1.5, rel=0.35)
    assert "{signal: j2_qpos, delay:" in said


def test_delays_of_their_own_take_it_up(tmp_path: Path) -> None:
    outcome, missed = fitted(tmp_path, dwell=1.5e-3, freed=True)
    assert missed == 0
    delays = [p.value for p in outcome.fit.parameters if p.name.endswith("_qpos_delay")]
    assert delays == pytest.approx([-1.5e-3, -3e-3], abs=4e-4)
    assert not any(moves_with(IN_TURN) in one.flags for one in outcome.fit.parameters)


@pytest.mark.parametrize("window", [1.0, "whole"])  # of which blocks of time are compared
def test_joints_that_are_read_at_once_are_none(tmp_path: Path, window: float | str) -> None:
    outcome, missed = fitted(tmp_path, dwell=0.0, window=window)
    assert missed == 0
    assert not any(moves_with(IN_TURN) in one.flags for one in outcome.fit.parameters)


@pytest.mark.parametrize(("later", "error", "told"), [
    (1.5e-3, 2e-4, True),
    (-1.5e-3, 2e-4, True),
    (1.5e-3, 1e-3, False),  # chance may do that
    (1.5e-3, 5e-4, False),  # as a wrong mass may
    (2e-4, 1e-5, False),  # as a time step may
    (6e-3, 1e-3, False),  # when two more messages were due
])  # fmt: skip
def test_joints_are_read_within_a_message_and_beyond_a_step(
    later: float, error: float, told: bool
) -> None:
    none = np.zeros(0)
    found = JointsInTurn(("a", "b", "c"), later, error, 5e-3, none, none)
    assert found.is_told(timestep=1e-3) is told
