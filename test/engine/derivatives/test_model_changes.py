# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of a model by parameters that share compilations."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.directions import ModelChanges
from sysid_ros.engine.derivatives.model_changes import SharedMoves, model_derivative
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.simulation import CandidateBuilder, perturbed

LEG = """<body name="{0}" pos="{1} 0 0"><joint name="{0}_hip" axis="0 1 0"/>
<geom size="0.05" pos="0.1 0 -0.2" mass="1"/><body name="{0}_shin" pos="0 0 -0.4">
<joint name="{0}_knee" axis="0 1 0"/><geom size="0.04" pos="0 0 -0.3" mass="0.5"/></body></body>"""
ACTUATORS = """<actuator><position name="{0}_servo" joint="{0}_hip" kp="20" dampratio="1"/>
</actuator>"""
LEGS = ("left", "right")
STEP = 1e-6
MASSES = (6, 13)  # writing one scales the inertia, so that it is not written anew by itself


def builder_of() -> CandidateBuilder:
    bodies = "".join(LEG.format(leg, k) for k, leg in enumerate(LEGS))
    actuators = "".join(map(ACTUATORS.format, LEGS))
    params = ParameterDict()
    for leg in LEGS:
        for joint in (f"{leg}_hip", f"{leg}_knee"):
            for name in ("armature", "damping", "frictionloss"):
                own = AttributeModifier("joint", joint, name)
                params.add(Parameter(f"{joint}_{name}", 0.1, 0.0, 1.0, modifier=own))
        mass = AttributeModifier("body", f"{leg}_shin", "mass")
        params.add(Parameter(f"{leg}_mass", 0.5, 0.0, 5.0, modifier=mass))
    text = f"<mujoco><worldbody>{bodies}</worldbody>{actuators}</mujoco>"
    return CandidateBuilder(mujoco.MjSpec.from_string(text), params)


def moved_alone(
    builder: CandidateBuilder, theta: FloatArray, shared: SharedMoves | None = None
) -> ModelChanges:
    ones = np.ones(theta.size)
    columns = perturbed(builder, theta, 9.0 * ones, ones, step=STEP)
    own = columns.moved
    models = [each.candidate.model for each in own]
    changes = model_derivative(columns.base.model, models, [each.step for each in own])
    if shared is not None:
        shared.learn(builder, columns.base, dict(enumerate(own)), changes)
    return changes


def test_parameters_that_touch_different_elements_share_a_model() -> None:
    builder, shared = builder_of(), SharedMoves()
    theta = np.full(builder.size, 0.3)
    moved_alone(builder, theta, shared)
    assert shared.components == [j for j in range(builder.size) if j not in MASSES]
    # An armature changes the inverse weights of its leg's joints, the others belong to one joint.
    assert sorted(map(len, shared.groups)) == [2, 2, 4, 4]
    theta = theta + np.linspace(0.01, 0.2, theta.size)
    steps = [STEP] * theta.size
    found = shared.changes(builder, builder.build(theta), theta, steps)
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
    assert shared.changes(builder, builder.build(theta), theta, [STEP] * theta.size) is None
