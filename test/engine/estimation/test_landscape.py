# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cost landscapes: of a residual function and of a windowed fit."""

from __future__ import annotations

import numpy as np
import pendulum
import pytest
from sysid_problems import record_cart

from sysid_ros import sysid
from sysid_ros.engine.estimation import fit_landscape
from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_landscape import telling_pairs
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.errors import ParameterError


def cart(*payloads: float) -> tuple[sysid.ParameterDict, object]:
    """The notebook's cart at the optimum, and its residual function."""
    params = sysid.ParameterDict()
    for name, value, element in (("mass", 2.0, ("body", "cart")), ("gear", 3.0, ("actuator", ""))):
        modifier = sysid.AttributeModifier(element[0], element[1] or "motor", name)
        params.add(sysid.Parameter(name, value, 0.5, 8.0, modifier=modifier))
    groups = [record_cart(payload).sequences(f"cart_{payload}") for payload in payloads]
    return params, sysid.build_residual_fn(models_sequences=groups)


def test_one_cart_has_a_valley_and_a_payload_closes_it():
    line = np.linspace(0.5, 2.0, 7)  # both parameters in units of the truth: gear / mass stays
    for payloads, is_valley in (((0.0,), True), ((0.0, 1.0), False)):
        params, residual_fn = cart(*payloads)
        found = sysid.landscape(residual_fn, params, "mass", "gear", x=2.0 * line, y=3.0 * line)
        assert found.cost.shape == (7, 7)
        assert found.optimum == (2.0, 3.0)
        along = np.diag(found.cost)
        assert np.delete(along, 2).max() < 1e-9 if is_valley else np.delete(along, 2).min() > 1e-7
        assert found.cost[0, -1] > 1e-2


def test_costs_are_those_of_the_residual():
    params, residual_fn = cart(0.0)
    found = sysid.landscape(residual_fn, params, "gear", "mass", points=3)
    residual = np.concatenate(residual_fn(np.array([found.y[2], found.x[0]]), params)[0])
    assert found.cost[2, 0] == pytest.approx(0.5 * residual @ residual)
    assert (found.x[0], found.x[-1]) == pytest.approx((1.5, 4.5))


def test_values_that_do_not_compile_cost_infinitely_much():
    params, residual_fn = cart(0.0)
    found = sysid.landscape(
        residual_fn, params, "mass", "gear", x=np.array([-1.0, 2.0]), y=np.array([3.0, 4.0])
    )
    assert np.all(np.isinf(found.cost[:, 0]))
    assert np.all(np.isfinite(found.cost[:, 1]))


def test_names_are_checked():
    params, residual_fn = cart(0.0)
    with pytest.raises(ParameterError, match="mass"):
        sysid.landscape(residual_fn, params, "mas", "gear")
    with pytest.raises(ParameterError, match="twice"):
        sysid.landscape(residual_fn, params, "mass", "mass")


@pytest.mark.parametrize("most_steps", [10**9, 0], ids=["simulated", "expected"])
def test_landscape_of_a_windowed_fit_is_lowest_at_the_optimum(monkeypatch, most_steps):
    monkeypatch.setattr(fit_landscape, "MOST_STEPS", most_steps)
    control, measured = pendulum.recording(duration=6.0, noise=1e-3)
    result = fit(
        [pendulum.sequences(control, measured)],
        pendulum.parameters(),
        FitSettings(window_length=1.0, landscapes=2),
    )
    assert len(result.landscapes) == 2
    for found in result.landscapes:
        assert found.expected == (most_steps == 0)
        names = [p.name for p in result.parameters]
        assert found.optimum == tuple(
            result.parameters[names.index(name)].value for name in (found.x_name, found.y_name)
        )
        row, column = np.unravel_index(np.argmin(found.cost), found.cost.shape)
        assert found.x[column] == pytest.approx(found.optimum[0])
        assert found.y[row] == pytest.approx(found.optimum[1])
        assert found.cost[row, column] == pytest.approx(result.cost_final, rel=1e-3)


def test_a_robot_that_stands_at_first_has_a_landscape(monkeypatch):
    """One window stands for all: not the first, nor as if the robot had moved in all as in it."""
    whole = pendulum.torque
    monkeypatch.setattr(pendulum, "torque", lambda times: whole(times) * (times > 4.5))
    control, measured = pendulum.recording(duration=6.0, noise=1e-3)
    costs = []
    for steps in (1, 10**9):
        monkeypatch.setattr(fit_landscape, "STEPS", steps)
        (found,) = fit(
            [pendulum.sequences(control, measured)],
            pendulum.parameters(),
            FitSettings(window_length=1.0, landscapes=1),
        ).landscapes
        costs.append(found.cost)
    some, every = costs
    assert some.max() > 10.0 * some.min()
    assert some[3, 3] == pytest.approx(every[3, 3])
    assert some[3, 3] < 1.001 * some.min()
    assert np.median(some / every) == pytest.approx(1.0, abs=0.25)


def test_pairs_that_the_data_leaves_open_come_first():
    covariance = np.array([[1.0, 0.9, np.nan], [0.9, 1.0, np.nan], [np.nan, np.nan, np.nan]])
    directions = np.array([[0.0, 0.6, 0.8]])
    assert telling_pairs(covariance, directions) == [(1, 2), (0, 1)]


@pytest.mark.parametrize("p", [0, 1])
def test_fewer_than_two_parameters_have_no_pairs(p):
    assert telling_pairs(np.full((p, p), np.nan), np.ones((p, p))) == []
