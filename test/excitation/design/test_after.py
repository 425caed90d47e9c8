# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The next motion, designed from what a finished fit knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from designed_arm import ARM, JOINTS
from outcomes import outcome

from sysid_ros.cli import main
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.excitation import ExcitationError
from sysid_ros.excitation.design import (
    DesignSettings,
    FittedParameters,
    design_motion,
    fitted_parameters,
    robot_demands,
)
from sysid_ros.excitation.design.fitted_parameters import _information
from sysid_ros.experiment import load_experiment
from sysid_ros.files import dumps
from sysid_ros.judgement import Outcome
from sysid_ros.results import document_from
from sysid_ros.robots import build_parameters, load_model

EXPERIMENT = """model: arm.xml
sequences: [none.mcap]
signals:
- {qpos: elbow, topic: /joint_states, field: 'position[elbow]'}
parameters:
- {joint: "*", damping: {min: 0.0, max: 2.0}}
- {body: lower, mass: {min: 0.2, max: 3.0}}
- {signal: elbow_qpos, delay: {min: 0.0, max: 0.05}}
"""
# Name, unit, value and standard error, in the experiment's order.
KNOWN = (
    ("shoulder_damping", "N m s/rad", 0.25, 0.002),
    ("elbow_damping", "N m s/rad", 0.15, 0.1),
    ("lower_mass", "kg", 1.2, 0.3),
    ("elbow_qpos_delay", "s", 0.01, 0.001),
)
QUICK = DesignSettings(duration=8.0, starts=1, steps=4, budget=20.0)


def result(known: tuple[tuple[str, str, float, float], ...] = KNOWN) -> Outcome:
    made = outcome(sequences=0)
    estimates = tuple(
        ParameterEstimate(name, unit, value, value, 0.0, 3.0, error, 30.0)
        for name, unit, value, error in known
    )
    covariance = np.diag([error**2 for *_, error in known])
    covariance[1, 2] = covariance[2, 1] = 0.6 * known[1][3] * known[2][3]
    fit = replace(made.fit, parameters=estimates, covariance=covariance, landscapes=())
    return replace(made, fit=fit)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "result.json").write_text(dumps(document_from(result())))
    return tmp_path


def fitted(folder: Path, made: Outcome) -> FittedParameters:
    spec = load_model(folder / "arm.xml").spec
    experiment = load_experiment(folder / "experiment.yaml")
    return fitted_parameters(spec, build_parameters(experiment, spec), made.fit)


def test_what_a_fit_knows_is_put_into_the_model(folder: Path) -> None:
    known = fitted(folder, result())
    assert known.model.body("lower").mass[0] == pytest.approx(1.2)
    assert known.model.dof_damping.ravel() == pytest.approx([0.25, 0.15])
    assert not known.columns[:, 3].any()  # torque does not show a delay of a sensor
    per_mass = known.columns[:, 2]
    assert per_mass.max() == pytest.approx(1.0)  # kg per kg
    covariance = np.linalg.inv(known.information)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), [error for *_, error in KNOWN])


def test_a_motion_adds_to_what_is_known_and_aims_at_what_is_vague(folder: Path) -> None:
    known = fitted(folder, result())
    robot = robot_demands(known.model, JOINTS, velocity=2.0, acceleration=8.0)
    motion = design_motion(robot, QUICK, after=known)
    assert motion.errors_before is not None
    assert motion.names == known.names
    assert np.all(motion.standard_errors <= motion.errors_before * (1.0 + 1e-9))
    assert motion.standard_errors[3] == pytest.approx(0.001)  # nothing was learnt about it
    vague = motion.standard_errors[1:3] / motion.errors_before[1:3]
    assert np.all(vague < 0.2)


def test_predicted_errors_after_are_those_of_both_recordings_together(folder: Path) -> None:
    known = fitted(folder, result())
    robot = robot_demands(known.model, JOINTS, velocity=2.0, acceleration=8.0)
    noise = np.array([3.0, 1.0])
    motion = design_motion(robot, QUICK, after=known, torque_noise=noise)
    from sysid_ros.excitation.design.design import design_task

    task = design_task(robot, QUICK, noise, known)
    times = np.arange(0.0, 8.0, 1.0 / QUICK.rate)
    rows = (task.information.rows(motion.motion(times)) / noise[:, None]).reshape(-1, 4)
    generator = np.random.default_rng(0)
    root = np.linalg.cholesky(known.information)
    stacked = np.vstack([rows, root.T])
    draws = np.linalg.lstsq(stacked, generator.normal(size=(len(stacked), 400)), rcond=None)[0]
    np.testing.assert_allclose(draws.std(axis=1), motion.standard_errors, rtol=0.2)


def test_a_result_of_other_parameters_is_refused(folder: Path) -> None:
    other = (("wrist_damping", *KNOWN[0][1:]), *KNOWN[1:])
    with pytest.raises(ExcitationError, match="shoulder_damping, wrist_damping"):
        fitted(folder, result(other))


def test_the_command_prints_intervals_before_and_after(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["design", str(folder / "experiment.yaml"), "--after", str(folder / "result")]
    arguments += ["--output", str(folder / "motion.csv"), "--velocity", "2", "--acceleration", "8"]
    assert main([*arguments, "--duration", "8", "--budget", "1"]) == 0
    said = capsys.readouterr().out
    assert "predicted half intervals" in said
    assert said.index("elbow_damping") < said.index("shoulder_damping")  # the vaguest first
    assert (folder / "motion.csv").is_file()
    assert main([*arguments, "--torque-noise", "1", "2", "3"]) != 0
    assert "one for each of shoulder, elbow" in capsys.readouterr().err


def test_what_is_known_does_not_depend_on_units() -> None:
    correlation = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, np.nan]])
    for errors in (np.ones(3), np.array([1e-9, 100.0, 1.0])):  # a small inertia beside a gain
        found = _information(correlation * np.outer(errors, errors)) * np.outer(errors, errors)
        np.testing.assert_allclose(found[:2, :2], np.linalg.inv(correlation[:2, :2]))
        assert not np.any(found[2])
