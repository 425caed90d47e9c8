# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pipeline compares at the true instants: shown on a motion known in closed form.

Under RK4 what remains falls with the fourth power of the timestep; one step late would fall with
the first.
"""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt
import pytest

from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.least_squares.losses import loss_named
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.signals.trajectory import ModelSequences
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.windows.model_group import model_group

STIFFNESS, DAMPING, MASS = 20.0, 0.5, 1.0
RATE = np.array([2.0, 5.0])


def oscillator(timestep: float, integrator: str) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(
        f"""<mujoco><option timestep="{timestep}" integrator="{integrator}" gravity="0 0 0"/>
        <worldbody><body name="b"><joint name="j" type="slide" axis="1 0 0" stiffness="{STIFFNESS}"
          damping="{DAMPING}"/><inertial mass="{MASS}" pos="0 0 0" diaginertia="1 1 1"/></body>
        </worldbody><sensor><jointpos name="x" joint="j"/><jointvel name="v" joint="j"/></sensor>
        </mujoco>"""
    )


def free_oscillation(t: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Position and velocity after a release at x = 0.3, columns (x, v)."""
    decay = DAMPING / (2 * MASS)
    rate = np.sqrt(STIFFNESS / MASS - decay**2)
    a, b = 0.3, 0.3 * decay / rate
    wave = a * np.cos(rate * t) + b * np.sin(rate * t)
    slope = rate * (b * np.cos(rate * t) - a * np.sin(rate * t))
    return np.exp(-decay * t)[:, None] * np.stack([wave, slope - decay * wave], axis=-1)


def measured(sample: float) -> TimeSeries:
    times = np.arange(0.0, 2.0, sample)
    mapping = {"x": (SignalType.MjSensor, np.array([0])), "v": (SignalType.MjSensor, np.array([1]))}
    return TimeSeries(times, free_oscillation(times), mapping)


def sequences(timestep: float, integrator: str, series: TimeSeries) -> ModelSequences:
    spec = oscillator(timestep, integrator)
    model = spec.copy().compile()
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    control = TimeSeries(series.times[[0, -1]], np.zeros((2, 0)), {})
    return ModelSequences("oscillator", spec, "free", start, control, series)


def worst_error(timestep: float, integrator: str) -> npt.NDArray[np.float64]:
    """Largest error of position and velocity over the whole motion."""
    # Samples that coincide with no step, so that interpolation counts too.
    series = measured(0.0137)
    with RolloutPool(1) as rollouts:
        group = model_group(
            sequences(timestep, integrator, series),
            ParameterDict(),
            window_length=None,
            estimate_starts=False,
            velocity_filter=1e9,
        )
        problem = WindowedProblem(
            [group], ParameterDict(), rollouts, loss=loss_named("linear"), noise={}
        )
        residual = problem.residuals(problem.initial_point())[0]
    signals = group.windows[0].window.samples.signals
    return np.array([np.abs(residual[signals == i]).max() for i in (0, 1)])


def test_error_falls_with_the_fourth_power_of_the_timestep_under_rk4() -> None:
    coarse, fine = worst_error(0.04, "RK4"), worst_error(0.02, "RK4")
    assert np.all(coarse < 1e-3)
    assert np.all(coarse / fine > 12.0), coarse / fine


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_semi_implicit_velocities_belong_half_a_step_earlier(integrator: str) -> None:
    """Without the shift the velocity would be off by h/2 times the acceleration, 3 %."""
    error = worst_error(0.01, integrator)
    late = 0.005 * STIFFNESS * 0.3
    assert error[1] < 0.25 * late


@pytest.mark.parametrize("integrator", ["implicitfast", "RK4"])
def test_noise_free_data_gives_back_the_parameters(integrator: str) -> None:
    params = ParameterDict()

    def set_stiffness(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        spec.joint("j").stiffness[0] = parameter.value[0]

    def set_damping(spec: mujoco.MjSpec, parameter: Parameter) -> None:
        spec.joint("j").damping[0] = parameter.value[0]

    params.add(Parameter("stiffness", 12.0, 1.0, 100.0, modifier=set_stiffness))
    params.add(Parameter("damping", 1.0, 0.0, 5.0, modifier=set_damping))
    result = fit(
        [sequences(0.002, integrator, measured(0.005))], params, FitSettings(window_length=0.5)
    )
    assert result["stiffness"].value == pytest.approx(STIFFNESS, rel=2e-3)
    # Implicit damping acts on the next velocity: a bias of h/2 times the rate remains.
    tolerance = 3e-3 if integrator == "RK4" else 0.1
    assert result["damping"].value == pytest.approx(DAMPING, rel=tolerance)
    assert params["stiffness"].value[0] == 12.0
