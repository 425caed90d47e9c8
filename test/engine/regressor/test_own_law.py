# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's own law of dry friction: where it is not whole, inertia decides on its torque."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.regressor import Motion, Regressor, mujoco_torque, sure_kinds
from sysid_ros.engine.regressor.reversals import row_classes

ARM = """
<mujoco>
  <worldbody>
    <body name="upper">
      <inertial mass="1" pos="0.1 0 0.2" diaginertia="0.01 0.01 0.01"/>
      <joint name="shoulder" axis="0 1 0" armature="0.02" frictionloss="1"/>
      <body name="lower" pos="0 0 0.3">
        <inertial mass="0.2" pos="0.02 0.01 0.05" diaginertia="0.001 0.001 0.001"/>
        <joint name="elbow" axis="0 1 0" armature="0.004" frictionloss="0.5"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize(
    ("element", "name", "attribute"),
    [
        ("joint", "elbow", "frictionloss"),
        ("joint", "elbow", "armature"),
        ("joint", "shoulder", "armature"),
        ("body", "lower", "mass"),
    ],
)
def test_columns_are_the_derivative_of_what_mujoco_computes(
    element: str, name: str, attribute: str
) -> None:
    rng = np.random.default_rng(0)  # about half of the instants are within the law's range
    motion = Motion(*(scale * rng.standard_normal((200, 2)) for scale in (1.0, 0.1, 1.0)))
    spec = mujoco.MjSpec.from_string(ARM)
    model = spec.compile()
    regressor = Regressor(model, friction_of=model)
    before, rows = mujoco_torque(model, motion), regressor.rows(motion)
    np.testing.assert_allclose(rows @ regressor.columns.nominal, before, atol=1e-9)
    part = getattr(spec, element)(name)
    setattr(part, attribute, getattr(part, attribute) * (1.0 + 1e-6))
    other = spec.compile()
    change = rows @ (Regressor(other).columns.nominal - regressor.columns.nominal)
    expected = mujoco_torque(other, motion) - before
    np.testing.assert_allclose(change, expected, atol=5e-3 * np.abs(expected).max())


def test_in_doubt_are_rows_at_the_edges_of_a_soft_law() -> None:
    model = mujoco.MjModel.from_xml_string(ARM)
    law = Regressor(model, friction_of=model).own_law
    assert law is not None
    whole = (law.width / law.rate)[1]
    speeds = np.array([0.0, 0.5, 1.0, 1.5])[:, None] * whole
    steady = Motion(np.zeros((4, 2)), np.hstack([np.zeros((4, 1)), speeds]), np.zeros((4, 2)))
    own = row_classes(model, steady, np.ones(1), 1, 4, law)
    sharp = row_classes(model, steady, np.ones(1), 1, 4)
    np.testing.assert_array_equal(own[:, 1], [0, 0, 2, 0])
    np.testing.assert_array_equal(sharp[:, 1], [2, 0, 0, 0])


def test_rows_in_doubt_count_only_for_joints_with_few_others() -> None:
    dofs, rows = np.array([0, 0, 0, 1, 1, 1]), np.array([30, 10, 60, 3, 7, 90])
    np.testing.assert_array_equal(sure_kinds(dofs, rows), [True, False, False, True, True, True])
    assert sure_kinds(dofs, rows, 40).all()
