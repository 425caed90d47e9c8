# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finite differences of rollouts whose constraint solver stops before it converges."""

from __future__ import annotations

import chains
import mujoco
import numpy as np
from derivative_errors import differences, jacobians

from sysid_ros.engine.problem.windowed_problem import WindowedProblem

# A stack that sways on a driven cart: the solver of all contacts together stops by their sum.
STACK = """<mujoco><option timestep="0.002" tolerance="{tolerance}" iterations="200"
  cone="elliptic" impratio="10"/><default><geom condim="6" friction="0.9 0.02 0.01"/></default>
  <worldbody><body name="cart"><joint name="cart" type="slide" axis="1 0 0" damping="5"
  stiffness="300"/><geom type="box" size="0.3 0.2 0.05" mass="3"/></body>
  <body name="left" pos="-0.1 0 0.0998"><freejoint/><geom size="0.05" mass="1"/></body>
  <body name="right" pos="0.1 0 0.0998"><freejoint/><geom size="0.05" mass="0.1"/></body>
  <body name="top" pos="0 0 0.1695"><freejoint/><geom type="box" size="0.2 0.1 0.02" mass="0.5"/>
  </body></worldbody><actuator><motor name="a" joint="cart" gear="4"/></actuator><sensor>
  <jointpos name="mjSENS_JOINTPOS0" joint="cart"/><framepos name="p" objtype="xbody" objname="top"/>
  <framequat name="q" objtype="xbody" objname="top"/></sensor></mujoco>"""


def stack(tolerance: float) -> WindowedProblem:
    root = mujoco.MjSpec.from_string(STACK.format(tolerance=tolerance))
    params = chains.of_elements(("joint", "cart", "damping", 5.0), ("body", "top", "mass", 0.5))
    return chains.problem(root, params, engine="reference")


def test_a_solver_that_stops_early_leaves_no_chance_in_columns() -> None:
    coarse, fine = stack(1e-4), stack(1e-14)
    point = coarse.initial_point()
    found, every = jacobians(coarse, point)[0], np.arange(40)
    right = differences(fine, point, 1e-6, 1e-6, every)[0]
    sizes = np.linalg.norm(right, axis=0)
    errors = np.linalg.norm(found - right, axis=0) / np.maximum(sizes, 1e-3 * sizes.max())
    assert np.median(errors) < 1e-3  # 2e-2 at the model's own tolerance
    assert np.quantile(errors, 0.9) < 1e-2  # 1e-1


def test_the_residual_is_that_of_the_model_as_it_is() -> None:
    coarse, fine = stack(1e-4), stack(1e-14)
    point = coarse.initial_point()
    (rows, *_), (plain, *_) = coarse.window_rows(point), coarse.residuals(point)
    residual = rows[: plain.size, -1] * coarse.windows[0].sigma(coarse.noise)
    np.testing.assert_allclose(residual, plain, rtol=1e-12, atol=1e-15)
    assert np.abs(residual - fine.residuals(point)[0]).max() > 1e-5
