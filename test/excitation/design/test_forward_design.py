# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions for robots whose torque nobody measures, under their own servos."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.cli import main
from sysid_ros.dataset import model_of
from sysid_ros.engine.estimation import FitSettings, SignalNoise, fit
from sysid_ros.engine.least_squares import eliminate_starts
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.excitation import CommandLimits, ExcitationPath, design_multisine, read_trajectory
from sysid_ros.excitation.design import (
    SERVO_PIECE,
    DesignedMotion,
    DesignSettings,
    MovingRobot,
    NoServoError,
    SimulatedFit,
    design_motion,
    design_servo_motion,
    robot_demands,
    simulated_fit,
)
from sysid_ros.excitation.design.design import design_task, random_start, rest_spline
from sysid_ros.excitation.design.forward_information import ForwardInformation
from sysid_ros.excitation.design.learned_rows import LearnedRows, servo_lags
from sysid_ros.excitation.design.planned_recording import PlannedRecording
from sysid_ros.experiment import load_experiment
from sysid_ros.robots import build_parameters

ARM = """<mujoco><compiler angle="radian"/><option timestep="0.002" integrator="implicitfast"/>
<worldbody>
<body name="upper"><joint name="shoulder" axis="0 1 0" range="-2.5 2.5" armature="0.05"
 damping="0.5" frictionloss="0.3"/>
 <geom name="upper" type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" mass="2"/>
 <body name="lower" pos="0 0 0.3"><joint name="elbow" axis="0 1 0" range="-2.2 2.2"
  armature="0.02" damping="0.2" frictionloss="0.15"/>
  <geom name="lower" type="capsule" fromto="0 0 0 0 0 0.25" size="0.03" mass="1"/>
 </body></body></worldbody>
<actuator><position name="s" joint="shoulder" kp="80" kv="3" forcerange="-30 30"/>
<position name="e" joint="elbow" kp="40" kv="1" forcerange="-12 12"/></actuator></mujoco>"""
EXPERIMENT = """
model: arm.xml
sequences: [bag]
signals:
  - {qpos: shoulder, topic: /joint_states, field: "position[shoulder]", noise: 0.001}
  - {qpos: elbow, topic: /joint_states, field: "position[elbow]", noise: 0.001}
  - {actuator: s, topic: /commands, field: "data[0]"}
  - {actuator: e, topic: /commands, field: "data[1]"}
parameters:
  - joint: "*"
    damping: {min: 0.0, max: 10.0}
    frictionloss: {min: 0.0, max: 5.0}
    armature: {min: 0.0, max: 1.0}
  - {actuator: "*", kp: {min: 1, max: 1000}}
  - {body: lower, mass: {min: 0.1, max: 5.0}}
  - {signal: "[se]", delay: {initial: 0.02, max: 0.1}}
"""
JOINTS = ("shoulder", "elbow")
DURATION = 4.0
SETTINGS = DesignSettings(
    duration=DURATION, piece=SERVO_PIECE, steps=20, starts=2, budget=600.0
)  # steps decide


class Arm(NamedTuple):
    robot: MovingRobot
    fit: SimulatedFit
    planned: PlannedRecording


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arm]:
    folder = written(tmp_path_factory.mktemp("arm"))
    experiment = load_experiment(folder / "experiment.yaml")
    loaded = model_of(experiment, experiment.sequences[0], None)
    params = build_parameters(experiment, loaded.with_sensors)
    wanted = simulated_fit(experiment, loaded.with_sensors, params, params.as_vector(), None)
    model = loaded.given.spec.compile()
    robot = robot_demands(model, JOINTS, velocity=2.5, acceleration=10.0)
    with RolloutPool(1) as rollouts:
        planned = PlannedRecording(wanted, JOINTS, robot.home, DURATION, rollouts)
        yield Arm(robot, wanted, planned)


@pytest.fixture(scope="module")
def designed(arm: Arm) -> DesignedMotion:
    return design_servo_motion(arm.robot, arm.fit, SETTINGS)


def written(folder: Path) -> Path:
    (folder / "arm.xml").write_text(ARM)
    (folder / "experiment.yaml").write_text(EXPERIMENT)
    return folder


def errors_of(arm: Arm, commands: FloatArray) -> FloatArray:
    """Standard errors that the fit's own windows promise."""
    problem, point = arm.planned.problem(arm.planned.recorded(commands))
    return np.sqrt(np.diag(np.linalg.inv(eliminate_starts(problem.linearize(point)).hessian)))


def test_a_design_beats_the_multisine_and_the_one_for_torque(
    arm: Arm, designed: DesignedMotion
) -> None:
    limits = arm.robot.demands.limits
    bounds = CommandLimits(limits.lower, limits.upper, limits.velocity, limits.acceleration)
    waves = design_multisine(
        JOINTS, bounds, duration=DURATION, lowest=0.1, highest=2.0, fill=1.0, seed=0
    )
    multisine = ExcitationPath(waves, arm.robot.home[:2]).commands(arm.planned.instants)
    torque = design_motion(arm.robot, SETTINGS)
    own = errors_of(arm, designed.values(arm.planned.instants))
    np.testing.assert_allclose(own, designed.standard_errors, rtol=1e-3)

    def mean_ratio(other: FloatArray) -> float:
        return float(np.exp(np.mean(np.log(own / errors_of(arm, other)))))

    assert mean_ratio(multisine) < 0.8
    assert mean_ratio(torque.values(arm.planned.instants)) < 0.9


def test_a_fit_of_the_recording_errs_as_was_predicted(arm: Arm, designed: DesignedMotion) -> None:
    exact = arm.planned.recorded(designed.values(arm.planned.instants))
    noisy = with_noise(exact, 1e-3, seed=3)
    found = fit(
        [noisy],
        arm.fit.params,
        FitSettings(window_length=1.0, model_error=False, intervals="white", threads=1),
        known=SignalNoise(dict.fromkeys(arm.fit.sensors, 0.001)),
    )
    errors = np.array([one.standard_error for one in found.parameters], dtype=float)
    assert tuple(one.name for one in found.parameters) == designed.names
    np.testing.assert_allclose(errors, designed.standard_errors, rtol=0.25)
    distance = (found.values - designed.nominal) / designed.standard_errors
    assert np.sqrt(np.mean(distance**2)) < 2.0  # 1 is expected


def with_noise(sequences: ModelSequences, level: float, seed: int) -> ModelSequences:
    (measured,) = sequences.sensordata
    noise = level * np.random.default_rng(seed).standard_normal(measured.data.shape)
    series = TimeSeries(measured.times, measured.data + noise, measured.signal_mapping)
    return ModelSequences(
        "noisy", sequences.spec, sequences.sequence_name, sequences.initial_state,
        sequences.control, [series],
    )  # fmt: skip


def test_learned_slopes_are_those_of_what_was_learned(arm: Arm) -> None:
    spline = rest_spline(SETTINGS)
    task = design_task(arm.robot, SETTINGS, family=spline)
    generator = np.random.default_rng(0)
    c = random_start(task, generator).c
    lags = servo_lags(arm.planned.model, arm.robot.home, JOINTS, arm.planned.servos)
    rows = LearnedRows(task.information, lags, spline, task.start, acceleration=9.0)
    forward = ForwardInformation(arm.planned, spline, task.start)
    rows.learn(c, forward.response(c), arm.planned.positions)
    weight = np.diag(1.0 / np.diag(rows.information(c)))
    direction = generator.normal(size=c.shape)
    change = [
        np.sum(weight * rows.information(c + sign * 1e-5 * direction)) for sign in (1.0, -1.0)
    ]
    slope = np.sum(rows.slope(c, weight) * direction)
    assert slope == pytest.approx((change[0] - change[1]) / 2e-5, rel=1e-4)
    near = np.diag(rows.information(c)) / np.diag(forward(c))
    assert np.all((near > 0.5) & (near < 2.0))


def test_a_joint_without_servo_is_refused_by_name(arm: Arm) -> None:
    spec = mujoco.MjSpec.from_string(ARM.replace('<position name="e"', '<motor name="e"')
                                     .replace(' kp="40" kv="1"', ""))  # fmt: skip
    with pytest.raises(NoServoError, match="'elbow' has 0 position servos"):
        PlannedRecording(
            SimulatedFit(
                spec=spec, params=type(arm.fit.params)(), values=np.zeros(0), sensors={}
            ),
            JOINTS, arm.robot.home, DURATION, RolloutPool(1),
        )  # fmt: skip


def test_the_command_designs_for_the_fit_where_no_torque_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(written(tmp_path))
    asked = ["--velocity", "2.5", "--acceleration", "10", "--duration", "4", "--budget", "1.5"]
    assert main(["design", "experiment.yaml", *asked, "--interest", "delay"]) == 0
    said = capsys.readouterr().out
    assert "predicted standard errors from a fit by simulation" in said
    assert "11 parameters" in said  # those of the experiment, not what torque can tell
    assert read_trajectory(Path("motion.csv")).cubic
