# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows longer than a simulation can follow are told with the time in which errors grow."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitResult, FitSettings, fit
from sysid_ros.engine.estimation.error_growth import tenfold
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries, create_initial_state

NOISE = 1e-3  # rad or m
HEAD = '<mujoco><option timestep="0.004" integrator="{}"><flag contact="disable"/></option>'
ON_A_CART = f"""{HEAD.format("implicitfast")}<worldbody><body name="cart">
<joint name="way" type="slide" axis="1 0 0" damping="2"/>
<geom type="box" size=".1 .1 .05" mass="1"/>
<body name="pole"><joint name="tilt" axis="0 1 0" damping=".002"/>
<geom type="capsule" fromto="0 0 0 0 0 .5" size=".02" mass="{{mass}}"/></body></body></worldbody>
<actuator><motor name="push" joint="way"/></actuator>
<sensor><jointpos name="p" joint="way"/><jointpos name="t" joint="tilt"/></sensor></mujoco>"""
TWO_LINKS = f"""{HEAD.format("RK4")}<worldbody><body>
<joint name="upper" axis="0 1 0" damping=".001"/>
<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".4"/>
<body name="pole" pos="0 0 -.2"><joint name="lower" axis="0 1 0" damping=".001"/>
<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass="{{mass}}"/></body></body></worldbody>
<sensor><jointpos name="p" joint="upper"/><jointpos name="t" joint="lower"/></sensor></mujoco>"""


def balanced(time: float, data: mujoco.MjData) -> float:
    """The force on a cart that keeps its pole upright and follows a wave."""
    p, t = data.qpos - [0.1 * np.sin(2.0 * time), 0.0]
    return float(2.0 * p + 40.0 * t + 4.0 * data.qvel[0] + 8.0 * data.qvel[1])


def fitted(
    model: str,
    length: float,
    start: tuple[float, float],
    push: Callable[[float, mujoco.MjData], float] | None,
) -> FitResult:
    """The fit of a mass that the model has wrong by half."""
    truth = mujoco.MjModel.from_xml_string(model.format(mass=0.3))
    data = mujoco.MjData(truth)
    data.qpos[:] = start
    times = truth.opt.timestep * np.arange(3000)
    told, seen = np.zeros((len(times), truth.nu)), np.zeros((len(times), 2))
    for k, time in enumerate(times):
        seen[k] = data.qpos
        told[k] = push(float(time), data) if push else 0.0
        data.ctrl[:] = told[k]
        mujoco.mj_step(truth, data)
    seen += NOISE * np.random.default_rng(0).normal(size=seen.shape)
    names = {"p": (SignalType.MjSensor, np.array([0])), "t": (SignalType.MjSensor, np.array([1]))}
    control = {"push": (SignalType.MjCtrl, np.array([0]))} if push else {}
    spec = mujoco.MjSpec.from_string(model.format(mass=0.2))
    state = create_initial_state(spec.compile(), data.qpos * 0.0, data.qvel * 0.0)
    params = ParameterDict()
    params.add(
        Parameter("mass", 0.2, 0.02, 2.0, modifier=AttributeModifier("body", "pole", "mass"))
    )
    series = TimeSeries(times, told, control), TimeSeries(times, seen, names)
    settings = FitSettings(window_length=length, threads=1, model_error=False, landscapes=0)
    return fit([ModelSequences("robot", spec, "recording", state, *series)], params, settings)


@pytest.mark.parametrize(
    ("model", "start", "push"),
    [(ON_A_CART, (0.0, 0.05), balanced), (TWO_LINKS, (2.5, 2.0), None)],
    ids=["balances", "chaotic"],
)
def test_windows_that_no_simulation_can_follow_are_told(
    model: str, start: tuple[float, float], push: Callable[[float, mujoco.MjData], float] | None
) -> None:
    lost = fitted(model, 6.0, start, push)
    assert lost.growing is not None
    assert abs(lost["mass"].value - 0.3) > 0.01
    shorter = fitted(model, float(f"{lost.growing.tenfold:.1g}"), start, push)
    assert shorter.growing is None
    interval = shorter["mass"].interval()
    assert interval is not None and interval[0] <= 0.3 <= interval[1] < 0.35


@pytest.mark.parametrize("growth", [1.0, 2.0, 3.0])
def test_what_drifts_does_not_grow_tenfold_twice(growth: float) -> None:
    times: FloatArray = np.arange(1.0, 65.0) / 64.0
    assert tenfold(1e-3 + times[None] ** growth) == np.inf


@pytest.mark.filterwarnings("error")
def test_growth_is_told_where_it_leaves_all_numbers() -> None:
    """Squares of some windows overflow."""
    sizes = 10.0 ** np.arange(64.0) * np.array([[1.0], [1e200], [1e200]])
    sizes[1:, 40:] = np.inf
    assert tenfold(sizes) == 1.0 / 64.0
