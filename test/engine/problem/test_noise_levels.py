# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Other noise levels weigh what is known of a point anew, and nothing is simulated again."""

from __future__ import annotations

import numpy as np
from chains import Chain, problem, spec

from sysid_ros.engine.parameters import Parameter, ParameterDict


def armature() -> ParameterDict:
    params = ParameterDict()
    params.add(
        Parameter(
            "armature", 0.1, 0.0, 1.0,
            modifier=lambda s, p: setattr(s.joints[0], "armature", p.value[0]),
        )
    )  # fmt: skip
    return params


def test_other_noise_levels_are_those_of_a_new_problem_without_its_simulations() -> None:
    mechanism = spec(Chain(3, 3, "IMPLICITFAST", friction=False, limits=False, servos=True))
    first, anew = problem(mechanism, armature()), problem(mechanism, armature())
    name = next(iter(first.noise))
    point = first.initial_point()
    first.linearize(point)
    louder = first.with_noise({name: 2e-3})
    anew.noise[name] = 2e-3
    for own, other in zip(louder.linearize(point).grams, anew.linearize(point).grams, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12, atol=1e-9)
    assert first.noise[name] == 1e-3
    assert louder.cost(point) < first.cost(point)
    assert louder.simulated(point) is first.simulated(point)
