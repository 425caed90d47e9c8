# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction models are identified by the windowed fit like any other parameters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from friction_bench import NOISE, parameters, record, true_frictions

from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.estimation.friction_parameters import without_meaningless
from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.engine.parameters import WITHOUT_EFFECT
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate


@pytest.mark.parametrize("name", ["m1", "m2", "m3"])
def test_known_friction_is_recovered_with_honest_intervals(name: str) -> None:
    truth = true_frictions()[name]
    result = fit(
        record(truth, range(4)),
        parameters(name),
        FitSettings(threads=2),
        known=SignalNoise({"angle": NOISE}),
    )
    assert result.status is FitStatus.CONVERGED
    for estimate in result.parameters:
        true = 0.01 if estimate.name == "armature" else getattr(truth, estimate.name)
        assert estimate.value == pytest.approx(true, rel=0.15), estimate.name
        low, high = estimate.interval(0.999) or (true, true)
        assert low <= true <= high, estimate.name
    assert set(result.derivatives.values()) == {"exact"}


def test_a_search_from_far_away_finds_the_stribeck_velocity() -> None:
    """Not the local minimum in which dtheta_stribeck makes the term vanish."""
    truth = true_frictions()["m2"]
    params = parameters("m2")
    params["dtheta_stribeck"].value = 0.6
    params["friction_base"].value = 0.5
    result = fit(
        record(truth, range(4)), params, FitSettings(threads=2), known=SignalNoise({"angle": NOISE})
    )
    assert result["dtheta_stribeck"].value == pytest.approx(truth.dtheta_stribeck, rel=0.2)
    assert result["friction_stribeck"].value == pytest.approx(truth.friction_stribeck, rel=0.2)


def test_nothing_is_claimed_about_where_an_absent_effect_acts() -> None:
    """M2 fitted to a gear without Stribeck friction."""
    result = fit(
        record(true_frictions()["m1"], range(4)),
        parameters("m2"),
        FitSettings(threads=2),
        known=SignalNoise({"angle": NOISE}),
    )
    assert result["friction_base"].value == pytest.approx(0.15, rel=0.1)
    for name in ("dtheta_stribeck", "alpha"):
        assert result[name].interval(0.95) is None
        assert WITHOUT_EFFECT in result[name].flags


def test_only_joints_without_the_effect_are_flagged() -> None:
    params = parameters("m4", friction_stribeck=0.3)
    found = [
        ParameterEstimate(p.name, "", 1.0, 1.0, 0.0, 5.0, 0.1, 20.0, ()) for p in params.free()
    ]
    assert without_meaningless(found, params) == tuple(found)
    params["friction_stribeck"].value = 0.0
    assert without_meaningless(found, params) == tuple(found)  # load_friction_stribeck is there
    weak = [replace(e, value=0.1) if e.name == "load_friction_stribeck" else e for e in found]
    flagged = {e.name for e in without_meaningless(weak, params) if e.flags}
    assert flagged == {"dtheta_stribeck", "alpha"}
