# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives by gravity, which for the equation of motion is an acceleration of the world.

All bodies feel the reaction to it, -g, and so do accelerometers; what is compensated of a body's
weight grows with it.
"""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    add,
    add_scaled,
    compiled,
    load,
    multiply_inertia,
    scale,
)
from sysid_ros.engine.derivatives.directions import ModelDirections
from sysid_ros.engine.mechanics import Tables, Workspace


@compiled
def add_weight_changes(
    t: Tables, w: Workspace, m: ModelDirections, share: float, out: FloatArray
) -> None:
    """Subtract ``share`` times the derivative of the inverse dynamics by gravity.

    Args:
      t: The model.
      w: The instant.
      m: Directions of the model.
      share: The factor.
      out: Changed, (nv, n).
    """
    d = w.derivatives
    for i in range(t.dof_bodyid.size if m.pulled.size else 0):
        borne = load(d.below_inertia[i])
        if t.compensates:
            s = load(w.pose.subspace[i])
            borne = add(borne, scale(multiply_inertia(d.lifted[t.dof_bodyid[i]], s), -1.0))
        add_along_gravity(m, borne, share, i, out)


@compiled
def add_along_gravity(
    m: ModelDirections, force: Six, share: float, row: int, out: FloatArray
) -> None:
    """Add to a row of ``out`` the change of gravity along a force, times ``share``."""
    for k in range(m.pulled.size):
        axis = m.pulled[k]
        along = force[3] if axis == 0 else (force[4] if axis == 1 else force[5])
        add_scaled(out, row, share * along, m.gravity, axis, m.gravity.shape[1])
