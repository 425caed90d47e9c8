# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Intervals at bounds, of what only a prior determines, and of what is small."""

from __future__ import annotations

import numpy as np
import pendulum
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitSettings, fit
from sysid_ros.engine.least_squares import ReducedSystem, bounded_quadratic_step
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.engine.uncertainty import Covariance, ParameterEstimate, covariance, estimates

WINDOWS, ROWS, NOISE = 30, 8, 1.0
# Intervals of a parameter whose truth is at its bound, half and two standard errors from it.
DISTANCES = {0.0: (0.94, 0.99), 0.5: (0.92, 0.98), 2.0: (0.92, 0.98)}


def linear_estimates(
    jacobians: FloatArray, truth: FloatArray, params: ParameterDict, rng: np.random.Generator
) -> tuple[ParameterEstimate, ...]:
    """Fit a linear model with white noise within the parameters' bounds, as the fit does."""
    lower, upper = params.get_bounds()
    measured = jacobians @ truth + NOISE * rng.normal(size=jacobians.shape[:2])
    hessians = np.einsum("wmi,wmj->wij", jacobians, jacobians)
    hessian = hessians.sum(axis=0)
    start = params.as_vector()
    gradient = -np.einsum("wmi,wm->i", jacobians, measured - jacobians @ start)
    theta = start + bounded_quadratic_step(hessian, gradient, lower - start, upper - start)
    residual = jacobians @ theta - measured
    gradients = np.einsum("wmi,wm->wi", jacobians, residual)
    found = covariance(
        ReducedSystem(hessian, gradients.sum(axis=0), hessians, gradients),
        params.bounds.width,
        params.bounds.free(theta),
        method="clustered",
        n_samples=residual.size,
        residual_square=float(np.sum(residual**2)),
    )
    return estimates(params, theta, found)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_linear_intervals_near_a_bound_cover(distance: float, correlation: float) -> None:
    """Of a parameter near its lower bound, and of one that is entangled with it."""
    rng = np.random.default_rng(int(10 * distance) + int(100 * correlation))
    jacobians = rng.normal(size=(WINDOWS, ROWS, 2))
    jacobians[..., 1] = (
        correlation * jacobians[..., 0] + np.sqrt(1.0 - correlation**2) * jacobians[..., 1]
    )
    flat = jacobians.reshape(-1, 2)
    error = NOISE * np.sqrt(np.linalg.inv(flat.T @ flat)[0, 0])
    truth = np.array([distance * error, 0.3])
    params = ParameterDict()
    params.add(Parameter("near", 0.5, 0.0, 10.0))
    params.add(Parameter("inside", 0.5, -10.0, 10.0))
    covered = []
    for _ in range(500):
        found = linear_estimates(jacobians, truth, params, rng)
        intervals = [parameter.interval() or (np.nan, np.nan) for parameter in found]
        assert intervals[0][0] >= 0.0
        covered.append(
            [low <= value <= high for value, (low, high) in zip(truth, intervals, strict=True)]
        )
    share = np.mean(covered, axis=0)
    low, high = DISTANCES[distance]
    assert low <= share[0] <= high
    assert 0.92 <= share[1] <= 0.99


@example(value=0.375, error=0.3125, dof=6.0, level=0.68)
@given(
    value=st.floats(0.0, 1.0),
    error=st.floats(1e-3, 10.0),
    dof=st.floats(1.0, 1e3),
    level=st.sampled_from([0.68, 0.95]),
)
def test_an_interval_is_inside_the_bounds_and_contains_the_estimate(
    value: float, error: float, dof: float, level: float
) -> None:
    parameter = ParameterEstimate("a", "", 0.5, value, 0.0, 1.0, error, dof)
    low, high = parameter.interval(level) or (np.nan, np.nan)
    assert 0.0 <= low <= value <= high <= 1.0
    wide = ParameterEstimate("a", "", 0.5, value, 0.0, 1.0, 1.1 * error, dof).interval(level)
    assert wide is not None
    assert wide[0] <= low + 1e-12
    assert wide[1] >= high - 1e-12


def test_far_from_bounds_the_interval_is_students() -> None:
    low, high = ParameterEstimate("a", "", 0.0, 2.0, -9.0, 99.0, 0.5, 10.0).interval(0.95) or (0, 0)
    assert (low, high) == pytest.approx((2.0 - 2.228 * 0.5, 2.0 + 2.228 * 0.5), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("distance", DISTANCES)
def test_simulated_fits_near_a_bound_cover(distance: float) -> None:
    """The damping of a pendulum, with the truth near its bound of zero."""
    settings = FitSettings(threads=1, model_error=False)  # the robot takes the model's own steps
    trial = fit([recorded(0.12, 0)], pendulum.parameters(), settings)
    truth = distance * (trial["damping"].standard_error or np.nan)
    covered = []
    for seed in range(300):
        result = fit([recorded(truth, seed)], pendulum.parameters(), settings)
        low, high = result["damping"].interval() or (np.nan, np.nan)
        covered.append(low <= truth <= high)
    low, high = DISTANCES[distance]
    assert low <= np.mean(covered) <= high


def recorded(damping: float, seed: int):
    values = pendulum.TRUTH | {"damping": damping}
    control, measured = pendulum.recording(duration=12.0, noise=0.01, seed=seed, values=values)
    return pendulum.sequences(control, measured)


def lateral(**options) -> Parameter:
    modifier = AttributeModifier("body", "bob", "com_y")
    return Parameter("lateral", 0.0, -0.1, 0.1, modifier=modifier, **options)


@pytest.mark.parametrize("intervals", ["clustered", "white"])
def test_what_only_the_prior_determines_has_the_priors_interval(intervals: str) -> None:
    params = pendulum.parameters()
    params.add(lateral(prior=(0.02, 0.005)))
    data = pendulum.recording(duration=10.0, noise=1e-3)
    result = fit([pendulum.sequences(*data)], params, FitSettings(intervals=intervals))
    assert result.interval_method == intervals
    assert result["lateral"].flags == ("from the prior",)
    assert result["lateral"].standard_error == pytest.approx(0.005, rel=1e-3)
    assert result["lateral"].interval() == pytest.approx((0.0102, 0.0298), abs=2e-4)
    assert "from the prior" not in result["damping"].flags


def test_a_prior_adds_to_the_data_as_one_more_observation() -> None:
    """With as much information as the data, it halves the variance of the white-noise interval."""
    data = [pendulum.sequences(*pendulum.recording(duration=10.0, noise=5e-3))]
    white = FitSettings(intervals="white", model_error=False)
    alone = fit(data, pendulum.parameters(), white)["damping"]
    params = pendulum.parameters()
    params["damping"].prior = (np.array([alone.value]), np.array([alone.standard_error]))
    both = fit(data, params, white)["damping"]
    assert both.standard_error == pytest.approx(alone.standard_error / np.sqrt(2.0), rel=0.02)
    assert both.flags == ()


@pytest.mark.parametrize(
    ("lower", "nominal", "value", "error", "flags"),
    [
        (0.0, 0.05, 0.01, 0.036, ("poorly determined",)),  # a damping of +- 719 %
        (0.0, 0.0, 0.01, 0.036, ("poorly determined",)),  # the same where the model has none
        (0.0, 0.05, 0.01, 0.012, ("may be zero",)),  # surely less than the model's
        (0.0, 0.0, 4e-4, 3e-4, ("may be zero",)),  # hardly any friction, for sure
        (0.0, 0.0, 4e-4, 1e-4, ()),
        (0.1, 0.5, 0.5, 0.1, ()),  # zero is none of its values
        (-1.0, 0.0, 1e-4, 3e-3, ()),  # a bias near zero
        (-1.0, 0.0, 1e-4, 0.7, ("poorly determined",)),  # no better known than by its bounds
    ],
)
def test_what_is_not_determined_goes_by_natural_scale_and_by_zero(
    lower: float, nominal: float, value: float, error: float, flags: tuple[str, ...]
) -> None:
    params = ParameterDict()
    params.add(Parameter("a", nominal, lower, 1.0))
    found = Covariance(
        np.array([[error**2]]), np.full(1, 9.0), "white", np.ones(1), np.zeros((0, 1)),
        np.array([error]), np.zeros(1), np.zeros(1),
    )  # fmt: skip
    judged = estimates(params, np.array([value]), found)
    assert judged[0].flags == flags


@pytest.mark.parametrize(
    ("lower", "wanted", "flags"),
    [
        (0.0, -0.01, ("may be zero",)),  # noise put it there
        (0.0, -0.05, ("at lower bound",)),  # the data asks for less than nothing
        (0.1, 0.09, ("at lower bound",)),  # an interval that the user's bound cuts off
    ],
)
def test_what_ends_at_zero_by_chance_is_not_at_a_bound(
    lower: float, wanted: float, flags: tuple[str, ...]
) -> None:
    params = ParameterDict()
    params.add(Parameter("a", 0.5, lower, 1.0))
    information = np.full((1, 1, 1), 0.01**-2)
    gradient = information[:, 0] * (lower - wanted)
    system = ReducedSystem(information[0], gradient[0], information, gradient)
    found = covariance(
        system, np.array([1.0 - lower]), np.array([False]), method="white", n_samples=1000,
        residual_square=1000.0,
    )  # fmt: skip
    (judged,) = estimates(params, np.array([lower]), found)
    assert judged.flags == flags
    assert judged.interval()[0] == lower
