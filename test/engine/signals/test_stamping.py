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


def compared(
    timestep: float,
    integrator: str,
    times: np.ndarray,
    *signals: tuple[str | tuple[str, sysid.SignalType], np.ndarray],
    stamping: str = "true",
    epoch: float = 0.0,
) -> np.ndarray:
    """Largest difference between a simulated oscillation and each of some signals, by name."""
    spec = oscillator(timestep, integrator)
    model = spec.copy().compile()
    begins = 0.0  # m/s
    if integrator != "RK4":  # its velocity lives half a step earlier
        begins = START * OMEGA * np.sin(OMEGA * 0.5 * timestep)
    names, values = zip(*signals, strict=True)
    group = sysid.ModelSequences(
        "oscillator",
        spec,
        "run",
        sysid.create_initial_state(model, [START], [begins]),
        sysid.TimeSeries(np.array([0.0, 1.0]) + epoch, np.empty((2, 0))),
        sysid.TimeSeries.from_names(times + epoch, np.column_stack(values), model, list(names)),
    )
    fn = sysid.build_residual_fn(models_sequences=[group], stamping=stamping, normalization="none")
    (residual,), _, _ = fn(np.empty(0), sysid.ParameterDict())
    return np.abs(residual.reshape(-1, len(names))).max(axis=0)


def position(times: np.ndarray) -> np.ndarray:
    return START * np.cos(OMEGA * times)


def velocity(times: np.ndarray) -> np.ndarray:
    return -START * OMEGA * np.sin(OMEGA * times)


def error(timestep: float, integrator: str, stamping: str, *, epoch: float = 0.0) -> np.ndarray:
    """Largest errors of position (m) and velocity (m/s) against the exact motion."""
    times = np.sort(np.random.default_rng(0).uniform(0.02, 0.9, 80))  # any instants, no grid
    signals = ("q", position(times)), ("v", velocity(times))
    return compared(timestep, integrator, times, *signals, stamping=stamping, epoch=epoch)


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
    times = np.linspace(0.05, 0.9, 40)
    state = ("x", sysid.SignalType.MjStateQPos)
    errors = compared(0.01, "RK4", times, ("q", position(times)), (state, position(times)))
    assert errors.max() < 2e-6


@pytest.mark.parametrize(("integrator", "order"), [("RK4", 3.7), ("Euler", 1.8)])
def test_velocity_states_live_where_velocity_sensors_do(integrator, order):
    times = np.linspace(0.1, 0.9, 40)
    state = ("x", sysid.SignalType.MjStateQVel), velocity(times)
    coarse, fine = (compared(step, integrator, times, state) for step in (0.02, 0.01))
    assert np.log2(coarse / fine) > order


def test_unknown_stamping_is_refused():
    with pytest.raises(ValueError, match="notebook"):
        sysid.build_residual_fn(stamping="truth")
