# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensors that an experiment adds to a model, and what it may not ask for."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from sysid_ros.engine.signals import sensor_unit, unit_of_sensor_named
from sysid_ros.errors import ExperimentError, ModelError
from sysid_ros.experiment import parse_experiment
from sysid_ros.experiment.experiment_schema import SENSOR_TYPES
from sysid_ros.robots.source import with_state_sensors

MODEL = """<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="elbow"/>
  <geom size="0.1" pos="0 0 -0.3"/><site name="tip" pos="0 0 -0.5"/></body></worldbody>
  <sensor><gyro name="rate" site="tip"/></sensor></mujoco>"""


def experiment(entry: str) -> str:
    return (
        "model: arm.xml\nsequences: [bag]\nparameters: [{joint: elbow, damping: }]\n"
        f"signals:\n  - {{{entry}, topic: /t, field: f}}\n"
    )


def sensors(entry: str) -> list[mujoco.MjsSensor]:
    spec = mujoco.MjSpec.from_string(MODEL)
    changed = with_state_sensors(
        spec, parse_experiment(experiment(entry), path=Path("arm.yaml")).signals
    )
    assert len(spec.sensors) == 1
    changed.copy().compile()
    return list(changed.sensors)


@pytest.mark.parametrize("kind", SENSOR_TYPES)
def test_every_type_can_be_added(kind: str) -> None:
    at = "elbow" if kind.startswith("joint") else "arm"
    added = sensors(f"sensor: new, type: {kind}, at: {at}")[-1]
    model = mujoco.MjSpec.from_string(MODEL)
    assert added.name == "new"
    attribute = {"framepos": "framepos"}.get(kind, kind)
    place = f'joint="{at}"' if kind.startswith("joint") else 'site="tip"'
    if kind.startswith("frame"):
        place = 'objtype="xbody" objname="arm"'
    text = MODEL.replace("</sensor>", f'<{attribute} name="same" {place}/></sensor>')
    model = mujoco.MjSpec.from_string(text)
    assert int(added.type) == int(model.sensors[-1].type)


def test_a_site_is_preferred_and_a_sensor_of_that_name_is_kept() -> None:
    assert sensors("sensor: new, type: gyro, at: tip")[-1].objname == "tip"
    assert len(sensors("sensor: rate, type: gyro, at: arm")) == 1


def test_an_encoder_behind_a_spring_is_the_sum_of_two_joints() -> None:
    text = MODEL.replace("</body>", '<body><joint name="spring"/><geom size="0.1"/></body></body>')
    signals = parse_experiment(
        experiment("sensor: link, type: jointpos, at: elbow + spring")
    ).signals
    changed = with_state_sensors(mujoco.MjSpec.from_string(text), signals)
    assert unit_of_sensor_named(changed, "link") == "rad"
    again = with_state_sensors(changed, signals)  # as a written model has it
    assert len(again.sensors) == len(changed.sensors)
    model = changed.compile()
    assert sensor_unit(model, model.sensor("link").id) == "rad"
    data = mujoco.MjData(model)
    data.qpos[:] = 0.3, -0.1
    mujoco.mj_forward(model, data)
    assert data.sensor("link").data[0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("sensor: new, type: jointpos, at: elbow + knee", "unknown hinge or slide 'knee'"),
        ("sensor: rate, type: accelerometer, at: tip", "has a sensor 'rate' that is no accel"),
        ("sensor: new, type: gyro, at: tipp", "unknown site or body 'tipp'; nearest: 'tip'"),
        ("sensor: new, type: jointpos, at: arm", "unknown joint 'arm'"),
        ("actuator: new", "none to choose from; servo, velocity_servo or effort with"),
        ("sensor: new", r"^arm\.yaml:5: unknown sensor 'new'.*type and at add one"),
    ],
)
def test_what_the_model_cannot_have(entry: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        sensors(entry)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("sensor: new, type: gyro", "type and at belong together"),
        ("qpos: elbow, type: jointpos, at: elbow", "describe a sensor, not a qpos"),
        ("sensor: new, type: giro, at: tip", "nearest: 'gyro'"),
    ],
)
def test_what_an_experiment_cannot_say(entry: str, message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        parse_experiment(experiment(entry))
