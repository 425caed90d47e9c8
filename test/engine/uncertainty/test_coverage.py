# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The 95 % intervals are 95 % intervals: simulated experiments with fixed seeds."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import mujoco.rollout
import numpy as np
import pytest
import scipy.signal

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.signals.trajectory import ModelSequences

EXPERIMENTS = 400
WINDOWS = 50
WINDOW = 0.5  # s
TIMESTEP = 0.01  # s
TRUTH = {"armature": 0.03, "damping": 0.12, "stiffness": 0.8}
START = {"armature": 0.02, "damping": 0.2, "stiffness": 0.5}
SENSOR_NOISE = 0.004  # rad
TORQUE_NOISE = 0.1  # N m beside a torque of 0.85 N m (root mean square)


def white(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """White noise on the angle."""
    return SENSOR_NOISE * rng.normal(size=n), np.zeros(n)


def correlated(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """AR(1) noise of coefficient 0.9 with the same variance."""
    innovation = rng.normal(size=n) * SENSOR_NOISE * np.sqrt(1 - 0.9**2)
    return np.asarray(scipy.signal.lfilter([1.0], [1.0, -0.9], innovation)), np.zeros(n)


def on_the_torque(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Noise on the measured torque that moves the simulation more than the angle's own noise."""
    return 0.1 * SENSOR_NOISE * rng.normal(size=n), TORQUE_NOISE * rng.normal(size=n)


def pendulum(values: dict[str, float]) -> mujoco.MjSpec:
    """A pendulum that costs little to simulate, because nothing constrains it."""
    attributes = " ".join(f'{name}="{value}"' for name, value in values.items())
    return mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{TIMESTEP}" integrator="implicitfast">
          <flag constraint="disable"/></option>
        <worldbody><body name="bob"><joint name="hinge" axis="0 1 0" {attributes}/>
          <inertial pos="0 0 -0.3" mass="0.5" diaginertia="0.004 0.004 0.004"/></body></worldbody>
        <actuator><motor name="motor" joint="hinge"/></actuator>
        <sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
    )


def clean_recording() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times (n,), torques (n,) and angles (n,) of the true pendulum.

    The simulated robot takes the same steps as the model, each with the mean of the torque over
    the step, which is linear between its samples; so only noise is at work.
    """
    model = pendulum(TRUTH).compile()
    times = TIMESTEP * np.arange(round(WINDOW * WINDOWS / TIMESTEP))
    torque = np.sin(np.outer(times, [2.1, 5.3, 11.0])) @ [0.9, 0.6, 0.5]
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    around = np.pad(torque, 1, mode="edge")
    felt = (around[:-2] + 6.0 * around[1:-1] + around[2:]) / 8.0
    _, angles = mujoco.rollout.rollout(
        model, mujoco.MjData(model), start[None], felt[None, :, None]
    )
    return times, torque, angles[0, :, 0]


def parameters() -> ParameterDict:
    params = ParameterDict()
    for name, start in START.items():
        modifier = AttributeModifier("joint", "hinge", name)
        params.add(Parameter(name, start, 0.0, 3.0, modifier=modifier))
    return params


def recorded(times: FloatArray, torque: FloatArray, angle: FloatArray) -> ModelSequences:
    """What an experiment has recorded."""
    spec = pendulum(START)
    start = create_initial_state(spec.copy().compile(), np.zeros(1), np.zeros(1))
    column = np.array([0])
    return ModelSequences(
        "pendulum",
        spec,
        "recording",
        start,
        TimeSeries(times, torque[:, None], {"motor": (SignalType.MjCtrl, column)}),
        TimeSeries(times, angle[:, None], {"angle": (SignalType.MjSensor, column)}),
    )


Noise = Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]


def pooled_coverage(noise: Noise, window: float | None, method: str, experiments: int) -> float:
    """Share of the 95 % intervals of simulated experiments that contain the truth."""
    times, torque, angle = clean_recording()
    covered = 0
    for seed in range(experiments):
        on_angle, on_torque = noise(np.random.default_rng(seed), len(times))
        result = fit(
            [recorded(times, torque + on_torque, angle + on_angle)],
            parameters(),
            FitSettings(window_length=window, threads=1, model_error=False),
        )
        assert result.interval_method == method
        for name, truth in TRUTH.items():
            interval = result[name].interval(0.95)
            assert interval is not None
            covered += interval[0] <= truth <= interval[1]
    return covered / (experiments * len(TRUTH))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [white, correlated, on_the_torque])
def test_pooled_coverage_of_clustered_intervals(noise: Noise) -> None:
    assert 0.92 <= pooled_coverage(noise, WINDOW, "clustered", EXPERIMENTS) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("noise", [white, correlated])
def test_pooled_coverage_of_blocks_where_there_is_one_window(noise: Noise) -> None:
    assert 0.90 <= pooled_coverage(noise, None, "blocks", 100) <= 0.99
