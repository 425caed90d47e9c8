# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Effects of parameters from few compiled models, against those of each parameter by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.directions import ChangingTables, ModelChanges
from sysid_ros.engine.derivatives.model_changes import model_derivative
from sysid_ros.engine.derivatives.parameter_effects import (
    TABLE_STEP,
    Effects,
    ParameterEffects,
    told_apart,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.simulation import CandidateBuilder, perturbed

ARM = """<mujoco><worldbody><body name="a"><joint name="hip" axis="0 1 0"/>
<geom size="0.1" mass="1"/><body name="b" pos="0 0 0.3"><joint name="knee" axis="0 1 0"/>
<geom size="0.1" mass="0.5" pos="0.1 0 0.1"/></body></body></worldbody></mujoco>"""
Write = Callable[[Any, FloatArray], None]
N_TABLES = len(ModelChanges._fields)


def armature(joint: str) -> Write:
    def write(spec: Any, value: FloatArray) -> None:
        spec.joint(joint).armature = value[0]

    return write


def friction(spec: Any, value: FloatArray) -> None:
    """Curved."""
    spec.joint("knee").frictionloss = value[0] ** 2


def knee_and_hip(spec: Any, value: FloatArray) -> None:
    """Two numbers of one parameter."""
    spec.joint("knee").springref, spec.joint("hip").springref = value


def limit(spec: Any, value: FloatArray) -> None:
    """What the pass does not follow."""
    spec.joint("knee").range = [-value[0], value[0]]


def length(spec: Any, value: FloatArray) -> None:
    spec.body("b").pos = [0.0, 0.0, value[0]]


def mount(spec: Any, value: FloatArray) -> None:
    """Curved, and felt by all joints."""
    spec.body("a").quat = [1.0, 0.5 * value[0], 0.0, 0.0]


class Counted(CandidateBuilder):
    """Counts the models that are compiled."""

    compiled = 0

    def _compile(self, params: ParameterDict) -> mujoco.MjModel:
        self.compiled += 1
        return super()._compile(params)

    def _with_changed(self, *given: Any) -> mujoco.MjModel | None:
        self.compiled += 1
        return super()._with_changed(*given)


def builder_of(*writes: Write, sizes: dict[Write, int] | None = None) -> Counted:
    params = ParameterDict()
    for k, write in enumerate(writes):

        def modify(spec: Any, parameter: Parameter, write: Write = write) -> None:
            write(spec, parameter.value)

        start = np.full((sizes or {}).get(write, 1), 0.2 + 0.1 * k)
        params.add(Parameter(f"p{k}", start, 0.0, 5.0, modifier=modify))
    return Counted(mujoco.MjSpec.from_string(ARM), params)


def effects_at(
    effects: ParameterEffects, builder: Counted, theta: FloatArray
) -> tuple[Effects, int]:
    """The effects, and how many models were compiled for them."""
    base, before = builder.build(theta), builder.compiled
    found = effects.at(builder, base, theta, np.ones(theta.size), ())
    return found, builder.compiled - before


def compare(found: Effects, builder: Counted, theta: FloatArray) -> None:
    """With those of each parameter alone."""
    ones = np.ones(theta.size)
    moved = perturbed(builder, theta, 9.0 * ones, ones, step=TABLE_STEP, components=found.followed)
    alone = model_derivative(
        ChangingTables.of(moved.base.model),
        [each.candidate.model for each in moved.moved],
        [each.step for each in moved.moved],
    )
    for table, expected in zip(found.changes, alone, strict=True):
        np.testing.assert_allclose(table, expected, rtol=1e-8, atol=1e-8)
    assert any(table.any() for table in alone)


def test_two_models_tell_all_parameters_apart_and_a_long_way_ends_compiling() -> None:
    builder = builder_of(armature("hip"), armature("knee"), friction)
    effects, theta = ParameterEffects(np.full(3, 5.0)), np.array([0.2, 0.3, 0.4])
    found, compiled = effects_at(effects, builder, theta)
    assert found.followed == (0, 1, 2)
    assert compiled == 3  # all moved, once in another order, and all by their own shares
    compare(found, builder, theta)
    counts = []
    for step in ([0.1, 0.2, 0.1], [0.1, -0.1, 0.2], [1e-9, 1e-9, 1e-9], [0.3, 0.1, -0.1]):
        theta = theta + step
        found, compiled = effects_at(effects, builder, theta)
        counts.append(compiled)
        compare(found, builder, theta)
    assert counts == [2, 1, 1, 1]  # one for the curved one, and at first one for the straight ones


def test_what_moved_far_on_a_line_is_not_confirmed_again() -> None:
    builder = builder_of(armature("hip"), armature("knee"))
    effects, theta = ParameterEffects(np.full(2, 5.0)), np.array([0.2, 0.3])
    counts = []
    for step in ([0.0, 0.0], [0.1, 0.2], [-0.05, 0.1], [1e-9, 0.0], [0.3, 0.3]):
        theta = theta + step
        found, compiled = effects_at(effects, builder, theta)
        counts.append(compiled)
        compare(found, builder, theta)
    assert counts[1:] == [1, 0, 0, 0]


def test_a_line_that_breaks_off_is_found_out() -> None:
    def clipped(spec: Any, value: FloatArray) -> None:
        spec.joint("knee").damping[0] = max(value[0], 0.5)

    builder = builder_of(armature("hip"), armature("knee"), clipped)
    effects, theta = ParameterEffects(np.full(3, 5.0)), np.array([0.2, 0.3, 1.0])
    for step in ([0.0, 0.0, 0.0], [0.1, 0.1, -0.1], [0.1, 0.1, -0.1], [0.1, 0.1, -0.5]):
        theta = theta + step
        found, _ = effects_at(effects, builder, theta)
        compare(found, builder, theta)


def test_the_product_of_two_parameters_is_no_line_of_either() -> None:
    def first(spec: Any, value: FloatArray) -> None:
        spec.joint("knee").damping[0] = value[0]

    def factor(spec: Any, value: FloatArray) -> None:
        spec.joint("knee").damping[0] = spec.joint("knee").damping[0] * value[0]

    builder = builder_of(armature("hip"), first, factor)
    effects, theta = ParameterEffects(np.full(3, 5.0)), np.array([0.2, 0.3, 1.0])
    for step in ([0.0] * 3, [0.1, 0.1, 0.0], [0.1, 0.0, 0.4], [0.1, 0.1, 0.0], [0.1, 0.2, 0.2]):
        theta = theta + step
        found, _ = effects_at(effects, builder, theta)
        compare(found, builder, theta)


def test_vectors_and_what_is_not_followed_are_moved_alone() -> None:
    builder = builder_of(
        armature("hip"), armature("knee"), friction, knee_and_hip, limit, sizes={knee_and_hip: 2}
    )
    effects, theta = ParameterEffects(np.full(6, 5.0)), builder._params.as_vector()
    found, _ = effects_at(effects, builder, theta)
    assert found.followed == (0, 1, 2, 3, 4)
    assert list(effects.unfollowed) == [5]
    compare(found, builder, theta)


def test_places_of_bodies_are_told_apart_like_all_else() -> None:
    """What follows from them, inverse inertia, is no number of their own that changes."""
    builder = builder_of(armature("hip"), armature("knee"), friction, length, mount)
    effects, theta = ParameterEffects(np.full(5, 5.0)), builder._params.as_vector()
    found, compiled = effects_at(effects, builder, theta)
    assert found.followed == (0, 1, 2, 3, 4)
    assert compiled <= 3
    compare(found, builder, theta)
    for step in (0.1, 0.2):
        theta = theta + step
        found, compiled = effects_at(effects, builder, theta)
        compare(found, builder, theta)


def test_what_had_no_effect_at_first_is_no_part_of_anothers() -> None:
    def late(spec: Any, value: FloatArray) -> None:
        spec.joint("knee").damping[0] = max(0.0, value[0] - 0.45)

    builder = builder_of(armature("hip"), friction, late)
    effects, theta = ParameterEffects(np.full(3, 5.0)), builder._params.as_vector()
    for step in (0.0, 0.1, 0.2, 0.1):
        theta = theta + step
        found, _ = effects_at(effects, builder, theta)
        compare(found, builder, theta)


def test_only_numbers_that_one_parameter_changes_tell_it() -> None:
    old, shares = [np.ones(3)] * N_TABLES, np.array([0.5, 0.7, 0.8])
    steps, own = np.array([1e-6, 2e-6, -1e-6]), np.array([3.0, -2.0, 5.0])
    whole, partly = [old[0] + own * steps] * N_TABLES, [old[0] + shares * own * steps] * N_TABLES
    found = told_apart(old, (whole, partly), shares, steps)
    assert found is not None
    for table in found:
        np.testing.assert_allclose(table, np.diag(own), rtol=1e-8)
    both = (
        [old[0] + [5e-6, 0.0, 0.0]] * N_TABLES,
        [old[0] + [0.5 * 3e-6 + 0.7 * 2e-6, 0.0, 0.0]] * N_TABLES,
    )
    assert told_apart(old, both, shares, steps) is None


@pytest.mark.parametrize("limit", [np.inf, -np.inf])
def test_infinite_limits_stay(limit: float) -> None:
    tables = [np.array([limit, 1.0])] * N_TABLES
    moved = [np.array([limit, 1.0 + 1e-6])] * N_TABLES, [np.array([limit, 1.0 + 0.6e-6])] * N_TABLES
    found = told_apart(tables, moved, np.array([0.6]), np.array([1e-6]))
    assert found is not None
    np.testing.assert_allclose(found.dof_fields[:, 0], [0.0, 1.0])
