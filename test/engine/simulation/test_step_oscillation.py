# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whether a time step is too long for a model's servos."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.simulation import step_oscillation

MODEL = """<mujoco><option timestep="0.002" integrator="{}"/><worldbody>
  <body><joint name="j" axis="0 0 1" damping="{}" frictionloss=".1"/>
  <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/></body></worldbody><actuator>
  <position joint="j" kp="100" kv="{}" forcerange="-1 1"/></actuator></mujoco>"""


@pytest.mark.parametrize("posture", [0.0, 2.0])  # at its goal, and held back by its range
def test_a_damping_of_a_servo_that_eulers_step_overshoots_by_is_found(posture: float) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL.format("Euler", 0, 200))
    seen = step_oscillation(model, np.array([[0.0], [posture]]))
    assert seen is not None
    assert seen.factor == pytest.approx(1.0 - 0.002 * 200 / 0.1, abs=0.01)
    assert 0.0 < seen.implicit < 1.0
    assert seen.dof == 0
    assert model.actuator_forcelimited[0] == 1  # as it was


@pytest.mark.parametrize(
    ("integrator", "damping", "kv"),
    [("implicitfast", 0, 200), ("Euler", 200, 0), ("Euler", 0, 90), ("implicit", 0, 200)],
)
def test_what_is_stepped_implicitly_or_slowly_does_not_swing(
    integrator: str, damping: float, kv: float
) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL.format(integrator, damping, kv))
    seen = step_oscillation(model, np.zeros((1, 1)))
    assert seen is not None
    assert seen.factor > -1.0


def test_counts_that_are_taken_for_angles_do_not_swing_by_rounding() -> None:
    """It was told of each drive of an arm whose encoders' counts were not scaled."""
    links = "".join(
        f'<body pos="0 0 .3"><joint name="j{k}" axis="0 1 0"/>'
        '<inertial pos="0 0 .15" mass="1" diaginertia=".01 .01 .01"/>'
        for k in range(2)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option integrator="implicitfast"/><worldbody>{links}</body></body></worldbody>'
        '<actuator><position joint="j0" kp="30" kv="1"/><position joint="j1" kp="30" kv="1"/>'
        "</actuator></mujoco>"
    )
    counts = step_oscillation(model, np.array([[0.4, -1.3], [2e6, -1e6]]))
    assert counts is not None and counts.factor > 0.0


def test_nothing_is_said_of_what_mujoco_does_not_differentiate() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL.format("RK4", 0, 200))
    assert step_oscillation(model, np.zeros((1, 1))) is None
