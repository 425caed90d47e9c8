# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the report says to record next follows from what is vague, open or entangled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from outcomes import outcome as synthetic

from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.judgement.outcome import Outcome
from sysid_ros.report.next_experiment import Kind, kind_of, next_experiment


def with_parameters(
    made: Outcome, *parameters: tuple[str, str, float], corr: float = 0.0
) -> Outcome:
    """Parameters as (name, unit, relative standard error) of value 1, equally correlated."""
    estimates = tuple(
        ParameterEstimate(name, unit, 1.0, 1.0, 0.0, 2.0, error, 50.0)
        for name, unit, error in parameters
    )
    errors = np.array([error for _, _, error in parameters])
    matrix = np.full((len(errors), len(errors)), corr)
    np.fill_diagonal(matrix, 1.0)
    fit = replace(
        made.fit,
        parameters=estimates,
        covariance=matrix * np.outer(errors, errors),
        unidentifiable=(),
        landscapes=(),
    )
    return replace(made, fit=fit, quality=tuple(replace(t, gaps=0) for t in made.quality))


def test_kinds_follow_units() -> None:
    def kind(name: str, unit: str) -> Kind:
        return kind_of(ParameterEstimate(name, unit, 1.0, 1.0, 0.0, 2.0, None, 1.0))

    assert kind("shoulder_armature", "kg m^2") is Kind.INERTIA
    assert kind("slide_armature", "kg") is Kind.INERTIA  # a slide's armature is a mass
    assert kind("forearm_mass", "kg") is Kind.WEIGHT
    assert kind("elbow_frictionloss", "N m") is Kind.DRY_FRICTION
    assert kind("servo_gain", "") is Kind.OTHER
    assert kind("elbow_load_friction_base", "") is Kind.LOAD_FRICTION


def test_vague_parameters_name_their_motion() -> None:
    made = with_parameters(synthetic(), ("a_damping", "N m s/rad", 0.4), ("b_mass", "kg", 0.01))
    first, second = next_experiment(made)
    assert first.startswith("For a_damping (±74 %)") and "several speeds" in first
    assert "square root" in second


def test_what_may_have_either_sign_is_vague_by_its_bounds_and_not_by_its_value() -> None:
    made = with_parameters(synthetic(), ("offset", "N m", 0.01), ("coordinate", "", 0.01))
    known = [replace(p, value=1e-75, lower=-10.0, upper=10.0) for p in made.fit.parameters]
    unbounded = replace(known[1], lower=-np.inf, upper=np.inf)
    made = replace(made, fit=replace(made.fit, parameters=(known[0], unbounded)))
    (said,) = next_experiment(made)
    assert said.startswith("Every interval")
    vague = replace(known[0], standard_error=4.0)
    made = replace(made, fit=replace(made.fit, parameters=(vague, unbounded)))
    assert next_experiment(made)[0].startswith("For offset (±74 %)")


def test_entangled_parameters_name_the_motion_that_tells_them_apart() -> None:
    pair = ("a_damping", "N m s/rad", 0.01), ("a_frictionloss", "N m", 0.01)
    (said,) = next_experiment(with_parameters(synthetic(), *pair, corr=-0.9))
    assert "very slowly and once fast" in said and "-0.90" in said
    (said,) = next_experiment(with_parameters(synthetic(), *pair, corr=-0.5))
    assert said.startswith("Every interval is within 20 %")


def test_missing_hold_out_and_gaps_come_up() -> None:
    made = synthetic()
    said = next_experiment(replace(made, validation=None))
    assert said[0].startswith("Record one more motion")
    assert any("payload of known mass" in sentence for sentence in said)
    assert any("3 gaps" in sentence for sentence in said)


def test_the_command_that_designs_the_motion_is_said_where_torque_would_show_it() -> None:
    known = {"experiment file": "/robots/arm/experiment.yaml"}
    made = with_parameters(synthetic(), ("a_damping", "N m s/rad", 0.4), ("b_mass", "kg", 0.01))
    said = next_experiment(replace(made, provenance=known))
    assert said[1].startswith("sysid_ros design experiment.yaml --after RESULT")
    made = with_parameters(synthetic(), ("a_delay", "s", 0.4), ("b_mass", "kg", 0.01))
    said = next_experiment(replace(made, provenance=known))
    assert not any("design" in sentence for sentence in said)
