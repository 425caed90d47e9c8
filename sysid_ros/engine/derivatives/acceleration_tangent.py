# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The derivative of the integrated acceleration in all directions at once.

The total derivative of the equation of motion (:mod:`sysid_ros.engine.mechanics.acceleration`) is
linear in the derivative of a. Rows of constraints in their quadratic zone couple to the derivative
of qacc.
"""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    add_scaled,
    clear_matrix,
    compiled,
    compiled_apart,
    copy_matrix,
    dot,
    into_body,
    load,
    multiply_inertia,
    solve_rows,
)
from sysid_ros.engine.derivatives.actuator_changes import add_input_change
from sysid_ros.engine.derivatives.directions import ModelDirections, StateChanges
from sysid_ros.engine.derivatives.displacement_changes import add_displaced_forces
from sysid_ros.engine.derivatives.fluid_changes import add_fluid_changes
from sysid_ros.engine.derivatives.friction_limit_changes import limit_changes
from sysid_ros.engine.derivatives.gravity_changes import add_weight_changes
from sysid_ros.engine.derivatives.line_changes import (
    line_changes,
    line_inertia_changes,
    move_lines,
)
from sysid_ros.engine.mechanics import (
    ARMATURE,
    FRICTIONLOSS,
    GEAR,
    INVWEIGHT,
    LINE_FRICTIONLOSS,
    LINE_INVWEIGHT,
    Motion,
    Pose,
    Tables,
    Workspace,
    add_along,
    add_footing_changes,
    add_product,
    differentiate,
    factorize_with,
    felt,
    force_regressor,
    propagate,
    set_acceleration,
    site_wrench,
    solve_implicitly,
    spread_changes,
)


@compiled_apart
def tangent(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    v: FloatArray,
    a: FloatArray,
    dx: StateChanges,
    h: float,
    solver_too: bool,
    out: FloatArray,
) -> bool:
    """Derivative of the integrated acceleration at the instant last evaluated.

    Args:
      t: The model.
      w: The instant.
      m: Directions of the model.
      v: Joint velocities, (nv,).
      a: The integrated acceleration, (nv,).
      dx: Derivatives of the state.
      h: The timestep where damping is implicit, 0 where it is not, s.
      solver_too: Whether ``w.d_qacc`` must become the derivative of ``qacc``, and ``w.motion`` and
        ``w.derivatives`` the motion with it: what accelerometers measure.
      out: Written, (nv, n).

    Returns:
      Whether the linear systems could be solved.
    """
    nv, n = dx.q.shape
    move_lines(t, w, v, dx)
    quadratic, damped = w.footing.pressed[0] > 0, t.holds and h != 0.0
    for i in range(nv):
        quadratic |= w.rows.stiffness[i] > 0.0
        damped |= h * w.forces.implicit[i] != 0.0
    for k in range(t.lines.equality.size):
        quadratic |= w.line_rows.stiffness[k] > 0.0
        damped |= h * w.forces.line.implicit[k] != 0.0
    separate = damped and (quadratic or solver_too)
    # At rest for friction that depends on the load, then as integrated, then as the solver has it.
    for part in range(0 if t.friction_dofs.size else 1, 3 if separate else 2):
        acceleration, target, step = a, out, h
        if part == 0:
            w.step[:] = 0.0
            acceleration, target, step = w.step, w.friction.change, 0.0
        elif part == 2:
            acceleration, target, step = w.qacc, w.d_qacc, 0.0
        if part == 2 or t.friction_dofs.size:
            set_acceleration(t, w, v, acceleration, step)
        _force_changes(t, w, m, v, acceleration, dx, step, target)
        if part == 0:
            limit_changes(t, w, m, v, dx)
    if not separate:
        copy_matrix(out, w.d_qacc)
        if t.turns and h != 0.0:
            set_acceleration(t, w, v, a, h)
    _row_changes(t, w, m, dx)
    if quadratic or separate:
        for i in range(nv):
            add_scaled(w.d_qacc, i, 1.0, w.d_rows, i, n)
        if not factorize_with(t, w, w.rows.stiffness, w.line_rows.stiffness, True, 1.0):
            return False
        solve_rows(w.factor, w.d_qacc)
        for i in range(nv):
            add_scaled(w.d_rows, i, -w.rows.stiffness[i], w.d_qacc, i, n)
        for k in range(t.lines.equality.size):
            w.line_change[:] = 0.0
            add_along(t.lines, k, -w.line_rows.stiffness[k], w.d_qacc, w.line_change)
            spread_changes(t.lines, k, 0.0, w.moved_lines.turned, w.line_change, w.d_rows)
        if w.footing.pressed[0] > 0:
            add_product(w.footing.stiffness, -1.0, w.d_qacc, w.d_rows)
    for i in range(nv):
        add_scaled(out, i, 1.0, w.d_rows, i, n)
    if quadratic and not damped:
        copy_matrix(w.d_qacc, out)
        return True
    if not solve_implicitly(t, w, h, out):
        return False
    if solver_too and not separate:
        copy_matrix(out, w.d_qacc)
    return True


@compiled
def _row_changes(t: Tables, w: Workspace, m: ModelDirections, dx: StateChanges) -> None:
    """Derivative of the constraint forces at a fixed acceleration, into ``w.d_rows``."""
    nv, n = dx.q.shape
    clear_matrix(w.d_rows)
    n_model = m.dof_fields.shape[2]
    for i in range(nv):
        add_scaled(w.d_rows, i, w.rows.by_position[i], dx.q, i, n)
        add_scaled(w.d_rows, i, w.rows.by_velocity[i], dx.v, i, n)
        add_scaled(w.d_rows, i, w.rows.by_frictionloss[i], m.dof_fields[FRICTIONLOSS], i, n_model)
        add_scaled(w.d_rows, i, w.rows.by_invweight[i], m.dof_fields[INVWEIGHT], i, n_model)
    for k in range(t.lines.equality.size):
        rows, change, moved = w.line_rows, w.line_change, w.moved_lines
        change[:] = 0.0
        add_scaled(change, 0, rows.by_position[k], moved.extent, k, n)
        add_scaled(change, 0, rows.by_velocity[k], moved.speed, k, n)
        for i in range(t.lines.first[k], t.lines.first[k + 1]):
            scale = -rows.stiffness[k] * w.qacc[t.lines.dof[i]]
            add_scaled(change, 0, scale, moved.turned, i, n)
        add_scaled(change, 0, rows.by_frictionloss[k], m.line_fields[LINE_FRICTIONLOSS], k, n_model)
        add_scaled(change, 0, rows.by_invweight[k], m.line_fields[LINE_INVWEIGHT], k, n_model)
        spread_changes(t.lines, k, rows.force[k], moved.turned, change, w.d_rows)
    add_footing_changes(w.footing, m.body_weight, m.displacements, dx.q, dx.v, w.d_rows)
    for k in range(t.friction_dofs.size):
        i = t.friction_dofs[k]
        add_scaled(w.d_rows, i, w.rows.by_frictionloss[i], w.friction.change, i, n)


@compiled
def _force_changes(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    v: FloatArray,
    a: FloatArray,
    dx: StateChanges,
    h: float,
    out: FloatArray,
) -> None:
    """Derivative of all forces but the constraints', at a fixed acceleration ``a``.

    ``h`` is the timestep where damping is implicit, and 0 where it is not.
    """
    nv, n = dx.q.shape
    f = w.forces
    clear_matrix(out)
    _motion_changes(t, w, m, 1.0, dx, out)
    for i in range(nv):
        by_position = f.by_position[i] - h * a[i] * f.implicit_by_position[i]
        by_velocity = f.by_velocity[i] - h * a[i] * f.implicit_by_velocity[i]
        add_scaled(out, i, by_position, dx.q, i, n)
        add_scaled(out, i, by_velocity, dx.v, i, n)
    n_model = m.dof_fields.shape[2]
    for k in range(m.dof_touched.shape[0]):
        field, i = m.dof_touched[k]
        scale = f.by_field[field, i] - h * a[i] * f.implicit_by_field[field, i]
        if field == ARMATURE:
            scale -= a[i]
        add_scaled(out, i, scale, m.dof_fields[field], i, n_model)
    _actuator_changes(t, w, m, a, dx, h, out)
    for k in range(t.lines.equality.size):
        line_changes(t, w, m, k, dx)
        spread_changes(t.lines, k, f.line.force[k], w.moved_lines.turned, w.line_change, out)
        line_inertia_changes(t, w, m, k, a, dx, h, out)
    if t.in_fluid:
        add_fluid_changes(t, w, m, out)
    if t.turns and h != 0.0 and not w.pendulum.alone[0]:  # nothing turns one joint alone
        _turning_changes(t, w, m, v, a, dx, h, out)


@compiled_apart
def _motion_changes(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    scale: float,
    dx: StateChanges,
    out: FloatArray,
) -> None:
    """Subtract ``scale`` times the derivative of the inverse dynamics."""
    nv, n, d = dx.q.shape[0], dx.q.shape[1], w.derivatives
    for i in range(nv):
        for j in range(nv):
            by_position, by_velocity = scale * d.by_position[i, j], scale * d.by_velocity[i, j]
            if by_position != 0.0 or by_velocity != 0.0:
                for c in range(n):
                    out[i, c] -= by_position * dx.q[j, c] + by_velocity * dx.v[j, c]
    _inertia_changes(t, w, m, scale, out)
    add_weight_changes(t, w, m, scale, out)
    if m.displacements.direction.size:
        add_displaced_forces(t, w, m.displacements, scale, out)


@compiled
def _turning_changes(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    v: FloatArray,
    a: FloatArray,
    dx: StateChanges,
    h: float,
    out: FloatArray,
) -> None:
    """Subtract the derivative of Coriolis forces that are implicit, at a fixed acceleration.

    Bias forces are quadratic in the velocity, so that their slope C by it takes h a to

        C h a = (bias(v + h a) - bias(v - h a)) / 2,

    from which what else they contain drops out. The motion is another then.
    """
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(v.size):
            w.ahead[i] = v[i] + sign * h * a[i] * t.dof_turned[i]
        w.step[:] = 0.0
        propagate(t, w.pose, w.ahead, w.step, w.motion)
        differentiate(t, w.pose, w.motion, w.forces.actuator.force, w.derivatives)
        _motion_changes(t, w, m, 0.5 * sign, dx, out)


@compiled
def _actuator_changes(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    a: FloatArray,
    dx: StateChanges,
    h: float,
    out: FloatArray,
) -> None:
    actuator = w.forces.actuator
    n_model = m.dof_fields.shape[2]
    for k in range(m.actuator_touched.shape[0]):
        field, u = m.actuator_touched[k]
        dof = t.actuator_dof[u]
        if dof < 0:
            continue
        scale = actuator.transmitted[u] * actuator.by_field[field, u]
        scale -= h * a[dof] * actuator.implicit_by_field[field, u]
        if field == GEAR:
            scale += actuator.transmitted_by_gear[u]
        add_scaled(out, dof, scale, m.actuator_fields[field], u, n_model)
    for u in range(t.actuator_dof.size):
        if t.actuator_dof[u] >= 0:
            passed = actuator.transmitted[u]
            held = h * a[t.actuator_dof[u]] * actuator.implicit_by_control[u]
            by_control = passed * actuator.by_control[u] - held
            by_input = by_control, passed * actuator.by_activation[u] - held
            add_input_change(t, u, by_input, dx, out, t.actuator_dof[u])
    for k in range(t.site_actuators.size):
        u = t.site_actuators[k]
        wrench, i = site_wrench(t, w.pose, u), t.body_lastdof[t.actuator_bodyid[u]]
        while i >= 0:
            share = dot(load(w.pose.subspace[i]), wrench)
            by_input = share * actuator.by_control[u], share * actuator.by_activation[u]
            add_input_change(t, u, by_input, dx, out, i)
            for j in range(m.actuator_touched.shape[0]):
                field, other = m.actuator_touched[j]
                if other == u:
                    scale = share * actuator.by_field[field, u]
                    add_scaled(out, i, scale, m.actuator_fields[field], u, n_model)
            i = t.dof_parentid[i]


@compiled
def _inertia_changes(
    t: Tables, w: Workspace, m: ModelDirections, scale: float, out: FloatArray
) -> None:
    for body in range(1, t.body_parentid.size):
        first, last = m.body_first[body], m.body_first[body + 1]
        if first == last:
            continue
        _torque_regressor(t, w.pose, w.motion, body, w.basis, w.regressor)
        i = t.body_lastdof[body]
        while i >= 0:
            for k in range(first, last):
                total = 0.0
                for j in range(10):
                    total += w.regressor[i, j] * m.inertia_change[k, j]
                out[i, m.inertia_direction[k]] -= scale * total
            i = t.dof_parentid[i]
    for k in range(m.lifted.size):
        body = m.lifted[k]
        weight = multiply_inertia(
            w.pose.inertia[body], (0.0, 0.0, 0.0, t.gravity[0], t.gravity[1], t.gravity[2])
        )
        i = t.body_lastdof[body]
        while i >= 0:
            share = -scale * dot(load(w.pose.subspace[i]), weight)
            add_scaled(out, i, share, m.compensation, body, m.compensation.shape[1])
            i = t.dof_parentid[i]


@compiled
def _torque_regressor(
    t: Tables, pose: Pose, motion: Motion, body: int, basis: FloatArray, out: FloatArray
) -> None:
    """Compute the derivative of the joint torques by one body's inertial parameters.

    Args:
      t: The model.
      pose: Where everything is.
      motion: How everything moves.
      body: The body.
      basis: Scratch, (2, 6, 10).
      out: Written for the degrees of freedom that move the body, (nv, 10).
    """
    force_regressor(pose, motion, body, felt(t, motion, body), basis)
    force = basis[1]
    i = t.body_lastdof[body]
    while i >= 0:
        s = into_body(load(pose.subspace[i]), pose.rotation[body], pose.position[body])
        for k in range(10):
            total = 0.0
            for row in range(6):
                total += s[row] * force[row, k]
            out[i, k] = total
        i = t.dof_parentid[i]
