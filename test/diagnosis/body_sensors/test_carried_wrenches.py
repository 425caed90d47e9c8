# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A wrench that is mapped as acting from outside and shows the weight of the model's own tool."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.body_sensors.carried_wrenches import carried_findings
from sysid_ros.diagnosis.evidence import ExperimentLines, Recorded, Samples
from sysid_ros.engine.signals import wrench_inputs
from sysid_ros.experiment import parse_experiment

ARM = """<mujoco><worldbody><body><joint name="j0" axis="0 1 0"/>
  <inertial pos="0 0 -.1" mass="1" diaginertia=".01 .01 .01"/>
  <body pos="0 0 -.2"><joint name="j1" axis="1 0 0"/>
    <inertial pos="0 0 -.1" mass="1" diaginertia=".01 .01 .01"/>
    <site name="flange" pos="0 0 -.2" euler="0 90 0"/>
    <body name="tool" pos="0 0 -.2" euler="0 90 0"><site name="gauge"/>
      <inertial pos=".01 .02 .05" mass="{mass}" diaginertia=".001 .001 .001"/></body>
  </body></body></worldbody>
  <sensor><jointpos name="p0" joint="j0"/><jointpos name="p1" joint="j1"/>
    <force name="force" site="gauge"/></sensor></mujoco>"""
EXPERIMENT = """
model: robot.xml
sequences: [bag]
signals: [{wrench: flange, topic: /ft, field: wrench}]
"""


def moved(mass: float) -> dict[str, Samples]:
    """What the sensors of an arm with a tool of some mass read on a smooth motion, with noise."""
    model = mujoco.MjModel.from_xml_string(ARM.format(mass=mass))
    data, times = mujoco.MjData(model), np.arange(0.0, 10.0, 0.01)
    pulse, phase = 2.0 * np.pi * np.array([0.23, 0.41]), np.array([0.3, 1.1])
    readings = np.empty((len(times), model.nsensordata))
    for i, t in enumerate(times):
        data.qpos[:] = 0.9 * np.sin(pulse * t + phase)
        data.qvel[:] = 0.9 * pulse * np.cos(pulse * t + phase)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        data.qacc[:] = -(pulse**2) * data.qpos
        mujoco.mj_sensorPos(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_sensorAcc(model, data)
        readings[i] = data.sensordata
    readings += np.random.default_rng(3).standard_normal(readings.shape) * [
        1e-4,
        1e-4,
        0.3,
        0.3,
        0.3,
    ]
    columns = {"p0": readings[:, 0], "p1": readings[:, 1], "force": readings[:, 2:]}
    return {name: Samples(times, values) for name, values in columns.items()}


def told(signals: dict[str, Samples], force: FloatArray, mass: float = 1.0) -> list[str]:
    """The findings of an arm whose wrench was recorded as some force (n, 3)."""
    times = signals["p0"].times
    axes = dict(zip(wrench_inputs("flange")[:3], force.T, strict=True))
    still = dict.fromkeys(wrench_inputs("flange")[3:], np.zeros(len(times)))
    scalars = {name: Samples(times, values) for name, values in {**axes, **still}.items()}
    scalars |= {name: signals[name] for name in ("p0", "p1")}
    model = mujoco.MjModel.from_xml_string(ARM.format(mass=mass))
    recorded = Recorded(model, (scalars,), ({},), {0: "p0", 1: "p1"}, {}, {}, {})
    lines = ExperimentLines(parse_experiment(EXPERIMENT, path=Path("experiment.yaml")))
    return [f"{one.sentence}\n{one.repair}" for one in carried_findings(recorded, lines)]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_weight_of_a_tool_is_told_whoever_acts_and_whether_anybody_zeroed_it(
    sign: float,
) -> None:
    signals = moved(1.4)
    (sentence,) = told(signals, sign * signals["force"].values + [8.0, -3.0, 5.0])
    assert "1.4 kg that move with it, and the model has 1 kg there" in sentence
    assert "# - {wrench: flange, topic: /ft, field: wrench}" in sentence


def test_what_acts_from_outside_is_none_beside_some_of_the_weight() -> None:
    signals = moved(1.4)
    times, weight = signals["p0"].times, signals["force"].values
    pushed = 20.0 * np.sin(times[:, None] * [1.3, 2.1, 1.7])
    assert told(signals, pushed) == [] and told(signals, pushed + weight) == []


@pytest.mark.parametrize("mass", [0.2, 5.0])
def test_a_load_that_is_not_the_models_own_acts_from_outside(mass: float) -> None:
    """As what a hand that holds the handle of an arm bears of it, or what a small gripper lifts."""
    signals = moved(1.4)
    assert told(signals, signals["force"].values, mass=mass) == []
