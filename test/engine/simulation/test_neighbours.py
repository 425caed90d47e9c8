# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Candidates that differ in one parameter, made from each other."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.parameters.modifiers import AttributeModifier, SignalModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.simulation import candidate
from sysid_ros.engine.simulation.candidate import CandidateBuilder

ARM = """<mujoco><worldbody><body name="arm"><joint name="hinge"/><geom size="0.1"/></body>
</worldbody><actuator><position name="servo" joint="hinge" kp="10" dampratio="1"/></actuator>
<sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""


def raise_mass(spec: Any, parameter: Parameter) -> None:
    """Depends on what another parameter wrote, and writes the same."""
    spec.body("arm").mass = spec.body("arm").mass * parameter.value[0]


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("factor", [False, True])
def test_a_neighbour_is_what_a_whole_build_makes(factor: bool, together: bool) -> None:
    params = ParameterDict()
    joint = AttributeModifier("joint", "hinge", "armature")
    params.add(Parameter("armature", 0.1, 0.0, 1.0, modifier=joint))
    mass = AttributeModifier("body", "arm", "mass")
    params.add(Parameter("mass", 2.0, 0.0, 5.0, modifier=mass))
    if factor:
        params.add(Parameter("factor", 1.5, 0.0, 5.0, modifier=raise_mass))
    delay = SignalModifier(("angle",), "delay")
    params.add(Parameter("delay", 0.01, 0.0, 0.1, modifier=delay))
    builder = CandidateBuilder(mujoco.MjSpec.from_string(ARM), params)
    for theta in (params.as_vector(), params.as_vector() + 0.01):
        base = builder.build(theta)
        if together:
            builder.try_together(base, dict(enumerate(theta + 1e-3)))
            assert builder.independent(1) is not factor
            assert not builder.independent(theta.size - 1)  # no model shows it
        for k, value in enumerate(theta + 1e-3):
            near, moved = builder.neighbour(base, k, value), theta.copy()
            moved[k] = value
            whole = builder.build(moved)
            np.testing.assert_array_equal(near.params.as_vector(), moved)
            for name in ("body_mass", "body_inertia", "dof_armature", "actuator_biasprm"):
                np.testing.assert_allclose(
                    getattr(near.model, name), getattr(whole.model, name), rtol=1e-14
                )
            assert near.signals == whole.signals, k
            assert (near.model_key == base.model_key) == (k == theta.size - 1)
    np.testing.assert_array_equal(base.params.as_vector(), theta)


@pytest.mark.parametrize("seed", range(8))
def test_rounding_makes_no_parameter_depend_on_another(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The body's inertia is scaled to its mass, twice where that is written twice."""
    shares = 0.5 + 0.5 * np.random.default_rng(seed).random(2)
    monkeypatch.setattr(candidate, "_shares", lambda count: shares.tolist()[:count])
    params = ParameterDict()
    for kind, name, attribute, value in (
        ("joint", "hinge", "armature", 0.1), ("body", "arm", "mass", 2.0)
    ):  # fmt: skip
        modifier = AttributeModifier(kind, name, attribute)
        params.add(Parameter(attribute, value, 0.0, 5.0, modifier=modifier))
    builder = CandidateBuilder(mujoco.MjSpec.from_string(ARM), params)
    theta = params.as_vector()
    builder.try_together(builder.build(theta), dict(enumerate(theta + 1e-3)))
    assert builder.independent(0) and builder.independent(1)


@pytest.mark.parametrize("together", [False, True])
def test_what_scales_a_value_is_known_even_from_one(together: bool) -> None:
    def lower_mass(spec: Any, parameter: Parameter) -> None:
        spec.body("arm").mass = spec.body("arm").mass / parameter.value[0]

    params = ParameterDict()
    params.add(Parameter("factor", 1.0, 0.1, 5.0, modifier=raise_mass))
    params.add(Parameter("divisor", 1.0, 0.1, 5.0, modifier=lower_mass))
    spec = mujoco.MjSpec.from_string(ARM)
    spec.body("arm").mass, spec.body("arm").explicitinertial = 2.0, True
    spec.body("arm").inertia = [0.1, 0.1, 0.1]
    builder = CandidateBuilder(spec, params)
    for theta in (np.ones(2), np.array([2.0, 1.0]), np.array([2.0, 4.0])):
        base = builder.build(theta)
        if together:
            builder.try_together(base, dict(enumerate(theta + 1e-3)))
        for k, value in enumerate(theta + 1e-3):
            moved = theta.copy()
            moved[k] = value
            mass = builder.neighbour(base, k, value).model.body("arm").mass[0]
            assert mass == pytest.approx(2.0 * moved[0] / moved[1], rel=1e-12), (theta, k)
