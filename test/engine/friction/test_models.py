# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The formulas, at values that can be checked by hand, and how the models contain each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from friction_reference import budget
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.engine.friction.models import MODELS, PARAMETERS, FrictionParameters
from sysid_ros.errors import ParameterError

COEFFICIENTS = st.floats(0.0, 2.0)
TORQUES = st.floats(-5.0, 5.0)
FRICTIONS = st.builds(
    FrictionParameters,
    **dict.fromkeys(PARAMETERS, COEFFICIENTS)
    | {"dtheta_stribeck": st.floats(0.05, 3.0), "alpha": st.floats(0.5, 2.5)},
)


def test_each_formula_by_hand() -> None:
    """At v = 0.5, tm = 2, te = -1, with s = exp(-(0.5 / 0.25)^2) = exp(-4)."""
    p = FrictionParameters(
        friction_viscous=0.2, friction_base=0.3, friction_stribeck=0.4, dtheta_stribeck=0.25,
        alpha=2.0, load_friction_base=0.05, load_friction_stribeck=0.06, load_friction_motor=0.1,
        load_friction_external=0.2, load_friction_motor_stribeck=0.3,
        load_friction_external_stribeck=0.4, load_friction_motor_quad=0.01,
        load_friction_external_quad=0.02,
    )  # fmt: skip
    s, m1 = math.exp(-4.0), 0.2 * 0.5 + 0.3
    expected = {
        "m1": m1,
        "m2": m1 + s * 0.4,
        "m3": m1 + 0.05 * 3.0,
        "m4": m1 + 0.05 * 3.0 + s * (0.4 + 0.06 * 3.0),
        "m5": m1 + (0.2 + 0.2) + s * (0.4 + (0.6 + 0.4)),
        "m6": m1 + (0.2 + 0.2) + s * (0.4 + (0.6 + 0.4)) + s * 0.02 * 1.0,
    }
    for model, value in expected.items():
        assert budget(model, 0.5, 2.0, -1.0, p) == pytest.approx(value, rel=1e-12)
    held = budget("m6", 0.5, 1.0, -2.0, p) - budget("m5", 0.5, 1.0, -2.0, p)
    assert held == pytest.approx(s * 0.01 * 1.0)  # the load drives: Kmq tm^2
    assert budget("m6", 0.5, 1.0, 2.0, p) == budget("m5", 0.5, 1.0, 2.0, p)  # the same direction


@given(FRICTIONS, st.floats(-3.0, 3.0), TORQUES, TORQUES)
def test_budgets_are_positive_and_even_and_grow_from_model_to_model(
    p: FrictionParameters, v: float, tm: float, te: float
) -> None:
    values = {model: float(budget(model, v, tm, te, p)) for model in MODELS}
    assert min(values.values()) >= 0.0
    assert values["m1"] <= values["m2"] <= values["m4"]
    assert values["m1"] <= values["m3"] <= values["m4"]
    assert values["m1"] <= values["m5"] <= values["m6"]
    for model, value in values.items():
        assert float(budget(model, -v, -tm, -te, p)) == pytest.approx(value, rel=1e-12)


@given(FRICTIONS, st.floats(-3.0, 3.0), TORQUES, TORQUES, st.sampled_from(list(MODELS)))
def test_what_a_model_lacks_changes_nothing(
    p: FrictionParameters, v: float, tm: float, te: float, model: str
) -> None:
    own = {name: getattr(p, name) for name in MODELS[model]}
    reduced = FrictionParameters(**own)
    assert budget(model, v, tm, te, reduced) == budget(model, v, tm, te, p)
    simplest = reduced.model
    assert budget(simplest, v, tm, te, reduced) == pytest.approx(
        float(budget(model, v, tm, te, reduced)), rel=1e-12
    )


def test_m4_is_m5_with_equal_coefficients() -> None:
    m4 = FrictionParameters(0.1, 0.2, 0.3, 0.2, 1.0, 0.04, 0.05)
    m5 = replace(
        m4, load_friction_base=0.0, load_friction_stribeck=0.0, load_friction_motor=0.04,
        load_friction_external=0.04, load_friction_motor_stribeck=0.05,
        load_friction_external_stribeck=0.05,
    )  # fmt: skip
    v, tm, te = np.random.default_rng(0).normal(size=(3, 50))
    np.testing.assert_allclose(budget("m4", v, tm, te, m4), budget("m5", v, tm, te, m5))
    assert (m4.model, m5.model) == ("m4", "m5")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"friction_base": -0.1}, "friction_base of a friction must be at least 0, got -0.1"),
        ({"alpha": 0.0}, "alpha of a friction must be above 0"),
        ({"friction_viscous": float("nan")}, "got nan"),
        ({"friction_viscous": float("inf")}, "got inf"),
    ],
)
def test_impossible_values_are_refused(values: dict[str, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        FrictionParameters(**values)


def test_terms_of_both_families_have_no_model() -> None:
    both = FrictionParameters(load_friction_base=0.1, load_friction_motor=0.1)
    with pytest.raises(ParameterError, match="load_friction_base"):
        _ = both.model
    with pytest.raises(ParameterError, match="unknown friction model 'm7'"):
        budget("m7", 0.0, 0.0, 0.0, FrictionParameters())
