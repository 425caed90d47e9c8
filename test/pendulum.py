# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A driven pendulum whose simulated recordings have known parameters, for tests of the fit."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import numpy.typing as npt

from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.signals.trajectory import ModelSequences

TRUTH = {"armature": 0.03, "damping": 0.12, "frictionloss": 0.08}
START = {"armature": 0.01, "damping": 0.3, "frictionloss": 0.02}
TIMESTEP = 0.004


def spec(values: dict[str, float] = START) -> mujoco.MjSpec:
    """The pendulum with these joint attributes."""
    attributes = " ".join(f'{name}="{value}"' for name, value in values.items())
    return mujoco.MjSpec.from_string(
        f"""<mujoco><compiler autolimits="true"/><option timestep="{TIMESTEP}"
          integrator="implicitfast"><flag contact="disable"/></option>
        <worldbody><body name="bob"><joint name="hinge" axis="0 1 0" {attributes}/>
          <inertial pos="0 0 -0.3" mass="0.5" diaginertia="0.004 0.004 0.004"/></body></worldbody>
        <actuator><motor name="motor" joint="hinge"/></actuator>
        <sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
    )


def parameters(**bounds: tuple[float, float]) -> ParameterDict:
    """The three attributes at their start values."""
    params = ParameterDict()
    for name, start in START.items():
        lower, upper = bounds.get(name, (0.0, 1.0))
        modifier = AttributeModifier("joint", "hinge", name)
        params.add(Parameter(name, start, lower, upper, modifier=modifier))
    return params


def torque(times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Excitation with several frequencies, N m."""
    waves = [0.9, 0.6, 0.5] * np.sin(np.outer(times, [2.1, 5.3, 11.0]))
    return np.asarray(waves.sum(axis=1))


def recording(
    *, duration: float = 20.0, noise: float = 0.0, seed: int = 0, values: dict[str, float] = TRUTH
) -> tuple[TimeSeries, TimeSeries]:
    """Simulate (control, measured) with these parameters and white noise of this level, rad."""
    model = spec(values).compile()
    times = TIMESTEP * np.arange(round(duration / TIMESTEP))
    control = torque(times)
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    _, sensors = mujoco.rollout.rollout(
        model, mujoco.MjData(model), start[None], control[None, :, None]
    )
    angle = sensors[0] + noise * np.random.default_rng(seed).normal(size=sensors[0].shape)
    # The step from t to t + h is centred on t, so a linear signal sampled at t is what it saw.
    return (
        TimeSeries(times, control[:, None], {"motor": (SignalType.MjCtrl, np.array([0]))}),
        TimeSeries(times, angle, {"angle": (SignalType.MjSensor, np.array([0]))}),
    )


def sequences(control: TimeSeries, measured: TimeSeries) -> ModelSequences:
    """One recording of the pendulum as it is before identification."""
    model = spec().compile()
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    return ModelSequences("pendulum", spec(), "recording", start, control, measured)
