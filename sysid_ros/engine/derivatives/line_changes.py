# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of lines, and of the forces along them at a fixed acceleration."""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import add_scaled, compiled
from sysid_ros.engine.derivatives.actuator_changes import add_actuator_force, add_input_change
from sysid_ros.engine.derivatives.directions import ModelDirections, StateChanges
from sysid_ros.engine.mechanics import (
    LINE_ARMATURE,
    LINE_DAMPING,
    Tables,
    Workspace,
    related_along,
)


@compiled
def move_lines(t: Tables, w: Workspace, v: FloatArray, dx: StateChanges) -> None:
    """Derivatives of lengths, of their speeds and of the coefficients of paths."""
    lines, moved, n = t.lines, w.moved_lines, dx.q.shape[1]
    for k in range(lines.equality.size):
        moved.extent[k] = 0.0
        moved.speed[k] = 0.0
        first, last = lines.first[k], lines.first[k + 1]
        bends = lines.path.first[k] < lines.path.first[k + 1]
        for i in range(first, last):
            moved.turned[i] = 0.0
            for j in range(last - first if bends else 0):
                add_scaled(moved.turned, i, lines.course.bend[i, j], dx.q, lines.dof[first + j], n)
            dof, coefficient = lines.dof[i], lines.coefficient[i]
            for c in range(n):
                moved.extent[k, c] += coefficient * dx.q[dof, c]
                moved.speed[k, c] += coefficient * dx.v[dof, c] + v[dof] * moved.turned[i, c]


@compiled
def line_changes(t: Tables, w: Workspace, m: ModelDirections, line: int, dx: StateChanges) -> None:
    """Derivative of the force along a line, into scratch."""
    f, change, moved, n = w.forces, w.line_change, w.moved_lines, dx.q.shape[1]
    n_model = m.dof_fields.shape[2]
    change[:] = 0.0
    add_scaled(change, 0, f.line.by_position[line], moved.extent, line, n)
    add_scaled(change, 0, f.line.by_velocity[line], moved.speed, line, n)
    for k in range(m.line_touched.shape[0]):
        field, other = m.line_touched[k]
        if other != line:
            continue
        add_scaled(change, 0, f.line.by_field[field, line], m.line_fields[field], line, n_model)
    for u in range(t.actuator_line.size):
        if t.actuator_line[u] == line:
            by_gear = f.actuator.transmitted_by_gear[u]
            add_actuator_force(t, w, m, u, f.actuator.transmitted[u], by_gear, dx, change, 0)


@compiled
def line_inertia_changes(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    line: int,
    a: FloatArray,
    dx: StateChanges,
    h: float,
    out: FloatArray,
) -> None:
    """Add the derivative of armature and implicit damping along a line, at a fixed acceleration."""
    lines, turned, n = t.lines, w.moved_lines.turned, out.shape[1]
    _held_changes(t, w, m, line, dx, h)
    bends = lines.path.first[line] < lines.path.first[line + 1]
    held = h * w.forces.line.implicit[line]
    for i in range(lines.first[line], lines.first[line + 1]):
        speed, dof = related_along(lines, line, i, a), lines.dof[i]
        add_scaled(out, dof, -lines.coefficient[i] * speed, w.line_change, 0, n)
        if bends and held != 0.0:
            for j in range(lines.first[line], lines.first[line + 1]):
                scale = held * speed if i == j else 0.0
                if lines.related[dof, lines.dof[j]]:
                    scale += held * lines.coefficient[i] * a[lines.dof[j]]
                add_scaled(out, dof, -scale, turned, j, n)


@compiled
def _held_changes(
    t: Tables, w: Workspace, m: ModelDirections, line: int, dx: StateChanges, h: float
) -> None:
    """Derivative of armature and ``h`` times implicit damping along a line, into scratch."""
    moved, change, f = w.moved_lines, w.line_change, w.forces.actuator
    n, n_model = change.shape[1], m.dof_fields.shape[2]
    change[:] = 0.0
    for k in range(m.line_touched.shape[0]):
        field, other = m.line_touched[k]
        if other == line and field == LINE_ARMATURE:
            add_scaled(change, 0, 1.0, m.line_fields[field], line, n_model)
        if other == line and field == LINE_DAMPING and t.implicit:
            add_scaled(change, 0, h, m.line_fields[field], line, n_model)
    for k in range(m.actuator_touched.shape[0]):
        field, u = m.actuator_touched[k]
        if t.actuator_line[u] == line:
            scale = h * f.implicit_by_field[field, u]
            add_scaled(change, 0, scale, m.actuator_fields[field], u, n_model)
    for u in range(t.actuator_line.size):
        if t.actuator_line[u] == line:
            add_scaled(change, 0, h * f.implicit_by_position[u], moved.extent, line, n)
            add_scaled(change, 0, h * f.implicit_by_velocity[u], moved.speed, line, n)
            held = h * f.implicit_by_control[u]
            add_input_change(t, u, (held, held), dx, change, 0)
