# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of a model's tables that last from one point to the next."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.model_changes import KnownChanges, model_derivative

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
    changes = model_derivative(model_at(values, x), moved, [STEP] * len(x))
    return KnownChanges.at(x, model_at(values, x), range(len(x)), changes)


@pytest.mark.parametrize(
    ("values", "step", "lasting", "hold"),
    [
        (summed, [0.1, 0.2, -0.3, 0.01], [0, 1, 2], True),  # inverse inertia is no line
        (summed, [0.1, 0.2, 0.0, 0.01], [0, 1, 2], True),
        (product, [0.1, 0.2, -0.3, 0.01], [0], True),
        (product, [0.1, 0.2, 0.0, 0.01], [0, 1, 2], False),  # by the second it is more than it was
        (kinked, [0.1, -0.9, 0.2, 0.01], [0], True),
        (kinked, [0.1, 0.2, 0.1, 0.01], [0, 1], True),  # what had no effect is none that lasts
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
    model = model_at(values, after.theta)
    assert before.lasting(after.theta, model) == lasting
    change = np.zeros(4)
    change[lasting] = STEP * np.linspace(1.0, 2.0, len(lasting))
    assert before.hold(model, model_at(values, after.theta + change), change) == hold
    if hold:
        others = [j for j in range(4) if j not in lasting]
        fresh = type(after.changes)(*(table[..., others] for table in after.changes))
        joined = before.joined(range(4), lasting, fresh)
        for one, right in zip(joined, after.changes, strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-6, atol=1e-6)
