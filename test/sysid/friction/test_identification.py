"""Friction models are identified by the windowed fit like any other parameters."""

from __future__ import annotations

import pytest
from friction_bench import NOISE, parameters, record, true_frictions

from sysid_ros.sysid.fit import FitSettings, SignalNoise, fit
from sysid_ros.sysid.fit_result import FitStatus


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
    reasons = set(result.derivatives.values())
    expected = "exact" if name == "m1" else "finite differences: a joint's friction depends on "
    assert all(reason.startswith(expected) for reason in reasons)


def test_a_search_from_far_away_finds_the_stribeck_velocity() -> None:
    """Not the local minimum in which dtheta_stribeck makes the term vanish."""
    truth = true_frictions()["m2"]
    params = parameters("m2")
    params["dtheta_stribeck"].value = 0.05
    params["friction_base"].value = 1.0
    result = fit(
        record(truth, range(4)),
        params,
        FitSettings(threads=2),
        known=SignalNoise({"angle": NOISE}),
    )
    assert result["dtheta_stribeck"].value == pytest.approx(truth.dtheta_stribeck, rel=0.2)
    assert result["friction_stribeck"].value == pytest.approx(truth.friction_stribeck, rel=0.2)
