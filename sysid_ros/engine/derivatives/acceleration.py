# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The derivative of one evaluation of the forward dynamics in all directions at once.

With ID the inverse dynamics, a the integrated acceleration, tau the applied and f the constraint
forces, one step obeys

    ID(q, v, a) + armature a + h K a = tau(q, v, u) + f(q, v, qacc)

where K is what the integrator treats implicitly. Its total derivative is linear in the derivative
of a. The constraint solver works on qacc, which solves the same equation without K; rows in their
quadratic zone couple to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import compiled, compiled_apart
from sysid_ros.engine.derivatives.constraint_rows import Rows, constrain, new_rows
from sysid_ros.engine.derivatives.directions import ModelDirections
from sysid_ros.engine.derivatives.forces import Forces, act, new_forces
from sysid_ros.engine.derivatives.linear_algebra import (
    add_scaled,
    copy_matrix,
    copy_vector,
    factorize,
    solve_rows,
    solve_vector,
)
from sysid_ros.engine.derivatives.model_tables import (
    ARMATURE,
    FRICTIONLOSS,
    GEAR,
    INVWEIGHT,
    Tables,
)
from sysid_ros.engine.derivatives.rigid_body import (
    Derivatives,
    Motion,
    Pose,
    differentiate,
    move,
    new_derivatives,
    new_motion,
    new_pose,
    propagate,
    torque_regressor,
)

MAX_NEWTON_STEPS = 50
MAX_HALVINGS = 40
NEWTON_TOLERANCE = 1e-10  # of the largest force


class Workspace(NamedTuple):
    """Everything evaluated at one instant, in room that is reused."""

    pose: Pose
    motion: Motion
    derivatives: Derivatives
    forces: Forces
    rows: Rows
    inertia: FloatArray  # (nv, nv): mass matrix with armature
    system: FloatArray  # (nv, nv): a matrix to factorize
    factor: FloatArray  # (nv, nv)
    qacc: FloatArray  # (nv,)
    residual: FloatArray  # (nv,)
    smooth: FloatArray  # (nv,)
    step: FloatArray  # (nv,)
    trial: FloatArray  # (nv,)
    gradient: FloatArray  # (nv,)
    basis: FloatArray  # (2, 6, 10)
    regressor: FloatArray  # (nv, 10)
    d_qacc: FloatArray  # (nv, n)
    d_rows: FloatArray  # (nv, n)


def new_workspace(nbody: int, nv: int, nu: int, n: int) -> Workspace:
    """Room for ``n`` directions."""
    return Workspace(
        new_pose(nbody, nv),
        new_motion(nbody, nv),
        new_derivatives(nbody, nv),
        new_forces(nv, nu),
        new_rows(nv),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros((2, 6, 10)),
        np.zeros((nv, 10)),
        np.zeros((nv, n)),
        np.zeros((nv, n)),
    )


@compiled
def evaluate(
    t: Tables, w: Workspace, q: FloatArray, v: FloatArray, control: FloatArray, a: FloatArray
) -> float:
    """Evaluate the equation of motion for a step that was simulated.

    Args:
      t: The model.
      w: Written; ``qacc`` and the rows included.
      q: Joint positions before the step, (nq,).
      v: Joint velocities before the step, (nv,).
      control: Controls, (nu,).
      a: The integrated acceleration, (nv,).

    Returns:
      By how much the equation is violated, relative to the forces in it. A contact, or anything
      else that this module does not know of, shows here.
    """
    nv, h = v.size, t.timestep
    _dynamics(t, w, q, v, a)
    act(t, q, v, control, w.forces)
    implicit = False
    for i in range(nv):
        damping = h * w.forces.implicit[i] * a[i]
        implicit |= damping != 0.0
        w.qacc[i] = damping
        w.residual[i] = w.derivatives.torque[i] + t.dof_fields[ARMATURE, i] * a[i]
        w.residual[i] += damping - w.forces.force[i]
    if implicit:
        if not factorize(w.inertia, w.factor):
            return np.inf
        solve_vector(w.factor, w.qacc)
    for i in range(nv):
        w.qacc[i] += a[i]
    constrain(t, q, v, w.qacc, w.rows)
    worst, scale = 0.0, 1e-12
    for i in range(nv):
        worst = max(worst, abs(w.residual[i] - w.rows.force[i]))
        scale = max(scale, abs(w.forces.force[i]), abs(w.derivatives.torque[i]))
    return worst / scale


@compiled_apart
def solve(
    t: Tables, w: Workspace, q: FloatArray, v: FloatArray, control: FloatArray, a: FloatArray
) -> bool:
    """Solve the forward dynamics where they were not simulated: inside a Runge-Kutta step.

    Newton's method with a line search on the constraint solver's problem, which is convex and
    quadratic in pieces.

    Args:
      t: The model.
      w: Written.
      q: Joint positions, (nq,).
      v: Joint velocities, (nv,).
      control: Controls, (nu,).
      a: In: a guess of the acceleration. Out: the acceleration, (nv,).

    Returns:
      Whether it converged.
    """
    nv = v.size
    act(t, q, v, control, w.forces)
    w.qacc[:] = 0.0
    _dynamics(t, w, q, v, w.qacc)
    smooth, step, gradient = w.smooth, w.step, w.gradient
    scale = 1e-12
    for i in range(nv):
        smooth[i] = w.forces.force[i] - w.derivatives.torque[i]
        scale = max(scale, abs(w.derivatives.torque[i]), abs(w.forces.force[i]))
    converged = False
    for _ in range(MAX_NEWTON_STEPS):
        size = _gradient(t, w, q, v, a)
        for i in range(nv):
            step[i] = -gradient[i]
            scale = max(scale, abs(w.rows.force[i]))
        converged = size <= NEWTON_TOLERANCE * scale
        if converged or not _factorize_with(w, w.rows.stiffness, 1.0):
            break
        solve_vector(w.factor, step)
        _line_search(t, w, q, v, a)
    copy_vector(a, w.qacc)
    _dynamics(t, w, q, v, a)
    return converged


@compiled
def _gradient(t: Tables, w: Workspace, q: FloatArray, v: FloatArray, a: FloatArray) -> float:
    """``M a - smooth - f(a)`` into ``w.gradient``; returns its largest entry."""
    constrain(t, q, v, a, w.rows)
    size = 0.0
    for i in range(a.size):
        total = -w.smooth[i] - w.rows.force[i]
        for j in range(a.size):
            total += w.inertia[i, j] * a[j]
        w.gradient[i] = total
        size = max(size, abs(total))
    return size


@compiled
def _line_search(t: Tables, w: Workspace, q: FloatArray, v: FloatArray, a: FloatArray) -> None:
    """Move ``a`` along ``w.step`` to where the slope changes sign, the whole step at most."""
    before = _dot(w.gradient, w.step)
    low, high, length = 0.0, 1.0, 1.0
    for _ in range(MAX_HALVINGS):
        for i in range(a.size):
            w.trial[i] = a[i] + length * w.step[i]
        _gradient(t, w, q, v, w.trial)
        slope = _dot(w.gradient, w.step)
        if slope <= 1e-9 * abs(before):
            low = length
            if length == 1.0 or slope >= -0.1 * abs(before):
                break
        else:
            high = length
        length = 0.5 * (low + high)
    copy_vector(w.trial, a)


@compiled
def _dot(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@compiled
def _dynamics(t: Tables, w: Workspace, q: FloatArray, v: FloatArray, a: FloatArray) -> None:
    move(t, q, w.pose)
    propagate(t, w.pose, v, a, w.motion)
    differentiate(t, w.pose, w.motion, w.derivatives)
    for i in range(v.size):
        for j in range(v.size):
            w.inertia[i, j] = w.derivatives.mass[i, j]
        w.inertia[i, i] += t.dof_fields[ARMATURE, i]


@compiled_apart
def tangent(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    v: FloatArray,
    a: FloatArray,
    dq: FloatArray,
    dv: FloatArray,
    control_direction: npt.NDArray[np.int64],
    control_change: FloatArray,
    h: float,
    out: FloatArray,
) -> bool:
    """Derivative of the integrated acceleration at the instant last evaluated.

    Args:
      t: The model.
      w: The instant.
      m: Directions of the model.
      v: Joint velocities, (nv,).
      a: The integrated acceleration, (nv,).
      dq: Derivatives of the positions, (nv, n).
      dv: Derivatives of the velocities, (nv, n).
      control_direction: Directions that change the controls, (n_control,).
      control_change: Derivatives of the controls, (n_control, nu).
      h: The timestep where damping is implicit, 0 where it is not, s.
      out: Written, (nv, n).

    Returns:
      Whether the linear systems could be solved.
    """
    nv, n = dq.shape
    _row_changes(w, m, dq, dv)
    quadratic, damped = False, False
    for i in range(nv):
        quadratic |= w.rows.stiffness[i] > 0.0
        damped |= h * w.forces.implicit[i] != 0.0
    if quadratic and damped:
        _force_changes(t, w, m, a, dq, dv, control_direction, control_change, h, out)
        propagate(t, w.pose, v, w.qacc, w.motion)
        differentiate(t, w.pose, w.motion, w.derivatives)
        _force_changes(t, w, m, w.qacc, dq, dv, control_direction, control_change, 0.0, w.d_qacc)
    else:
        _force_changes(t, w, m, a, dq, dv, control_direction, control_change, h, out)
        copy_matrix(out, w.d_qacc)
    if quadratic:
        for i in range(nv):
            add_scaled(w.d_qacc, i, 1.0, w.d_rows, i, n)
        if not _factorize_with(w, w.rows.stiffness, 1.0):
            return False
        solve_rows(w.factor, w.d_qacc)
        for i in range(nv):
            add_scaled(w.d_rows, i, -w.rows.stiffness[i], w.d_qacc, i, n)
    for i in range(nv):
        add_scaled(out, i, 1.0, w.d_rows, i, n)
    if quadratic and not damped:
        copy_matrix(w.d_qacc, out)
        return True
    if not _factorize_with(w, w.forces.implicit, h):
        return False
    solve_rows(w.factor, out)
    return True


@compiled
def _factorize_with(w: Workspace, diagonal: FloatArray, scale: float) -> bool:
    nv = diagonal.size
    for i in range(nv):
        for j in range(nv):
            w.system[i, j] = w.inertia[i, j]
        w.system[i, i] += scale * diagonal[i]
    return factorize(w.system, w.factor)


@compiled
def _row_changes(w: Workspace, m: ModelDirections, dq: FloatArray, dv: FloatArray) -> None:
    """Derivative of the constraint forces at a fixed acceleration, into ``w.d_rows``."""
    nv, n = dq.shape
    w.d_rows[:] = 0.0
    n_model = m.dof_fields.shape[2]
    for i in range(nv):
        add_scaled(w.d_rows, i, w.rows.by_position[i], dq, i, n)
        add_scaled(w.d_rows, i, w.rows.by_velocity[i], dv, i, n)
        add_scaled(w.d_rows, i, w.rows.by_frictionloss[i], m.dof_fields[FRICTIONLOSS], i, n_model)
        add_scaled(w.d_rows, i, w.rows.by_invweight[i], m.dof_fields[INVWEIGHT], i, n_model)


@compiled
def _force_changes(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    a: FloatArray,
    dq: FloatArray,
    dv: FloatArray,
    control_direction: npt.NDArray[np.int64],
    control_change: FloatArray,
    h: float,
    out: FloatArray,
) -> None:
    """Derivative of all forces but the constraints', at a fixed acceleration ``a``.

    ``h`` is the timestep where damping is implicit, and 0 where it is not.
    """
    nv, n = dq.shape
    d, f = w.derivatives, w.forces
    out[:] = 0.0
    for i in range(nv):
        for j in range(nv):
            by_position, by_velocity = -d.by_position[i, j], -d.by_velocity[i, j]
            if i == j:
                by_position += f.by_position[i]
                by_velocity += f.by_velocity[i] - h * a[i] * f.implicit_by_velocity[i]
            if by_position != 0.0 or by_velocity != 0.0:
                for c in range(n):
                    out[i, c] += by_position * dq[j, c] + by_velocity * dv[j, c]
    n_model = m.dof_fields.shape[2]
    for k in range(m.dof_touched.shape[0]):
        field, i = m.dof_touched[k]
        scale = f.by_field[field, i] - h * a[i] * f.implicit_by_field[field, i]
        if field == ARMATURE:
            scale -= a[i]
        add_scaled(out, i, scale, m.dof_fields[field], i, n_model)
    _actuator_changes(t, w, m, a, control_direction, control_change, h, out)
    _inertia_changes(t, w, m, out)


@compiled
def _actuator_changes(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    a: FloatArray,
    control_direction: npt.NDArray[np.int64],
    control_change: FloatArray,
    h: float,
    out: FloatArray,
) -> None:
    actuator = w.forces.actuator
    n_model = m.dof_fields.shape[2]
    for k in range(m.actuator_touched.shape[0]):
        field, u = m.actuator_touched[k]
        dof = t.actuator_dof[u]
        scale = actuator.transmitted[u] * actuator.by_field[field, u]
        scale -= h * a[dof] * actuator.implicit_by_field[field, u]
        if field == GEAR:
            scale += actuator.transmitted_by_gear[u]
        add_scaled(out, dof, scale, m.actuator_fields[field], u, n_model)
    for k in range(control_direction.size):
        for u in range(t.actuator_dof.size):
            change = actuator.transmitted[u] * actuator.by_control[u] * control_change[k, u]
            out[t.actuator_dof[u], control_direction[k]] += change


@compiled
def _inertia_changes(t: Tables, w: Workspace, m: ModelDirections, out: FloatArray) -> None:
    for body in range(1, t.body_parentid.size):
        first, last = m.body_first[body], m.body_first[body + 1]
        if first == last:
            continue
        torque_regressor(t, w.pose, w.motion, body, w.basis, w.regressor)
        i = t.body_lastdof[body]
        while i >= 0:
            for k in range(first, last):
                total = 0.0
                for j in range(10):
                    total += w.regressor[i, j] * m.inertia_change[k, j]
                out[i, m.inertia_direction[k]] -= total
            i = t.dof_parentid[i]
