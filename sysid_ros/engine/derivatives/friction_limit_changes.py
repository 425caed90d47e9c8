# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of friction limits that depend on velocity and load."""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import TERMS, add_scaled, compiled_apart, load_dependent_slopes
from sysid_ros.engine.derivatives.actuator_changes import add_actuator_force
from sysid_ros.engine.derivatives.directions import ModelDirections, StateChanges
from sysid_ros.engine.mechanics import DAMPING, Tables, Workspace


@compiled_apart
def limit_changes(
    t: Tables, w: Workspace, m: ModelDirections, v: FloatArray, dx: StateChanges
) -> None:
    """Write the derivatives of L.

    Args:
      t: The model.
      w: The instant; ``friction.change`` holds the derivative of all smooth forces, and is
        overwritten.
      m: Directions of the model.
      v: Joint velocities, (nv,).
      dx: Derivatives of the state.
    """
    actuator, out, n = w.forces.actuator, w.friction, dx.q.shape[1]
    n_model, motor = m.dof_fields.shape[2], out.motor_change
    for k in range(t.friction_dofs.size):
        i = t.friction_dofs[k]
        motor[:] = 0.0
        for u in range(t.actuator_dof.size):
            if t.actuator_dof[u] == i:
                by_gear = actuator.transmitted_by_gear[u]
                add_actuator_force(t, w, m, u, actuator.transmitted[u], by_gear, dx, motor, 0)
        by_speed, by_motor, by_external = load_dependent_slopes(
            t.friction_fields[:, i], v[i], out.motor[i], out.external[i], out.by_term
        )
        for c in range(n):
            out.change[i, c] *= by_external
        add_scaled(out.change, i, by_motor - by_external, motor, 0, n)
        add_scaled(out.change, i, by_speed + by_external * t.dof_fields[DAMPING, i], dx.v, i, n)
        add_scaled(out.change, i, by_external * v[i], m.dof_fields[DAMPING], i, n_model)
        for j in range(TERMS):
            add_scaled(out.change, i, out.by_term[j], m.friction_fields[j], i, n_model)
