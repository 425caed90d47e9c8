# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Optimizers: the same result in each, and what happens when something goes wrong."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize

from sysid_ros import sysid
from sysid_ros.engine.least_squares.losses import loss_named
from sysid_ros.engine.problem.objective import Objective
from sysid_ros.engine.residuals import DIVERGED
from sysid_ros.engine.uncertainty.white_noise_intervals import calculate_intervals
from sysid_ros.errors import ModelError, SysidError

OPTIMIZERS = ["mujoco", "scipy", "scipy_parallel_fd"]
T = np.linspace(0.0, 4.0, 60)
TRUE = np.array([2.0, 0.7])


def decay(x: np.ndarray) -> np.ndarray:
    """x0 exp(-x1 t) for one (2,) or several (2, k) parameter vectors."""
    t = T if x.ndim == 1 else T[:, None]
    return x[0] * np.exp(-x[1] * t)


def residual_fn(x, params, **_):
    measured = decay(TRUE)
    return [(measured if x.ndim == 1 else measured[:, None]) - decay(x)], [], []


def parameters(start=(1.0, 0.2), low=(0.0, 0.0), high=(5.0, 5.0), frozen=(False, False)):
    params = sysid.ParameterDict()
    for i, name in enumerate(("height", "rate")):
        params.add(sysid.Parameter(name, start[i], low[i], high[i], frozen=frozen[i]))
    return params


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("loss", ["linear", "absolute", "huber", "soft_l1", "cauchy", "arctan"])
def test_every_loss_in_every_optimizer_finds_the_truth(optimizer, loss):
    found, result = sysid.optimize(
        parameters(), residual_fn, optimizer, verbose=False, loss=loss, f_scale=0.5
    )
    np.testing.assert_allclose(found.as_vector(), TRUE, rtol=1e-5)
    # A sum of absolute values falls with the error, not with its square.
    assert result.cost < (1e-6 if loss == "absolute" else 1e-9)


@pytest.mark.parametrize("loss", ["absolute", "huber", "soft_l1", "cauchy"])
def test_robust_optimum_is_the_same_in_every_optimizer_and_ignores_outliers(loss):
    rng = np.random.default_rng(3)
    measured = decay(TRUE) + rng.normal(scale=0.01, size=len(T))
    measured[::10] += 1.0

    def outliers(x, params):
        return [(measured if x.ndim == 1 else measured[:, None]) - decay(x)], [], []

    found = [
        sysid.optimize(parameters(), outliers, each, verbose=False, loss=loss, f_scale=0.03)[
            0
        ].as_vector()
        for each in OPTIMIZERS
    ]
    plain, _ = sysid.optimize(parameters(), outliers, verbose=False)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
    np.testing.assert_allclose(found[0], found[2], rtol=1e-4)
    assert np.abs(found[0] - TRUE).max() < 0.05
    assert np.abs(plain.as_vector() - TRUE).max() > 0.05


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_bound_is_kept_and_its_gradient_does_not_count(optimizer):
    steps: list[sysid.Iteration] = []
    found, result = sysid.optimize(
        parameters(start=(1.0, 0.2), high=(1.5, 5.0)),
        residual_fn,
        optimizer,
        verbose=False,
        callback=steps.append,
    )
    if optimizer == "mujoco":  # scipy's method only comes near a bound
        assert abs(result.grad[0]) > 0.1
        assert steps[-1].gradient_norm < 1e-3
    assert found["height"].value[0] == pytest.approx(1.5, abs=1e-6)
    assert result.status is sysid.FitStatus.CONVERGED


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_progress_is_reported_and_the_history_is_kept(optimizer):
    steps: list[sysid.Iteration] = []
    _, result = sysid.optimize(
        parameters(), residual_fn, optimizer, verbose=False, callback=steps.append
    )
    assert len(steps) > 3
    costs = [step.cost for step in steps]
    assert costs == sorted(costs, reverse=True)
    assert steps[0].names == ("height", "rate")
    np.testing.assert_array_equal(steps[0].values, [1.0, 0.2])
    assert [step.iteration for step in steps] == list(range(len(steps)))
    assert result.extras["objective"] == costs
    np.testing.assert_allclose(result.extras["candidate"][-1], result.x)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_cancelling_keeps_the_best_so_far(optimizer):
    steps: list[sysid.Iteration] = []
    found, result = sysid.optimize(
        parameters(),
        residual_fn,
        optimizer,
        verbose=False,
        callback=steps.append,
        should_stop=lambda: len(steps) >= 3,
    )
    assert result.status is sysid.FitStatus.CANCELED
    assert not result.success
    assert result.cost <= steps[-1].cost
    assert result.cost < steps[0].cost
    np.testing.assert_array_equal(found.as_vector(), result.x)
    np.testing.assert_allclose(result.fun, residual_fn(result.x, found)[0][0])


def test_time_limit_ends_the_fit(monkeypatch: pytest.MonkeyPatch):
    now, evaluated = 0.0, []

    def slow(x, params):
        nonlocal now
        now += 0.05
        evaluated.append(now)
        return residual_fn(x, params)

    clock = SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr("sysid_ros.engine.problem.objective.time", clock)
    _, result = sysid.optimize(parameters(), slow, "scipy", verbose=False, time_limit=0.22)
    assert result.status is sysid.FitStatus.TIME_LIMIT
    assert len(evaluated) == 5  # the fifth ends at 0.25 s


def test_evaluation_limit_is_not_exceeded():
    _, result = sysid.optimize(parameters(), residual_fn, verbose=False, max_evaluations=7)
    assert result.evaluations <= 7
    assert "7 evaluations" in result.message
    residual = np.concatenate(residual_fn(parameters().as_vector(), parameters())[0])
    assert result.jac.shape == (residual.size, parameters().size)
    assert np.isfinite(result.grad).all()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_iteration_limit_is_a_status(optimizer):
    _, result = sysid.optimize(parameters(), residual_fn, optimizer, verbose=False, max_iters=2)
    assert result.status is sysid.FitStatus.MAX_ITERATIONS


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("failure", ["nan", "model"])
def test_failing_trials_are_rejected(optimizer, failure):
    # From this start the first Gauss-Newton step goes far beyond 3.
    refused = []

    def fragile(x, params):
        beyond = np.atleast_1d(x[0] > 3.0)
        refused.append(beyond.any())
        if beyond.any() and failure == "model":
            raise ModelError("does not compile")
        residual = np.arctan(20.0 * (x[:1] - 2.0))
        return [np.where(beyond, np.nan, residual) if x.ndim > 1 or beyond[0] else residual], [], []

    params = sysid.ParameterDict()
    params.add(sysid.Parameter("x", 1.7, -50.0, 50.0))
    found, _ = sysid.optimize(params, fragile, optimizer, verbose=False)
    assert any(refused)
    assert found["x"].value[0] == pytest.approx(2.0, abs=1e-6)


def test_after_the_start_nothing_infinite_reaches_an_optimizer():
    def sometimes(x, params):
        return [np.where(x > 1.5, np.nan, x)], [], []

    params = sysid.ParameterDict({"x": sysid.Parameter("x", 1.0, 0.0, 2.0)})
    objective = Objective(sometimes, params, loss_named("linear"))
    np.testing.assert_array_equal(objective(np.array([1.0])), [1.0])
    np.testing.assert_array_equal(objective(np.array([1.9])), [DIVERGED])
    np.testing.assert_array_equal(objective(np.array([[1.2, 1.9]])), [[1.2, DIVERGED]])


@pytest.mark.parametrize("name", ["linear", "huber", "soft_l1", "cauchy", "arctan"])
def test_weights_are_the_derivatives_of_the_loss(name):
    loss = loss_named(name, 0.7)
    h = 1e-4
    for r in (0.01, 0.3, 1.5, -2.0):
        below, at, above = (loss.cost(np.array([r + d])) for d in (-h, 0.0, h))
        point = np.array([r])
        slope, curvature = (above - below) / (2 * h), (above - 2 * at + below) / h**2
        assert loss.gradient_weight(point)[0] * r == pytest.approx(slope, abs=1e-6)
        assert loss.hessian_weight(point)[0] == pytest.approx(max(curvature, 0.0), abs=1e-5)


def test_failures_at_the_start_are_errors():
    def nan(x, params):
        return [np.full(3, np.nan)], [], []

    with pytest.raises(ValueError, match="3 of 3 elements of the residual at the start"):
        sysid.optimize(parameters(), nan, verbose=False)

    def uncompilable(x, params):
        raise ModelError("mass must be positive")

    with pytest.raises(ModelError, match="mass must be positive"):
        sysid.optimize(parameters(), uncompilable, verbose=False)


def test_start_outside_the_bounds_is_refused():
    params = parameters()
    params["rate"].value[:] = 7.0
    with pytest.raises(ValueError, match=r"'rate' starts at 7, outside its bounds \[0, 5\]"):
        sysid.optimize(params, residual_fn, verbose=False)


def test_unknown_optimizer_and_loss_are_refused_with_the_valid_ones():
    with pytest.raises(SysidError, match="scipy_parallel_fd"):
        sysid.optimize(parameters(), residual_fn, "scipi", verbose=False)
    with pytest.raises(SysidError, match="cauchy"):
        sysid.optimize(parameters(), residual_fn, verbose=False, loss="caushy")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_component_with_equal_bounds_stays_and_has_no_influence(optimizer):
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("x", [1.0, 0.7], [0.0, 0.7], [5.0, 0.7]))
    found, result = sysid.optimize(params, residual_fn, optimizer, verbose=False)
    np.testing.assert_allclose(found.as_vector(), TRUE, rtol=1e-6)
    assert result.jac.shape == (60, 2)
    assert np.all(result.jac[:, 1] == 0.0)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_infinite_bounds_are_allowed(optimizer):
    params = parameters(low=(-np.inf, -np.inf), high=(np.inf, np.inf))
    found, _ = sysid.optimize(params, residual_fn, optimizer, verbose=False)
    np.testing.assert_allclose(found.as_vector(), TRUE, rtol=1e-5)


def test_nothing_to_optimize_is_no_error(caplog):
    params = parameters(frozen=(True, True))

    def constant(x, params):
        return [np.ones(4)], [], []

    found, result = sysid.optimize(params, constant, verbose=False)
    assert "nothing to optimize" in caplog.text
    assert result.x.shape == (0,)
    assert result.cost == pytest.approx(2.0)
    assert found.as_vector(include_frozen=True).tolist() == [1.0, 0.2]


def test_start_at_a_bound_is_pointed_out(caplog):
    sysid.optimize(parameters(start=(0.0, 0.2)), residual_fn, verbose=False)
    assert "1 of 2 parameters start at" in caplog.text
    assert "height" in caplog.text


def test_table_is_logged_when_verbose(caplog, capsys):
    with caplog.at_level(logging.INFO):
        sysid.optimize(parameters(), residual_fn)
    assert "CONVERGED" in caplog.text
    assert "rate" in caplog.text
    assert "cost" in capsys.readouterr().out


def test_silent_when_not_verbose(capsys):
    for optimizer in OPTIMIZERS:
        sysid.optimize(parameters(), residual_fn, optimizer, verbose=False)
    assert capsys.readouterr().out == ""


def test_result_agrees_with_scipy():
    reference = scipy.optimize.least_squares(lambda x: decay(TRUE) - decay(x), [1.0, 0.2])
    _, result = sysid.optimize(parameters(), residual_fn, verbose=False)
    np.testing.assert_allclose(result.x, reference.x, rtol=1e-6)
    np.testing.assert_allclose(result.jac, reference.jac, atol=1e-6)


def test_intervals_of_an_undetermined_direction_are_infinite():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(30, 1))
    jacobian = np.hstack([one, 2.0 * one, rng.normal(size=(30, 1))])
    covariance, half = calculate_intervals([rng.normal(size=30)], jacobian)
    assert np.isinf(half[:2]).all()
    assert np.isfinite(half[2])
    assert np.isinf(covariance[0, 0])
    assert covariance[2, 2] > 0.0


def test_intervals_cover_the_truth_under_white_noise():
    rng = np.random.default_rng(4)
    jacobian = rng.normal(size=(40, 3))
    covered = []
    for _ in range(300):
        noise = rng.normal(size=40)
        estimate, *_ = np.linalg.lstsq(jacobian, noise, rcond=None)
        _, half = calculate_intervals([noise - jacobian @ estimate], jacobian)
        covered.append(np.abs(estimate) < half)
    assert 0.93 < np.mean(covered) < 0.97


def test_intervals_without_freedom_are_infinite():
    _, half = calculate_intervals([np.ones(2)], np.eye(2))
    assert np.isinf(half).all()
    covariance, half = calculate_intervals([np.ones(2)], np.empty((0, 2)))
    assert covariance.shape == (0, 0)
    assert half.shape == (0,)
