# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction limits that depend on velocity and load, with the law that simulations run.

The limit is Kc + L(v, tm, te) with tm the motor's torque at the joint and te that of everything
else but friction and damping (:mod:`sysid_ros.engine.friction.native`). The torques of other
constraints, which simulations take from the step before, are left out: where a limit or a contact
acts on such a joint, the equation of motion shows it.
"""

from __future__ import annotations

from typing import NamedTuple

from sysid_ros.arrays import FloatArray, zeros
from sysid_ros.engine.compiled import TERMS, compiled, load_dependent
from sysid_ros.engine.mechanics.constraint_rows import friction_row
from sysid_ros.engine.mechanics.forces import Forces
from sysid_ros.engine.mechanics.model_tables import DAMPING, FRICTIONLOSS, INVWEIGHT, Tables
from sysid_ros.engine.mechanics.rigid_body import Derivatives


class FrictionLimits(NamedTuple):
    """The largest friction of each degree of freedom, and what it depends on."""

    limit: FloatArray  # (nv,)
    motor: FloatArray  # (nv,): tm
    external: FloatArray  # (nv,): te
    by_term: FloatArray  # (TERMS,): scratch
    resistance: FloatArray  # (nv,): of the constraint's row, in its quadratic zone
    damping: FloatArray  # (nv,): of its reference acceleration
    change: FloatArray  # (nv, n): derivative of L, zero without a law
    motor_change: FloatArray  # (1, n): scratch


def new_friction_limits(nv: int, n: int) -> FrictionLimits:
    """Room for limits."""
    return FrictionLimits(*zeros(nv, nv, nv, TERMS, nv, nv, (nv, n), (1, n)))


@compiled
def limit_friction(
    t: Tables, f: Forces, d: Derivatives, v: FloatArray, a: FloatArray, out: FrictionLimits
) -> None:
    """Write limits and rows, from the inverse dynamics at an acceleration ``a``, (nv,)."""
    for i in range(v.size):
        out.limit[i] = t.dof_fields[FRICTIONLOSS, i]
        if out.limit[i] > 0.0:
            out.resistance[i], out.damping[i] = friction_row(
                t, t.dof_solref[i], t.dof_solimp[i], t.dof_fields[INVWEIGHT, i]
            )
    for k in range(t.friction_dofs.size):
        i = t.friction_dofs[k]
        low, high = t.jnt_forcerange[t.dof_jntid[i]]
        out.motor[i] = min(max(f.total[i], low), high)
        smooth = f.force[i] - d.torque[i]
        for j in range(v.size):
            smooth += d.mass[i, j] * a[j]
        out.external[i] = smooth - out.motor[i] + t.dof_fields[DAMPING, i] * v[i]
        row = t.friction_fields[:, i]
        out.limit[i] += load_dependent(row, 0, v[i], out.motor[i], out.external[i])
