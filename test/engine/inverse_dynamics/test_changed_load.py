# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load taken up or put down in the midst of a recording is told; nothing else is called one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torque_arm import (
    JOINT_EXPERIMENT,
    experiment_text,
    moved,
    noisy,
    torque_sequences,
    true_spec,
    write_torque_bag,
)

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.inverse_dynamics import Motion, mujoco_torque
from sysid_ros.engine.measured_torque import (
    Contradictions,
    fit_torque,
    found_contradictions,
    torque_problem,
)
from sysid_ros.experiment import load_experiment, parse_experiment
from sysid_ros.robots import build_parameters

LOAD = 0.8  # kg at the last body


@pytest.fixture(scope="module")
def recorded() -> tuple[np.ndarray, Motion, np.ndarray, np.ndarray]:
    """Instants, motion and torque, with friction that no law of the fit has, and that of a load."""
    times, motion, torque = moved(true_spec().compile(), 30.0)
    slow = np.exp(-np.abs(motion.qvel) / 0.1)
    held = true_spec()
    held.body("fore").mass += LOAD
    loaded = mujoco_torque(held.compile(), motion) - mujoco_torque(true_spec().compile(), motion)
    return times, motion, torque + 0.2 * np.sign(motion.qvel) * (1.0 + slow), loaded


def found(
    recorded: tuple[np.ndarray, Motion, np.ndarray, np.ndarray],
    share: np.ndarray | float,
    more: np.ndarray | float = 0.0,
    parameters: str = "",
) -> Contradictions:
    """What is found where the load is held by a share, and something else acts besides."""
    times, motion, torque, loaded = recorded
    positions, told = noisy(motion.qpos, torque + np.reshape(share, (-1, 1)) * loaded + more)
    text = JOINT_EXPERIMENT.replace("loss: }", f"loss: }}{parameters}")
    params = build_parameters(parse_experiment(text), true_spec())
    groups = [torque_sequences(true_spec(), times, positions, told)]
    return found_contradictions(torque_problem(groups, params), TorqueSettings())


@pytest.mark.parametrize("parameters", ["", ', {body: "*", inertia: pseudo}'])
@pytest.mark.parametrize(
    ("begin", "end", "sign"), [(12.0, None, 1.0), (0.0, 18.0, -1.0), (9.0, 20.0, 1.0)]
)
def test_a_load_is_told_with_its_mass_and_when(
    recorded, begin: float, end: float | None, sign: float, parameters: str
):
    times = recorded[0]
    held = (times >= begin) & (times < (end or np.inf))
    load = found(recorded, held.astype(float), parameters=parameters).load
    assert load is not None and load.body == "fore"
    assert load.mass == pytest.approx(sign * LOAD, rel=0.1)
    first, then = (begin, end) if begin else (end, None)
    assert load.begin == pytest.approx(first, abs=0.8)
    assert (load.end is None) == (then is None)
    assert (
        f"as if 'fore' carried {abs(load.mass):.2g} kg {'more' if begin else 'less'}" in load.clause
    )


def test_what_no_load_explains_is_none(recorded):
    times = recorded[0]
    assert found(recorded, 0.0).load is None
    assert found(recorded, 1.0).load is None
    swell = np.clip(np.sin(np.pi * (times - 20.0) / 3.0), 0.0, None) * (abs(times - 21.5) < 1.5)
    assert found(recorded, 0.0, swell[:, None] * np.array([3.0, 2.0, 1.0])).load is None
    warm = (1.0 + 0.4 * times[:, None] / 30.0) * np.sign(recorded[1].qvel)
    assert found(recorded, 0.0, warm).load is None


def test_check_tells_it_and_so_does_the_verdict_of_a_fit(recorded, tmp_path: Path):
    times, motion, torque, loaded = recorded
    (tmp_path / "arm.xml").write_text(true_spec().to_xml())
    held = (times > 16.0)[:, None]
    write_torque_bag(tmp_path / "bag", times, *noisy(motion.qpos, torque + held * loaded))
    (tmp_path / "experiment.yaml").write_text(experiment_text())
    experiment = load_experiment(tmp_path / "experiment.yaml")
    (one,) = check_experiment(experiment, None)
    assert (one.kind, one.body) == (FindingKind.LOAD, "fore")
    assert one.evidence["mass"] == pytest.approx(LOAD, rel=0.1)
    assert "Fit what was recorded with it and without it apart" in one.sentence
    groups = load_dataset(experiment, None).training
    (clause,) = fit_torque(groups, build_parameters(experiment, groups[0].spec)).torque.doubts
    assert "as if 'fore' carried 0.8 kg more" in clause or "as if 'fore' carried 0.7" in clause
