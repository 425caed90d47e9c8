# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compile ahead of the first fit: ``python -m sysid_ros.sysid.sensitivity``."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.sysid.sensitivity.compilation import entry_points
from sysid_ros.sysid.sensitivity.directions import RolloutDirections
from sysid_ros.sysid.sensitivity.model_changes import model_derivative
from sysid_ros.sysid.sensitivity.model_tables import tables_of
from sysid_ros.sysid.sensitivity.rollout import new_buffers
from sysid_ros.sysid.sensitivity.sensors import readings

SMALLEST = """<mujoco><worldbody><body><joint name="hinge"/><geom size="1"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator><sensor><jointpos joint="hinge"/></sensor></mujoco>"""


def main() -> None:
    """Run the pass on the smallest model, which compiles it and keeps it on disk."""
    model = mujoco.MjModel.from_xml_string(SMALLEST)
    tables, steps = tables_of(model), 1
    directions = RolloutDirections(
        np.zeros((2, 1)), np.zeros(0, dtype=np.int64), np.zeros((steps, 0, 1))
    )
    derivatives = np.zeros((steps, 1, 1))
    entry_points().differentiate_steps(
        tables,
        model_derivative(model, [], []),
        readings(model, np.zeros(1, dtype=np.int64)),
        directions,
        np.zeros((steps + 1, 2)),
        np.zeros((steps, 1)),
        new_buffers(tables, 1),
        derivatives,
    )
    rows = np.zeros((1, 4), dtype=np.int64)
    entry_points().interpolate(
        derivatives, rows, np.ones((1, 4)), np.zeros(1, dtype=np.int64), np.zeros((1, 1))
    )


if __name__ == "__main__":
    main()
