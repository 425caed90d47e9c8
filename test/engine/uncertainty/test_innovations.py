# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Residuals that count by what is new in them: moves estimates where the model lacks something."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import mujoco.rollout
import numpy as np
import pendulum
import pytest
import scipy.signal

from sysid_ros.engine.estimation import FitResult, FitSettings, fit
from sysid_ros.engine.estimation.shifts import LATE_INPUTS, SLOW_COUNT_LESS, Shift
from sysid_ros.engine.least_squares import loss_named
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict, moves_with
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import (
    ModelSequences,
    SignalType,
    TimeSeries,
    create_initial_state,
)
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.uncertainty.innovations import _Innovations, _Links
from sysid_ros.engine.windows.model_group import model_group

SETTINGS = FitSettings(window_length=1.0, threads=1)
TRUTH = {"armature": 0.06, "damping": 0.9, "frictionloss": 0.5}
LINK = '<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.025" mass="1.5"/>'
SERVO = """<mujoco><option timestep="{step}" integrator="implicitfast"/>
<worldbody><body><joint name="hinge" axis="0 1 0" armature="{armature}" damping="{damping}"
  frictionloss="{frictionloss}"/>{link}</body></worldbody>
<actuator><position name="servo" joint="hinge" kp="90" kv="3"/></actuator>
<sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
GEAR = (
    '<inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/><body>'
    f'<joint axis="0 1 0" stiffness="150" damping="0.15" armature="1e-4"/>{LINK}</body>'
)


def fitted(control: TimeSeries, measured: TimeSeries) -> FitResult:
    return fit([pendulum.sequences(control, measured)], pendulum.parameters(), SETTINGS)


def slow(result: FitResult) -> Shift | None:
    """What was found where innovations count."""
    assert result.model_error is not None
    found = [one for one in result.model_error.shifts if one.change == SLOW_COUNT_LESS]
    return found[0] if found else None


def with_noise(measured: TimeSeries, noise: np.ndarray, kept: np.ndarray) -> TimeSeries:
    data = (measured.data + noise[:, None])[kept]
    return replace(measured, times=measured.times[kept], data=data)


def arm(link: str) -> tuple[list[ModelSequences], ParameterDict]:
    """A recording of an arm under a servo, and the parameters of a model that knows no gear."""
    step = 0.001
    model = mujoco.MjModel.from_xml_string(SERVO.format(step=step, link=link, **TRUTH))
    times = step * np.arange(round(20.0 / step))
    command = ([0.4, 0.2, 0.06] * np.sin(np.outer(times, [1.3, 5.1, 17.0]))).sum(axis=1)
    start = create_initial_state(model, np.zeros(model.nq), np.zeros(model.nv))
    _, sensors = mujoco.rollout.rollout(
        model, mujoco.MjData(model), start[None], command[None, :, None]
    )
    angle = sensors[0] + 6e-5 * np.random.default_rng(5).normal(size=sensors[0].shape)
    users = {name: 0.5 * value for name, value in TRUTH.items()}
    spec = mujoco.MjSpec.from_string(SERVO.format(step=step, link=LINK, **users))
    params = ParameterDict()
    for name, value in users.items():
        modifier = AttributeModifier("joint", "hinge", name)
        params.add(Parameter(name, value, 0.0, 5.0, modifier=modifier))
    still = create_initial_state(spec.compile(), np.zeros(1), np.zeros(1))
    control = TimeSeries(times, command[:, None], {"servo": (SignalType.MjCtrl, np.array([0]))})
    measured = TimeSeries(times, angle, {"angle": (SignalType.MjSensor, np.array([0]))})
    return [ModelSequences("arm", spec, "recording", still, control, measured)], params


def test_white_residuals_are_innovations_themselves() -> None:
    assert slow(fitted(*pendulum.recording(duration=8.0, noise=5e-3))) is None


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_noise_with_memory_moves_a_right_model_by_no_more_than_chance(
    seed: int, uneven: bool
) -> None:
    control, measured = pendulum.recording(duration=12.0)
    rng = np.random.default_rng(seed)
    noise = scipy.signal.lfilter([1.0], [1.0, -0.9], 2e-3 * rng.normal(size=len(measured.times)))
    kept = rng.uniform(size=len(noise)) < (0.6 if uneven else 1.0)
    shift = slow(fitted(control, with_noise(measured, noise, kept)))
    assert shift is not None
    assert np.all(np.abs(shift.values) < 3.5 * shift.chance)


def test_an_elastic_gear_that_the_model_lacks_widens_intervals_to_the_truth() -> None:
    result = fit(*arm(GEAR), SETTINGS)
    shift = slow(result)
    assert shift is not None
    for own in result.parameters:
        if own.name == "armature":  # of which the time step's error is larger
            continue
        assert own.standard_error is not None
        error = abs(own.value - TRUTH[own.name])
        assert error < 2.0 * own.standard_error
        assert own.by_noise is not None
        assert error > 4.0 * own.by_noise
        # an elastic gear delays what it passes on, too
        assert {moves_with(SLOW_COUNT_LESS), moves_with(LATE_INPUTS)}.intersection(own.flags)


def test_a_model_that_lacks_nothing_keeps_its_intervals() -> None:
    result = fit(*arm(LINK), SETTINGS)
    for own in result.parameters:
        assert own.standard_error is not None
        assert abs(own.value - TRUTH[own.name]) < 2.0 * own.standard_error
        assert moves_with(SLOW_COUNT_LESS) not in own.flags


def test_innovations_pull_by_rows_as_they_were() -> None:
    random = np.random.default_rng(0)
    link = _Links.of(6, np.array([1, 3, 4]), np.array([0, 2, 3]), np.array([0.9, 0.5, 0.2]))
    rows, residual = random.normal(size=(6, 2)), random.normal(size=6)
    new = link.new(rows)
    np.testing.assert_allclose(new[3], (rows[3] - 0.5 * rows[2]) / np.sqrt(0.75))
    np.testing.assert_array_equal(new[[0, 2, 5]], rows[[0, 2, 5]])
    np.testing.assert_array_equal(link.new(rows, np.array([3, 5])), new[[3, 5]])
    np.testing.assert_allclose(new.T @ residual, rows.T @ link.pulled(residual))


def test_what_is_followed_moves_what_is_chosen_alone_and_knows_rows_beside_the_simulation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control, measured = pendulum.recording(duration=3.0, noise=1e-3)
    params = pendulum.parameters()
    group = model_group(
        pendulum.sequences(control, measured), params,
        window_length=1.0, estimate_starts=True, velocity_filter=30.0,
    )  # fmt: skip
    with RolloutPool(1) as rollouts:
        problem = WindowedProblem(
            [group], params, rollouts, loss=loss_named("linear"), noise={"angle": 1e-3}
        )
        point = problem.initial_point()
        nothing, whole = np.zeros(0, dtype=np.intp), [*problem.window_rows(point)]
        white = [_Links.of(len(rows), nothing, nothing, np.zeros(0)) for rows in whole]
        squares = [rows.T @ rows for rows in whole]
        innovations = _Innovations(problem, point, white, squares, np.array([1]))
        assert innovations.cost(point) == pytest.approx(problem.cost(point))
        np.testing.assert_array_equal(
            innovations.upper - innovations.lower < 1e-9, [True, False, True]
        )
        monkeypatch.setattr(problem, "added_costs", lambda theta: np.full(3, 7.0))
        assert innovations.cost(point) == pytest.approx(problem.cost(point))
