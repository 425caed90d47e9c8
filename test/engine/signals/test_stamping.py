# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Predictions belong to the instants they are compared at: closed-form solutions decide."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid

OMEGA = 7.0  # rad/s of a mass of 1 kg on a spring without damping
START = 0.4  # m


def oscillator(timestep: float, integrator: str) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(
        f'<mujoco><option timestep="{timestep}" integrator="{integrator}"><flag gravity="disable"/>'
        '</option><worldbody><body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        f'<joint name="x" type="slide" stiffness="{OMEGA**2}"/></body></worldbody>'
        '<sensor><jointpos name="q" joint="x"/><jointvel name="v" joint="x"/></sensor></mujoco>'
    )


def error(timestep: float, integrator: str, stamping: str, *, epoch: float = 0.0) -> np.ndarray:
    """Largest errors of position (m) and velocity (m/s) against the exact motion."""
    spec = oscillator(timestep, integrator)
    model = spec.copy().compile()
    times = np.sort(np.random.default_rng(0).uniform(0.02, 0.9, 80))  # any instants, no grid
    exact = np.column_stack([START * np.cos(OMEGA * times), -START * OMEGA * np.sin(OMEGA * times)])
    velocity = 0.0
    if integrator != "RK4":  # its velocity lives half a step earlier
        velocity = START * OMEGA * np.sin(OMEGA * 0.5 * timestep)
    group = sysid.ModelSequences(
        "oscillator",
        spec,
        "run",
        sysid.create_initial_state(model, [START], [velocity]),
        sysid.TimeSeries(np.array([0.0, 1.0]) + epoch, np.empty((2, 0))),
        sysid.TimeSeries.from_names(times + epoch, exact, model),
    )
    fn = sysid.build_residual_fn(models_sequences=[group], stamping=stamping, normalization="none")
    (residual,), _, _ = fn(np.empty(0), sysid.ParameterDict())
    return np.abs(residual.reshape(-1, 2)).max(axis=0)


def test_true_stamps_leave_an_error_of_fourth_order_under_rk4():
    coarse, fine = error(0.02, "RK4", "true"), error(0.01, "RK4", "true")
    orders = np.log2(coarse / fine)
    assert np.all(orders > 3.7), orders
    assert np.all(fine < 1e-5)


def test_notebook_stamps_are_one_step_late_which_is_of_first_order():
    coarse, fine = error(0.02, "RK4", "notebook"), error(0.01, "RK4", "notebook")
    orders = np.log2(coarse / fine)
    assert np.all(orders < 1.2), orders


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_velocities_of_semi_implicit_integrators_live_half_a_step_earlier(integrator):
    coarse, fine = error(0.02, integrator, "true"), error(0.01, integrator, "true")
    orders = np.log2(coarse / fine)
    assert np.all(orders > 1.8), orders  # second order, as a leapfrog has


def test_epoch_stamps_change_nothing_but_their_own_rounding():
    relative = error(0.01, "RK4", "true")
    absolute = error(0.01, "RK4", "true", epoch=1.79e9)
    np.testing.assert_allclose(absolute, relative, atol=START * OMEGA**2 * 3e-7)


def test_states_and_sensors_agree_on_the_instant():
    spec = oscillator(0.01, "RK4")
    model = spec.copy().compile()
    times = np.linspace(0.05, 0.9, 40)
    exact = START * np.cos(OMEGA * times)
    group = sysid.ModelSequences(
        "oscillator",
        spec,
        "run",
        sysid.create_initial_state(model, [START]),
        sysid.TimeSeries(np.array([0.0, 1.0]), np.empty((2, 0))),
        sysid.TimeSeries.from_names(
            times,
            np.column_stack([exact, exact]),
            model,
            ["q", ("x", sysid.SignalType.MjStateQPos)],
        ),
    )
    fn = sysid.build_residual_fn(models_sequences=[group], stamping="true", normalization="none")
    (residual,), _, _ = fn(np.empty(0), sysid.ParameterDict())
    assert np.abs(residual).max() < 2e-6


@pytest.mark.parametrize(("integrator", "order"), [("RK4", 3.7), ("Euler", 1.8)])
def test_velocity_states_live_where_velocity_sensors_do(integrator, order):
    errors = []
    for timestep in (0.02, 0.01):
        spec = oscillator(timestep, integrator)
        model = spec.copy().compile()
        times = np.linspace(0.1, 0.9, 40)
        velocity = 0.0
        if integrator != "RK4":
            velocity = START * OMEGA * np.sin(OMEGA * 0.5 * timestep)
        exact = -START * OMEGA * np.sin(OMEGA * times)
        group = sysid.ModelSequences(
            "oscillator",
            spec,
            "run",
            sysid.create_initial_state(model, [START], [velocity]),
            sysid.TimeSeries(np.array([0.0, 1.0]), np.empty((2, 0))),
            sysid.TimeSeries.from_names(
                times, exact[:, None], model, [("x", sysid.SignalType.MjStateQVel)]
            ),
        )
        fn = sysid.build_residual_fn(
            models_sequences=[group], stamping="true", normalization="none"
        )
        errors.append(np.abs(fn(np.empty(0), sysid.ParameterDict())[0][0]).max())
    assert np.log2(errors[0] / errors[1]) > order


def test_unknown_stamping_is_refused():
    with pytest.raises(ValueError, match="notebook"):
        sysid.build_residual_fn(stamping="truth")
