# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forward sensitivities along several rollouts of one model."""

from __future__ import annotations

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import compiled
from sysid_ros.engine.derivatives.directions import (
    BatchDirections,
    ModelDirections,
    RolloutDirections,
)
from sysid_ros.engine.derivatives.model_tables import Tables
from sysid_ros.engine.derivatives.rollout import Buffers, differentiate_steps
from sysid_ros.engine.derivatives.sensors import Readings


@compiled
def differentiate_rollouts(
    t: Tables,
    m: ModelDirections,
    r: Readings,
    d: BatchDirections,
    steps: IntArray,
    states: FloatArray,
    control: FloatArray,
    b: Buffers,
    out: FloatArray,
    violation: FloatArray,
) -> None:
    """Derivatives of all readings of rollouts; see :func:`differentiate_steps`.

    Args:
      t: The model.
      m: Directions of the model; the first of all directions.
      r: The readings.
      d: Starts and controls in all directions.
      steps: Of each rollout, (w,).
      states: Positions and velocities at the start and after every step, rollout after rollout,
        (sum of the steps + w, nq + nv).
      control: Controls of every step, (sum of the steps, nu).
      b: Room to work in.
      out: Written, (sum of the steps, n_sensor, n).
      violation: Written, (sum of the steps, 2).
    """
    first = 0
    for w in range(steps.size):
        last = first + steps[w]
        own = RolloutDirections(d.start[w], d.control_direction, d.control_change[first:last])
        differentiate_steps(
            t, m, r, own, states[first + w : last + w + 1], control[first:last], b,
            out[first:last], violation[first:last],
        )  # fmt: skip
        first = last
