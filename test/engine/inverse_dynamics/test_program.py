# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The convex program keeps bodies possible and finds its minimum."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.engine.elements import central, parameters_of, pseudo_inertia
from sysid_ros.engine.inverse_dynamics.consistency import MARGIN, body_scale
from sysid_ros.engine.inverse_dynamics.prior import BodyTerm, Prior, PriorKind
from sysid_ros.engine.inverse_dynamics.program import Constraints, solve
from sysid_ros.errors import DataError, SysidError

pytest.importorskip("clarabel", reason="the convex solver is not installed")

CENTRE = np.array([0.1, -0.05, 0.2])  # m
SECOND = np.array([[0.03, 0.004, 0.0], [0.004, 0.02, -0.003], [0.0, -0.003, 0.025]])  # kg m^2
BODY = parameters_of(
    np.block(
        [[SECOND + 2.0 * np.outer(CENTRE, CENTRE), 2.0 * CENTRE[:, None]], [2.0 * CENTRE, 2.0]]
    )
)
FREE = Constraints(np.full(10, -np.inf), np.full(10, np.inf))


def prior(kind: PriorKind = PriorKind.ENTROPIC, spread: float = 1.0) -> Prior:
    term = BodyTerm("", 1, np.eye(10), np.zeros(10), body_scale(BODY))
    return Prior((term,), kind, spread, np.zeros(10), np.zeros(10))


def is_consistent(parameters: np.ndarray) -> bool:
    """True if a body of positive density can have these ten parameters."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0)


def test_the_pseudo_inertia_is_linear_and_invertible():
    assert np.allclose(parameters_of(pseudo_inertia(BODY)), BODY)
    mass, centre, tensor = central(BODY)
    assert mass == 2.0
    assert np.allclose(centre, [0.1, -0.05, 0.2])
    assert np.all(np.linalg.eigvalsh(tensor) > 0.0)


@given(moments=st.tuples(*[st.floats(0.01, 1.0)] * 3))
@settings(max_examples=50, deadline=None)
def test_consistency_is_the_triangle_inequality(moments):
    a, b, c = moments
    possible = a + b > c and b + c > a and a + c > b
    margin = min(a + b - c, b + c - a, a + c - b)
    if abs(margin) > 1e-9:
        assert is_consistent(np.array([1.0, 0, 0, 0, a, b, c, 0, 0, 0])) == possible


@pytest.mark.parametrize("kind", list(PriorKind))
def test_without_data_the_model_stays_as_it_is(kind):
    found = solve(np.zeros((10, 10)), np.zeros(10), prior(kind), FREE)
    assert np.allclose(found.x, BODY, atol=1e-6)
    assert not found.on_edge


@pytest.mark.parametrize("kind", list(PriorKind))
def test_the_prior_is_as_wide_as_bodies_are_away_from_the_model(kind):
    one, sure = prior(kind), 1e6 * np.eye(10)
    assert one.needed_spread(1.1 * BODY, sure) == 1.0
    away = 2.0 * one.distance(9.0 * BODY) / 10.0  # all ten parameters are told
    assert one.needed_spread(9.0 * BODY, 1e12 * np.eye(10)) == pytest.approx(
        np.sqrt(away), rel=1e-3
    )
    assert one.needed_spread(BODY, np.zeros((10, 10))) == 1.0


@pytest.mark.parametrize("kind", list(PriorKind))
def test_the_gradient_vanishes_where_no_constraint_holds(kind):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6, 10)) * 5.0
    hessian, gradient = rows.T @ rows, rows.T @ (rows @ (1.2 * BODY))
    one = prior(kind)
    found = solve(hessian, gradient, one, FREE)
    slope, _ = one.derivatives(found.x)
    assert np.abs(slope + hessian @ found.x - gradient).max() < 1e-6 * np.abs(gradient).max()
    assert is_consistent(found.x)


@pytest.mark.parametrize("kind", list(PriorKind))
def test_data_of_an_impossible_body_end_on_the_margin(kind):
    impossible = BODY.copy()
    impossible[6] = 0.9  # more than the other two moments together
    weight = 1e8
    found = solve(weight * np.eye(10), weight * impossible, prior(kind), FREE)
    share = np.linalg.eigvalsh(body_scale(BODY).relative(found.x))[0]
    assert share == pytest.approx(MARGIN, rel=0.2)
    assert found.on_edge == (0,)


def test_what_is_held_without_data_costs_no_accuracy():
    """A friction term that nothing shows is held by more than all data."""
    impossible = BODY.copy()
    impossible[6] = 0.9  # more than the other two moments together
    weight = np.diag(np.geomspace(1e4, 1e8, 10))
    alone = solve(weight, weight @ impossible, prior(), FREE)
    term = BodyTerm("", 1, np.eye(10, 11), np.zeros(10), body_scale(BODY))
    held = Prior(
        (term,), PriorKind.ENTROPIC, 1.0, np.append(np.zeros(10), 5.0),
        np.append(np.zeros(10), 1e16),
    )  # fmt: skip
    limits = Constraints(np.full(11, -np.inf), np.full(11, np.inf))
    hessian = np.zeros((11, 11))
    hessian[:10, :10] = weight
    found = solve(hessian, np.append(weight @ impossible, 0.0), held, limits)
    assert alone.on_edge == found.on_edge == (0,)
    assert found.x[10] == 5.0
    np.testing.assert_allclose(found.x[:10], alone.x, atol=1e-5)


def test_the_centre_of_mass_stays_within_the_geometry():
    from sysid_ros.engine.inverse_dynamics.consistency import DIRECTIONS

    reach = np.abs(DIRECTIONS) @ np.array([0.15, 0.15, 0.25])
    far = BODY.copy()
    far[1:4] = 2.0 * np.array([0.6, 0.0, 0.1])
    limits = Constraints(FREE.lower, FREE.upper, hulls={0: reach})
    found = solve(1e3 * np.eye(10), 1e3 * far, prior(), limits)
    _, centre, _ = central(found.x)
    assert np.all(DIRECTIONS @ centre <= reach + 1e-6)
    assert found.on_edge == (0,)


def test_bounds_and_equalities_hold():
    lower, upper = FREE.lower.copy(), FREE.upper.copy()
    lower[0], upper[5] = 2.5, 0.1
    row = np.zeros((1, 10))
    row[0, 1] = 1.0
    limits = Constraints(lower, upper, equal=row, equal_to=np.array([0.3]))
    found = solve(np.zeros((10, 10)), np.zeros(10), prior(), limits)
    assert found.x[0] == pytest.approx(2.5, abs=1e-5)
    assert found.x[5] <= 0.1 + 1e-9
    assert found.x[1] == pytest.approx(0.3, abs=1e-6)
    assert found.at_bound[0]


def test_a_missing_solver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(SysidError, match="pip install clarabel"):
        solve(np.eye(10), BODY, prior(), FREE)


def test_constraints_that_contradict_each_other_are_named():
    lower, upper = FREE.lower.copy(), FREE.upper.copy()
    upper[0] = -1.0  # a negative mass
    with pytest.raises(DataError, match="physically consistent"):
        solve(np.eye(10), BODY, prior(), Constraints(lower, upper))


@pytest.mark.parametrize("kind", list(PriorKind))
def test_the_priors_derivatives_are_those_of_its_value(kind):
    one, x, h = prior(kind, 0.5), BODY * 1.05, 1e-6
    slope, curvature = one.derivatives(x)
    for i, unit in enumerate(np.eye(10)):
        plus, minus = x + h * unit, x - h * unit
        assert slope[i] == pytest.approx(
            (one.value(plus) - one.value(minus)) / (2 * h), rel=1e-4, abs=1e-5
        )
        steep = (one.derivatives(plus)[0] - one.derivatives(minus)[0]) / (2 * h)
        assert np.allclose(curvature[i], steep, rtol=1e-4, atol=1e-4 * np.abs(curvature).max())
