# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion designed for an experiment, and what is predicted of its recording."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from designed_arm import ARM, JOINTS

from sysid_ros.excitation import ExcitationError
from sysid_ros.excitation.design import DesignSettings, MotionRequest, design_for
from sysid_ros.experiment import load_experiment
from sysid_ros.judgement import motion_digest

EXPERIMENT = """model: arm.xml
sequences: [none.mcap]
signals:
- {qpos: elbow, topic: /joint_states, field: 'position[elbow]'}
- {effort: shoulder, topic: /joint_states, field: 'effort[shoulder]'}
- {effort: elbow, topic: /joint_states, field: 'effort[elbow]'}
fit: {method: inverse_dynamics}
parameters:
- {joint: elbow, damping: {min: 0.0, max: 2.0}}
- {body: lower, mass: {min: 0.2, max: 3.0}}
"""
REQUEST = MotionRequest(
    DesignSettings(duration=4.0, starts=1, steps=2, budget=20.0), velocity=2.0, acceleration=8.0
)


def test_a_forecast_is_of_the_experiments_parameters_and_of_the_files_motion(
    tmp_path: Path,
) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    experiment = load_experiment(tmp_path / "experiment.yaml")
    told: list[float] = []
    made = design_for(experiment, replace(REQUEST, torque_noise=(1.0,)), told.append)
    assert told == sorted(told)
    assert made.about == ("elbow_damping", "lower_mass")
    assert np.linalg.eigvalsh(made.information).min() > 0.0
    assert made.robot.joints == JOINTS
    assert (made.earlier, made.noise_factor, made.doubts) == (None, 1.0, ())
    (tmp_path / "motion.csv").write_text("time,shoulder,elbow\n")
    forecast = made.forecast(tmp_path / "motion.csv")
    assert forecast.motion == motion_digest(tmp_path / "motion.csv")
    assert (forecast.names, forecast.known, forecast.recordings) == (made.about, None, ())
    louder = design_for(experiment, replace(REQUEST, torque_noise=(2.0,) * len(JOINTS)))
    np.testing.assert_allclose(4.0 * louder.information, made.information, rtol=1e-9)


def test_a_urdf_that_is_the_model_says_the_limits(tmp_path: Path) -> None:
    limit = '<limit lower="-1" upper="1.5" velocity="3" effort="9"/>'
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="lower"><inertial><mass value="1"/>'
        '<origin xyz="0 0 0.1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="elbow" type="revolute"><parent link="base"/>'
        f'<child link="lower"/><axis xyz="0 1 0"/>{limit}</joint></robot>'
    )
    text = EXPERIMENT.replace("arm.xml", "arm.urdf")
    text = "\n".join(line for line in text.splitlines() if "shoulder" not in line)
    (tmp_path / "experiment.yaml").write_text(text)
    experiment = load_experiment(tmp_path / "experiment.yaml")
    request = replace(REQUEST, joints=("elbow",), velocity=None, acceleration=None, fill=1.0)
    limits = design_for(experiment, request).robot.demands.limits
    assert [*limits.lower, *limits.upper, *limits.velocity] == [-1.0, 1.5, 3.0]
    for given, used in ((2.0, 2.0), (4.0, 3.0)):  # nobody who asks for less gets more
        slower = design_for(experiment, replace(request, velocity=given)).robot.demands.limits
        assert slower.velocity == [used]
    (tmp_path / "arm.urdf").write_text(
        (tmp_path / "arm.urdf").read_text().replace(' velocity="3"', "")
    )
    with pytest.raises(ExcitationError, match=r"limit velocity of joint elbow; .* or --velocity"):
        design_for(experiment, request)

    zeros = limit.replace("-1", "0").replace("1.5", "0").replace("3", "0").replace("9", "0")
    (tmp_path / "arm.urdf").write_text(
        (tmp_path / "arm.urdf").read_text().replace(limit.replace(' velocity="3"', ""), zeros)
    )
    limits = design_for(experiment, replace(request, velocity=1.0)).robot.demands.limits
    assert [*limits.lower, *limits.velocity, *limits.effort] == [-math.pi, 1.0, math.inf]


@pytest.mark.parametrize("noise", [(1.0, 2.0, 3.0), (0.0,)])
def test_noise_that_is_none_is_refused(tmp_path: Path, noise: tuple[float, ...]) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    with pytest.raises(ExcitationError, match="one for each of shoulder, elbow"):
        design_for(
            load_experiment(tmp_path / "experiment.yaml"), replace(REQUEST, torque_noise=noise)
        )
