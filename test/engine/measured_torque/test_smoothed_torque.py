# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured torque that passed a low-pass is told from torque that is late."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.signal import lfilter
from torque_arm import (
    BODIES,
    JOINTS,
    OFFSETS,
    experiment_text,
    inertia_and_friction,
    moved,
    nominal_xml,
    torque_sequences,
    true_spec,
    write_torque_bag,
)

from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.measured_torque import found_contradictions, torque_problem
from sysid_ros.engine.parameters import Parameter, SignalModifier
from sysid_ros.experiment import load_experiment
from sysid_ros.pipeline import run_experiment

pytest.importorskip("clarabel", reason="the convex solver is not installed")
RATE = 250.0  # Hz
INERTIAS = "".join(f"  - {{body: {body}, inertia: pseudo}}\n" for body in BODIES)


def arm(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Instants, positions and torque of 16 s."""
    times, motion, torque = moved(true_spec().compile(), 16.0, RATE, seed=seed)
    return times, motion.qpos, torque - OFFSETS


def behind(torque: np.ndarray, constant: float) -> np.ndarray:
    kept = np.exp(-1.0 / (RATE * constant))
    start = kept * torque[:1]
    return np.asarray(lfilter([1.0 - kept], [1.0, -kept], torque, axis=0, zi=start)[0])


def late(torque: np.ndarray, delay: float) -> np.ndarray:
    return np.roll(torque, round(RATE * delay), axis=0)


def measured(qpos: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and torque with noise, without the first tenth of a second."""
    rng = np.random.default_rng(3)
    qpos = qpos + 1e-5 * rng.standard_normal(qpos.shape)
    return qpos[25:], torque[25:] + 0.02 * rng.standard_normal(torque.shape)[25:]


def told_of(times, qpos, torque, bodies=BODIES):
    spec = mujoco.MjSpec.from_string(nominal_xml())
    params = inertia_and_friction(spec, bodies=bodies)
    efforts = tuple(f"{name}_effort" for name in JOINTS)
    params.add(Parameter("late", 0.0, -0.06, 0.06, modifier=SignalModifier(efforts, "delay")))
    groups = [torque_sequences(spec, times[25:], *measured(qpos, torque))]
    return found_contradictions(torque_problem(groups, params), TorqueSettings()).smoothed


@pytest.mark.parametrize("constant", [0.03, 0.06])
def test_the_time_constant_of_a_low_pass_is_told(constant) -> None:
    for seed in range(2):
        times, qpos, torque = arm(seed)
        found = told_of(times, qpos, behind(torque, constant))
        assert found is not None
        assert found.signals == tuple(f"{name}_effort" for name in JOINTS)
        assert found.constant == pytest.approx(constant, rel=0.15)


@pytest.mark.parametrize("delay", [0.0, 0.008, 0.02])
def test_torque_that_is_late_is_not_smoothed(delay) -> None:
    for seed in range(2):
        times, qpos, torque = arm(seed)
        assert told_of(times, qpos, late(torque, delay)) is None


def test_masses_that_are_wrong_and_held_are_no_low_pass() -> None:
    for seed in range(1, 3):
        times, qpos, torque = arm(seed)
        assert told_of(times, qpos, torque, bodies=()) is None
        found = told_of(times, qpos, behind(torque, 0.06), bodies=())
        assert found is not None
        assert found.constant == pytest.approx(0.06, rel=0.15)


def test_check_and_the_verdict_name_it(tmp_path) -> None:
    times, qpos, torque = arm(0)
    qpos, torque = measured(qpos, behind(torque, 0.05))
    (tmp_path / "arm.xml").write_text(nominal_xml())
    write_torque_bag(tmp_path / "bag", times[25:], qpos, torque)
    (tmp_path / "experiment.yaml").write_text(experiment_text(INERTIAS))
    experiment = load_experiment(tmp_path / "experiment.yaml")
    (found,) = check_experiment(experiment, None)
    assert found.kind is FindingKind.SMOOTHED
    assert found.evidence["time_constant"] == pytest.approx(0.05, rel=0.15)
    verdict = run_experiment(experiment, output_dir=tmp_path / "results").outcome.verdict
    assert verdict.startswith("Suspect data: the torque of 'a_effort', 'b_effort', 'c_effort' are")
