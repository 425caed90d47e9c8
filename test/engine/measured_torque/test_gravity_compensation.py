# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gravity that actuators compensate is part of the force on a joint, and of no motor's own."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.judgement.torque_check import torque_errors

STEP = 0.001  # s
ARM = """
<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody>
  <body name="upper" gravcomp="0.8" pos="0 0 1">
    <joint name="a" axis="0 1 0" damping="0.3" armature="0.02" actuatorgravcomp="{0}"/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="2"/>
    <body name="fore" gravcomp="0.5" pos="0.3 0 0">
      <joint name="b" axis="0 1 0" damping="0.2" armature="0.01" actuatorgravcomp="{1}"/>
      <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03" mass="1"/></body></body></worldbody>
<actuator><motor name="ma" joint="a" gear="2"/><motor name="mb" joint="b"/></actuator>
<sensor><jointpos name="pa" joint="a"/><jointpos name="pb" joint="b"/>
  <jointactuatorfrc name="ja" joint="a"/><jointactuatorfrc name="jb" joint="b"/>
  <actuatorfrc name="fa" actuator="ma"/><actuatorfrc name="fb" actuator="mb"/></sensor></mujoco>
"""
SOURCES = {"inputs": (), "of actuators": ("fa", "fb"), "of joints": ("ja", "jb")}


def recorded(spec: mujoco.MjSpec, told: Mapping[str, int], count: int) -> sysid.ModelSequences:
    """The arm under a PD controller, with those of its sensors that are told."""
    model = spec.copy().compile()
    data, gear = mujoco.MjData(model), model.actuator_gear[:, 0]
    rows = []
    for t in STEP * np.arange(count):
        wanted = 0.6 * np.sin([2.0 * t, 3.0 * t + 1.0]) + 0.3 * np.sin([5.1 * t, 7.3 * t])
        data.ctrl[:] = (60.0 * (wanted - data.qpos) - 4.0 * data.qvel) / gear
        mujoco.mj_forward(model, data)
        rows.append(np.concatenate([data.sensordata, data.ctrl]))
        mujoco.mj_step(model, data)
    times, found = STEP * np.arange(len(rows)), np.array(rows)
    start = sysid.create_initial_state(model, found[0, :2], np.zeros(2))
    sensors = {name: (sysid.SignalType.MjSensor, np.array([k])) for k, name in enumerate(told)}
    return sysid.ModelSequences(
        "arm", spec, ["run"], [start],
        [sysid.TimeSeries.from_control_names(
            times, found[:, -2:], model, interpolation=("linear", "linear")
        )],
        [sysid.TimeSeries(times, found[:, list(told.values())], sensors)],
        allow_missing_sensors=True,
    )  # fmt: skip


def sequences_of(source: str, flags: tuple[str, str], count: int) -> sysid.ModelSequences:
    spec = mujoco.MjSpec.from_string(ARM.format(*flags))
    model = spec.copy().compile()
    told = {n: model.sensor(n).adr[0] for n in ("pa", "pb", *SOURCES[source])}
    return recorded(spec, told, count)


def masses() -> ParameterDict:
    params = ParameterDict()
    for body, mass in (("upper", 1.5), ("fore", 1.3)):
        place = AttributeModifier("body", body, "mass")
        params.add(Parameter(body, mass, 0.1, 10.0, modifier=place))
    return params


@pytest.mark.parametrize("flags", [("true", "true"), ("true", "false")])
@pytest.mark.parametrize("source", SOURCES)
def test_a_mass_is_found_whatever_tells_the_torque(source: str, flags: tuple[str, str]) -> None:
    """Taken for whole, torque without what bears the weight made half a kilogram of one."""
    inverse = FitSettings(method="inverse_dynamics")
    result = sysid.fit([sequences_of(source, flags, 4000)], masses(), inverse)
    assert [result[name].value for name in ("upper", "fore")] == pytest.approx([2, 1], rel=0.02)


@pytest.mark.parametrize("source", ["of actuators", "of joints"])
def test_a_right_model_is_not_blamed_for_torque_that_bears_weight(source: str) -> None:
    sequences = sequences_of(source, ("true", "true"), 8000)
    found = torque_errors([sequences], masses(), np.array([2.0, 1.0]))
    assert [one.joint for one in found] == ["a", "b"]
    assert all(one.rmse < 0.1 * one.measured for one in found)
