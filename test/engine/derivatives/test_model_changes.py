# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of a model's tables: those that last, and those that share compilations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.directions import ChangingTables, ModelChanges
from sysid_ros.engine.derivatives.model_changes import (
    KnownChanges,
    SharedMoves,
    merged,
    model_derivative,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.simulation import CandidateBuilder, perturbed

TEXT = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="a" damping="{damping}"
  stiffness="{stiffness}" armature="{armature}" frictionloss="0.1"/><geom size="0.1" mass="1"/>
  </body></worldbody></mujoco>"""
STEP = 1e-6


def product(x: FloatArray) -> dict[str, float]:
    """Two parameters that multiply each other, in the stiffness."""
    return {"damping": x[0], "stiffness": x[1] * x[2], "armature": x[3]}


def kinked(x: FloatArray) -> dict[str, float]:
    """The larger of two, in the stiffness."""
    return {"damping": x[0], "stiffness": max(x[1], x[2]), "armature": x[3]}


def summed(x: FloatArray) -> dict[str, float]:
    """Two parameters that add up."""
    return {"damping": x[0], "stiffness": x[1] + x[2], "armature": x[3]}


def model_at(values: Callable[[FloatArray], dict[str, float]], x: FloatArray) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(TEXT.format(**values(x)))


def known(values: Callable[[FloatArray], dict[str, float]], x: FloatArray) -> KnownChanges:
    moved = [model_at(values, x + step) for step in STEP * np.eye(len(x))]
    base = ChangingTables.of(model_at(values, x))
    changes = model_derivative(base, moved, [STEP] * len(x))
    return KnownChanges(x, base, tuple(range(len(x))), changes)


@pytest.mark.parametrize(
    ("values", "step", "lasting", "hold"),
    [
        (summed, [0.1, 0.2, -0.3, 0.01], [0, 1, 2, 3], True),  # inverse inertia follows
        (summed, [0.1, 0.2, 0.0, 0.01], [0, 1, 2, 3], True),
        (product, [0.1, 0.2, -0.3, 0.01], [0, 3], True),
        (product, [0.1, 0.2, 0.0, 0.01], [0, 1, 2, 3], False),  # by the second it is more now
        (kinked, [0.1, -0.9, 0.2, 0.01], [0, 3], True),
        (kinked, [0.1, 0.2, 0.1, 0.01], [0, 1, 3], True),  # what had no effect is none that lasts
    ],
)
def test_what_lasts_is_what_one_model_confirms(
    values: Callable[[FloatArray], dict[str, float]],
    step: list[float],
    lasting: list[int],
    hold: bool,
) -> None:
    before = known(values, np.array([0.3, 2.0, 1.5, 0.1]))
    after = known(values, before.theta + step)
    model = after.base
    assert before.lasting(after.theta, model) == lasting
    change = np.zeros(4)
    change[lasting] = STEP * np.linspace(1.0, 2.0, len(lasting))
    assert before.hold(model, model_at(values, after.theta + change), change) == hold
    if hold:
        others = [j for j in range(4) if j not in lasting]
        fresh = type(after.changes)(*(table[..., others] for table in after.changes))
        numbers, joined = merged([(others, fresh), (lasting, before.of(lasting))])
        assert numbers == (0, 1, 2, 3)
        for one, right in zip(joined, after.changes, strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-6, atol=1e-6)


LEG = """<body name="{0}" pos="{1} 0 0"><joint name="{0}_hip" axis="0 1 0"/>
<geom size="0.05" pos="0.1 0 -0.2" mass="1"/><body name="{0}_shin" pos="0 0 -0.4">
<joint name="{0}_knee" axis="0 1 0"/><geom size="0.04" pos="0 0 -0.3" mass="0.5"/></body></body>"""
ACTUATORS = """<actuator><position name="{0}_servo" joint="{0}_hip" kp="20" dampratio="1"/>
</actuator>"""
LEGS = ("left", "right")
MASSES = (6, 13)  # each adds to what is there, so that it is not written anew by itself


def load(body: str, spec: mujoco.MjSpec, parameter: Parameter) -> None:
    """Add to a mass."""
    geom = spec.body(body).first_geom()
    geom.mass = geom.mass + parameter.value[0]


def builder_of() -> CandidateBuilder:
    bodies = "".join(LEG.format(leg, k) for k, leg in enumerate(LEGS))
    actuators = "".join(map(ACTUATORS.format, LEGS))
    params = ParameterDict()
    for leg in LEGS:
        for joint in (f"{leg}_hip", f"{leg}_knee"):
            for name in ("armature", "damping", "frictionloss"):
                own = AttributeModifier("joint", joint, name)
                params.add(Parameter(f"{joint}_{name}", 0.1, 0.0, 1.0, modifier=own))
        params.add(Parameter(f"{leg}_mass", 0.5, 0.0, 5.0, modifier=partial(load, f"{leg}_shin")))
    text = f"<mujoco><worldbody>{bodies}</worldbody>{actuators}</mujoco>"
    return CandidateBuilder(mujoco.MjSpec.from_string(text), params)


def moved_alone(
    builder: CandidateBuilder, theta: FloatArray, shared: SharedMoves | None = None
) -> ModelChanges:
    ones = np.ones(theta.size)
    columns = perturbed(builder, theta, 9.0 * ones, ones, step=STEP)
    own = columns.moved
    models = [each.candidate.model for each in own]
    base = ChangingTables.of(columns.base.model)
    changes = model_derivative(base, models, [each.step for each in own])
    if shared is not None:
        shared.learn(builder, columns.base, dict(enumerate(own)), changes)
    return changes


def test_parameters_that_touch_different_elements_share_a_model() -> None:
    builder, shared = builder_of(), SharedMoves()
    theta = np.full(builder.size, 0.3)
    moved_alone(builder, theta, shared)
    assert shared.components == [j for j in range(builder.size) if j not in MASSES]
    assert sorted(map(len, shared.groups)) == [4, 4, 4]
    theta = theta + np.linspace(0.01, 0.2, theta.size)
    steps = [STEP] * theta.size
    base = builder.build(theta)
    found = shared.changes(builder, base, ChangingTables.of(base.model), theta, steps)
    assert found is not None
    for table, alone in zip(found, moved_alone(builder, theta), strict=True):
        expected = alone[..., shared.components]
        size = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(table, expected, rtol=0.0, atol=1e-9 * size)


def test_what_nobody_is_known_to_touch_ends_sharing(monkeypatch: pytest.MonkeyPatch) -> None:
    builder, shared = builder_of(), SharedMoves()
    theta = np.full(builder.size, 0.3)
    moved_alone(builder, theta, shared)
    (group,) = [each for each in shared.groups if 1 in each]  # dampings
    together = builder.together

    def also_lighter(base: object, values: dict[int, float]) -> object:
        model = together(base, values)  # type: ignore[arg-type]
        if list(values) == group:
            model.body_mass[1] *= 0.9
        return model

    monkeypatch.setattr(builder, "together", also_lighter)
    base = builder.build(theta)
    tables = ChangingTables.of(base.model)
    assert shared.changes(builder, base, tables, theta, [STEP] * theta.size) is None
