# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiled pass along one rollout: what it tells of states that are no numbers."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.compilation import entry_points
from sysid_ros.engine.derivatives.directions import (
    BatchDirections,
    ChangingTables,
    all_covered,
    model_directions,
)
from sysid_ros.engine.derivatives.model_changes import model_derivative
from sysid_ros.engine.derivatives.rollout import Rollouts, new_buffers
from sysid_ros.engine.derivatives.sensors import readings
from sysid_ros.engine.mechanics import EXACT, no_touches, tables_of

TEXT = """<mujoco><option timestep="0.002" integrator="{integrator}"/><worldbody><body>
<joint name="hinge" axis="0 1 0" damping="0.1" frictionloss="0.1"/>
<geom size=".05" pos=".1 0 0" mass="1"/></body></worldbody>
<sensor><jointpos joint="hinge"/></sensor></mujoco>"""


def violations(model: mujoco.MjModel, states: FloatArray) -> FloatArray:
    """Of a rollout by its states, (steps + 1, 2): what its equation lacks, and the most in it."""
    tables, steps = tables_of(model), len(states) - 1
    changes = model_derivative(ChangingTables.of(model), [], [])
    directions = BatchDirections(
        np.zeros((1, 2, 1)), np.zeros(0, dtype=np.int64), np.zeros((steps, 0, model.nu))
    )
    rollouts = Rollouts(
        np.array([steps]), states, np.zeros((steps, model.nu)), no_touches(steps),
        all_covered(steps),
    )  # fmt: skip
    violation = np.zeros((steps, 2))
    entry_points().differentiate_rollouts(
        tables, model_directions(tables, changes), readings(model, np.zeros(1, dtype=np.int64)),
        directions, rollouts, new_buffers(tables, 1, 0), np.zeros((steps, 1, 1)), violation,
    )  # fmt: skip
    return violation


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "RK4"])
@pytest.mark.parametrize("what", [0, 1])
def test_a_state_that_is_no_number_is_covered_by_no_equation(integrator: str, what: int) -> None:
    model = mujoco.MjModel.from_xml_string(TEXT.format(integrator=integrator))
    data, states = mujoco.MjData(model), np.zeros((5, 2))
    for k in range(1, 5):
        mujoco.mj_step(model, data)
        states[k] = data.qpos[0], data.qvel[0]
    lacking, largest = violations(model, states).T
    assert np.all(lacking <= EXACT * largest)
    states[2, what] = np.nan
    lacking, largest = violations(model, states).T
    first = 2 - what  # a step's acceleration is told by the velocity behind it
    assert not lacking[first] <= EXACT * largest[first]
