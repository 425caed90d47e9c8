# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A pass over the smallest model, which makes numba compile or load the entry points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from sysid_ros.engine.derivatives.directions import BatchDirections, model_directions
from sysid_ros.engine.derivatives.model_changes import model_derivative
from sysid_ros.engine.derivatives.model_tables import tables_of
from sysid_ros.engine.derivatives.rollout import new_buffers
from sysid_ros.engine.derivatives.sensors import readings

SMALLEST = """<mujoco><worldbody><body><joint name="hinge"/><geom size="1"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator><sensor><jointpos joint="hinge"/></sensor></mujoco>"""


def run(differentiate_rollouts: Callable[..., Any], interpolate: Callable[..., Any]) -> None:
    """Call both entry points once, with arguments of the types that every fit has."""
    model = mujoco.MjModel.from_xml_string(SMALLEST)
    tables, steps = tables_of(model), 1
    directions = BatchDirections(
        np.zeros((1, 2, 1)), np.zeros(0, dtype=np.int64), np.zeros((steps, 0, 1))
    )
    derivatives = np.zeros((steps, 1, 1))
    differentiate_rollouts(
        tables,
        model_directions(model_derivative(model, [], [])),
        readings(model, np.zeros(1, dtype=np.int64)),
        directions,
        np.array([steps]),
        np.zeros((steps + 1, 2)),
        np.zeros((steps, 1)),
        new_buffers(tables, 1),
        derivatives,
        np.zeros((steps, 2)),
    )
    first = np.zeros(1, dtype=np.int64)
    rows, weights = np.zeros((1, 4), dtype=np.int64), np.ones((1, 4))
    interpolate(derivatives, rows, weights, first, first, first, np.zeros(1), np.zeros((1, 1)))
