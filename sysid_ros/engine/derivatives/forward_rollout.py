# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rollouts by the pass's own equation of motion, for models without contacts and scalar sensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import compiled, copy_vector, solve_vector
from sysid_ros.engine.derivatives.actuator_changes import drive, next_activation
from sysid_ros.engine.derivatives.sensors import ACTUATOR, FORCE, POSITION, TENDON, Readings
from sysid_ros.engine.mechanics import (
    GEAR,
    Tables,
    Workspace,
    act,
    advance,
    along,
    copy_inertia,
    factorize_with,
    fall,
    hang,
    lay,
    limit_friction,
    move,
    new_workspace,
    propagate,
    put_in_place,
    resist,
    settle,
    swing,
)

MAX_ACCELERATION = 1e10  # mjMAXVAL, where MuJoCo calls a simulation unstable


class Room(NamedTuple):
    """Room for the rollouts of one thread."""

    workspace: Workspace
    drive: FloatArray  # (2, nu): what drives the actuators
    a: FloatArray  # (nv,): qacc
    integrated: FloatArray  # (nv,): acceleration of the integrator


def new_room(t: Tables) -> Room:
    """Room for a model without feet."""
    nv, nu = t.dof_bodyid.size, t.actuator_dof.size
    return Room(
        new_workspace(t, 0, 0),
        np.zeros((2, nu)),
        np.zeros(nv),
        np.zeros(nv),
    )


@compiled
def simulate_rollouts(
    t: Tables,
    r: Readings,
    steps: IntArray,
    control: FloatArray,
    b: Room,
    states: FloatArray,
    out: FloatArray,
    whole: IntArray,
) -> None:
    """Simulate.

    Args:
      t: The model, without feet, that holds nothing implicitly but joints and lines.
      r: The readings, scalar ones only.
      steps: Of each rollout, (w,).
      control: Controls of every step, (sum of the steps, nu).
      b: Room to work in.
      states: Positions, velocities and activations, rollout after rollout, (sum of the steps + w,
        nq + nv + na). In: at the start of each. Out: also after every step.
      out: Written, (sum of the steps, n_reading): row k is read before step k.
      whole: Written, (w,): 1 where the rollout could be followed to its end.
    """
    first, nq, nv = 0, t.qpos0.size, t.dof_bodyid.size
    room = b.workspace
    put_in_place(t, room.pose, room.motion)
    hang(t, room.pose, room.motion, room.derivatives, room.pendulum, True)
    for w in range(steps.size):
        b.a[:] = 0.0
        whole[w] = 1
        for k in range(first, first + steps[w]):
            before, after = states[k + w], states[k + w + 1]
            q, v, activation = before[:nq], before[nq : nq + nv], before[nq + nv :]
            drive(t, control[k], activation, b.drive)
            if not _accelerate(t, b, q, v):
                whole[w] = 0
                break
            _read(t, b.workspace, r, q, v, out[k])
            for i in range(nv):
                after[nq + i] = v[i] + t.timestep * b.integrated[i]
            advance(t, q, after[nq : nq + nv], t.timestep, after[:nq])
            for u in range(t.actuator_act.size):
                i = t.actuator_act[u]
                if i >= 0:
                    force = b.workspace.forces.actuator.force[u]
                    after[nq + nv + i] = next_activation(
                        t, u, control[k, u], activation[i], force
                    )  # fmt: skip
        first += steps[w]


@compiled
def _accelerate(t: Tables, b: Room, q: FloatArray, v: FloatArray) -> bool:
    """Write the acceleration of the constraint solver and that of the integrator."""
    w = b.workspace
    b.integrated[:] = 0.0
    if w.pendulum.alone[0]:
        swing(t, w.pendulum, q, w.derivatives)
        act(t, q, v, b.drive, False, w.forces)
    else:
        move(t, q, w.pose)
        lay(t, q, w.pose, False)
        act(t, q, v, b.drive, False, w.forces)
        propagate(t, w.pose, v, b.integrated, w.motion)
        fall(t, w.pose, w.motion, w.forces.actuator.force, w.derivatives)
        if t.in_fluid:
            resist(t, w.pose, w.motion, w.resistance, w.derivatives)
    copy_inertia(t, w)
    limit_friction(t, w.forces, w.derivatives, v, b.integrated, w.friction)
    if not settle(t, w, q, v, b.a):
        return False
    implicit = False
    for i in range(v.size):
        implicit |= w.forces.implicit[i] != 0.0
        b.integrated[i] = w.smooth[i] + w.rows.force[i]
        if not abs(b.a[i]) < MAX_ACCELERATION:
            return False
        if t.friction_dofs.size and w.rows.by_position[i] != 0.0:
            return False  # MuJoCo's friction feels the limit's force of the step before
    for k in range(t.lines.equality.size):
        implicit |= w.forces.line.implicit[k] != 0.0
    if not implicit:
        copy_vector(b.a, b.integrated)
        return True
    if not factorize_with(t, w, w.forces.implicit, w.forces.line.implicit, False, t.timestep):
        return False
    solve_vector(w.factor, b.integrated)
    return True


@compiled
def _read(
    t: Tables, w: Workspace, r: Readings, q: FloatArray, v: FloatArray, out: FloatArray
) -> None:
    """Write the readings of scalar sensors at one instant; see :func:`.sensors.read`."""
    for i in range(r.item.size):
        quantity, element, item = r.quantity[i], r.element[i], r.item[i]
        gear, dof, line = 1.0, item, item if element == TENDON else -1
        if element == ACTUATOR:
            dof, line = t.actuator_dof[item], t.actuator_line[item]
            gear = t.actuator_fields[GEAR, item]
        if quantity == FORCE:
            if element == ACTUATOR:
                value = w.forces.actuator.force[item]
            else:
                low, high = t.jnt_forcerange[t.dof_jntid[dof]]
                value = min(max(w.forces.total[dof], low), high)
        elif line >= 0:
            extent = t.lines.course.extent[line]
            value = extent if quantity == POSITION else along(t.lines, line, v)
            value *= gear
        else:
            value = q[t.jnt_qposadr[t.dof_jntid[dof]]] if quantity == POSITION else v[dof]
            value *= gear
        out[r.row[i]] = value
