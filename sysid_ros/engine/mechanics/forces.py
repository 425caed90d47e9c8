# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Springs, dampers and actuators at the joints and along lines, with their derivatives.

What acts on single degrees of freedom has diagonal derivatives in positions and velocities; those
of what acts along a line are kept by line. ``implicit`` is what the integrator treats implicitly:
minus the derivative of the force in the velocity, as far as MuJoCo differentiates it
(mjd_passive_vel, mjd_actuator_vel).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, zeros
from sysid_ros.engine.compiled import compiled
from sysid_ros.engine.mechanics.actuator_tables import (
    BIAS,
    CURRENT,
    DCMOTOR,
    FORCE_HIGH,
    FORCE_LOW,
    GAIN,
    GEAR,
    N_ACTUATOR_FIELDS,
)
from sysid_ros.engine.mechanics.lines import (
    LINE_DAMPING,
    LINE_STIFFNESS,
    N_LINE_FIELDS,
    along,
    spread,
)
from sysid_ros.engine.mechanics.model_tables import (
    DAMPING,
    DAMPING_2,
    DAMPING_3,
    N_DOF_FIELDS,
    SPRINGREF,
    STIFFNESS,
    STIFFNESS_2,
    STIFFNESS_3,
    Tables,
)
from sysid_ros.engine.mechanics.muscles import muscle_bias, muscle_gain

Five = tuple[float, float, float, float, float]


class Forces(NamedTuple):
    """Generalized forces and their derivatives."""

    force: FloatArray  # (nv,)
    by_position: FloatArray  # (nv,)
    by_velocity: FloatArray  # (nv,)
    by_field: FloatArray  # (N_DOF_FIELDS, nv)
    implicit: FloatArray  # (nv,)
    implicit_by_position: FloatArray  # (nv,)
    implicit_by_velocity: FloatArray  # (nv,)
    implicit_by_field: FloatArray  # (N_DOF_FIELDS, nv)
    total: FloatArray  # (nv,): of the actuators, before the joints' limits
    actuator: Actuators
    line: LineForces


class LineForces(NamedTuple):
    """Forces along lines, with the derivatives of their springs and dampers."""

    force: FloatArray  # (n_line,): also of actuators along the line
    by_position: FloatArray  # (n_line,): in the length
    by_velocity: FloatArray  # (n_line,)
    by_field: FloatArray  # (N_LINE_FIELDS, n_line)
    implicit: FloatArray  # (n_line,): also of actuators along the line


class Actuators(NamedTuple):
    """Actuator forces, before transmission unless said otherwise, and their derivatives."""

    force: FloatArray  # (nu,)
    by_position: FloatArray  # (nu,): in the position of the joint, or the length of the line
    by_velocity: FloatArray  # (nu,): likewise
    by_control: FloatArray  # (nu,)
    by_activation: FloatArray  # (nu,): where there is one
    by_field: FloatArray  # (N_ACTUATOR_FIELDS, nu)
    transmitted: FloatArray  # (nu,): gear, or 0 where the joint's force limit cuts changes off
    transmitted_by_gear: FloatArray  # (nu,): likewise force, or 0
    implicit: FloatArray  # (nu,): generalized, the share of what is implicit
    implicit_by_field: FloatArray  # (N_ACTUATOR_FIELDS, nu): likewise
    implicit_by_position: FloatArray  # (nu,): likewise
    implicit_by_velocity: FloatArray  # (nu,)
    implicit_by_control: FloatArray  # (nu,)


def new_forces(nv: int, nu: int, n_line: int) -> Forces:
    """Room for forces."""
    fields = (N_ACTUATOR_FIELDS, nu)
    of_dofs = nv, nv, nv, (N_DOF_FIELDS, nv), nv, nv, nv, (N_DOF_FIELDS, nv), nv
    of_lines = n_line, n_line, n_line, (N_LINE_FIELDS, n_line), n_line
    of_actuators = nu, nu, nu, nu, nu, fields, nu, nu, nu, fields, nu, nu, nu
    parts = Actuators(*zeros(*of_actuators)), LineForces(*zeros(*of_lines))
    tables: list[Any] = [*zeros(*of_dofs), *parts]
    return Forces(*tables)


@compiled
def act(
    t: Tables, q: FloatArray, v: FloatArray, control: FloatArray, changes: bool, out: Forces
) -> None:
    """Evaluate all forces.

    Args:
      t: The model, its lines laid.
      q: Joint positions, (nq,).
      v: Joint velocities, (nv,).
      control: What drives each actuator, its control or its activation, and the current of those
        that have both, (2, nu).
      changes: Whether the derivatives are written too; what is implicit always is.
      out: Written.
    """
    _dampers(t, v, changes, out)
    _springs(t, q, changes, out)
    for k in range(t.lines.equality.size):
        _line(t, k, t.lines.course.extent[k], along(t.lines, k, v), out)
    for k in range(control.shape[1]):
        _actuator(t, k, q, v, (control[0, k], control[1, k]), changes, out)
    _transmit(t, control.shape[1], changes, out)


@compiled
def _dampers(t: Tables, v: FloatArray, changes: bool, out: Forces) -> None:
    for i in range(v.size):
        speed = abs(v[i])
        linear, second, third = (
            t.dof_fields[DAMPING, i],
            t.dof_fields[DAMPING_2, i],
            t.dof_fields[DAMPING_3, i],
        )
        slope = linear + 2.0 * second * speed + 3.0 * third * speed * speed
        out.force[i] = -v[i] * (linear + second * speed + third * speed * speed)
        if t.implicit_damping:
            out.implicit[i] = slope
        if not changes:
            continue
        out.by_velocity[i] = -slope
        out.by_field[DAMPING, i] = -v[i]
        out.by_field[DAMPING_2, i] = -v[i] * speed
        out.by_field[DAMPING_3, i] = -v[i] * speed * speed
        if t.implicit_damping:
            out.implicit_by_position[i] = 0.0
            out.implicit_by_velocity[i] = np.sign(v[i]) * (2.0 * second + 6.0 * third * speed)
            out.implicit_by_field[DAMPING, i] = 1.0
            out.implicit_by_field[DAMPING_2, i] = 2.0 * speed
            out.implicit_by_field[DAMPING_3, i] = 3.0 * speed * speed


@compiled
def _springs(t: Tables, q: FloatArray, changes: bool, out: Forces) -> None:
    for i in range(t.dof_jntid.size):
        x = q[t.jnt_qposadr[t.dof_jntid[i]]] - t.dof_fields[SPRINGREF, i]
        linear, second, third = (
            t.dof_fields[STIFFNESS, i],
            t.dof_fields[STIFFNESS_2, i],
            t.dof_fields[STIFFNESS_3, i],
        )
        out.force[i] -= x * (linear + second * x + third * x * x)
        if not changes:
            continue
        slope = linear + 2.0 * second * x + 3.0 * third * x * x
        out.by_position[i] = -slope
        out.by_field[STIFFNESS, i] = -x
        out.by_field[STIFFNESS_2, i] = -x * x
        out.by_field[STIFFNESS_3, i] = -x * x * x
        out.by_field[SPRINGREF, i] = slope


@compiled
def _line(t: Tables, k: int, extent: float, speed: float, out: Forces) -> None:
    """The spring and the damper along one line."""
    stiffness, damping = t.lines.fields[LINE_STIFFNESS, k], t.lines.fields[LINE_DAMPING, k]
    low, high = t.lines.relaxed[k]
    stretch = extent - min(max(extent, low), high)
    out.line.by_position[k] = -stiffness if stretch != 0.0 else 0.0
    out.line.by_velocity[k] = -damping
    out.line.by_field[LINE_STIFFNESS, k] = -stretch
    out.line.by_field[LINE_DAMPING, k] = -speed
    out.line.implicit[k] = damping if t.implicit else 0.0
    out.line.force[k] = -stiffness * stretch - damping * speed


@compiled
def _actuator(
    t: Tables,
    k: int,
    q: FloatArray,
    v: FloatArray,
    driven: tuple[float, float],
    changes: bool,
    out: Forces,
) -> None:
    """One actuator's own force and its share of what is implicit."""
    control, current = driven
    actuator, fields, dof = out.actuator, t.actuator_fields, t.actuator_dof[k]
    position, velocity, gear = 0.0, 0.0, fields[GEAR, k]
    if dof >= 0:
        position, velocity = q[t.jnt_qposadr[t.dof_jntid[dof]]], v[dof]
    elif t.actuator_line[k] >= 0:
        line = t.actuator_line[k]
        position, velocity = t.lines.course.extent[line], along(t.lines, line, v)
    clamped = control
    if t.actuator_act[k] < 0 or t.actuator_dynamics[k] == DCMOTOR:
        low, high = t.ctrl_range[k]
        clamped = min(max(control, low), high)
    g, b = (
        _gain(t, k, gear * position, gear * velocity),
        _bias(t, k, gear * position, gear * velocity),
    )
    by_length, by_speed = g[1] * clamped + b[1], g[2] * clamped + b[2]
    force = g[0] * clamped + b[0] + fields[CURRENT, k] * current
    low, high = fields[FORCE_LOW, k], fields[FORCE_HIGH, k]
    if not changes:
        inside = low < force < high and t.implicit
        actuator.implicit[k] = -gear * gear * by_speed if inside else 0.0
        actuator.force[k] = min(max(force, low), high)
        return
    actuator.by_field[:, k] = 0.0
    actuator.implicit[k] = 0.0
    actuator.implicit_by_field[:, k] = 0.0
    actuator.implicit_by_position[k] = actuator.implicit_by_velocity[k] = 0.0
    actuator.implicit_by_control[k] = 0.0
    if force <= low or force >= high:
        limit = FORCE_LOW if force <= low else FORCE_HIGH
        actuator.force[k] = fields[limit, k]
        actuator.by_field[limit, k] = 1.0
        actuator.by_position[k] = actuator.by_velocity[k] = actuator.by_control[k] = 0.0
        actuator.by_activation[k] = 0.0
        return
    passed = 1.0 if clamped == control else 0.0
    actuator.force[k] = force
    actuator.by_position[k] = gear * by_length
    actuator.by_velocity[k] = gear * by_speed
    actuator.by_control[k] = g[0] * passed
    actuator.by_activation[k] = g[0]
    if t.actuator_dynamics[k] == DCMOTOR:
        actuator.by_activation[k] = fields[CURRENT, k]
    actuator.by_field[CURRENT, k] = current
    actuator.by_field[GEAR, k] = by_length * position + by_speed * velocity
    _differentiate_by_fields(t, k, (gear * position, gear * velocity), clamped, g, b, actuator)
    if t.implicit:
        square = -gear * gear
        bend = g[3] * clamped, g[4] * clamped
        actuator.implicit[k] = square * by_speed
        actuator.implicit_by_position[k] = square * gear * bend[0]
        actuator.implicit_by_velocity[k] = square * gear * bend[1]
        actuator.implicit_by_control[k] = square * g[2] * passed
        if t.actuator_muscle[k, 0]:
            actuator.implicit_by_field[GAIN, k] = square * clamped * _per(g[2], fields[GAIN, k])
        else:
            actuator.implicit_by_field[GAIN + 2, k] = square * clamped
        actuator.implicit_by_field[BIAS + 2, k] = square
        by_gear = bend[0] * position + bend[1] * velocity
        actuator.implicit_by_field[GEAR, k] = -2.0 * gear * by_speed + square * by_gear


@compiled
def _gain(t: Tables, k: int, length: float, velocity: float) -> Five:
    """An actuator's gain, its slopes by length and velocity, and those of the latter."""
    fields = t.actuator_fields
    if t.actuator_muscle[k, 0]:
        peak, g = fields[GAIN, k], muscle_gain(t.actuator_curve[k, 0], length, velocity)
        return peak * g[0], peak * g[1], peak * g[2], peak * g[3], peak * g[4]
    by_length, by_velocity = fields[GAIN + 1, k], fields[GAIN + 2, k]
    gain = fields[GAIN, k] + by_length * length + by_velocity * velocity
    return gain, by_length, by_velocity, 0.0, 0.0


@compiled
def _bias(t: Tables, k: int, length: float, velocity: float) -> tuple[float, float, float]:
    """An actuator's force without control, and its slopes by length and velocity."""
    fields = t.actuator_fields
    if t.actuator_muscle[k, 1]:
        bias, slope = muscle_bias(t.actuator_curve[k, 1], length)
        return fields[BIAS, k] * bias, fields[BIAS, k] * slope, 0.0
    by_length, by_velocity = fields[BIAS + 1, k], fields[BIAS + 2, k]
    return fields[BIAS, k] + by_length * length + by_velocity * velocity, by_length, by_velocity


@compiled
def _per(force: float, strength: float) -> float:
    """A muscle's force as of one of unit strength."""
    return force / strength if strength != 0.0 else 0.0


@compiled
def _differentiate_by_fields(
    t: Tables,
    k: int,
    motion: tuple[float, float],
    clamped: float,
    g: Five,
    b: tuple[float, float, float],
    out: Actuators,
) -> None:
    """The derivatives of an actuator's force in what makes its gain and its bias."""
    for j in range(3):
        weight = 1.0 if j == 0 else motion[j - 1]
        out.by_field[GAIN + j, k] = weight * clamped
        out.by_field[BIAS + j, k] = weight
    if t.actuator_muscle[k, 0]:
        out.by_field[GAIN, k] = _per(g[0], t.actuator_fields[GAIN, k]) * clamped
    if t.actuator_muscle[k, 1]:
        out.by_field[BIAS, k] = _per(b[0], t.actuator_fields[BIAS, k])


@compiled
def _transmit(t: Tables, nu: int, changes: bool, out: Forces) -> None:
    """Add the actuators' forces to the joints, within the joints' limits, and to lines."""
    actuator, total = out.actuator, out.total
    total[:] = 0.0
    for k in range(nu):
        if t.actuator_dof[k] >= 0:
            total[t.actuator_dof[k]] += t.actuator_fields[GEAR, k] * actuator.force[k]
    for i in range(total.size):
        low, high = t.jnt_forcerange[t.dof_jntid[i]]
        out.force[i] += min(max(total[i], low), high)
    for k in range(nu):
        dof, line = t.actuator_dof[k], t.actuator_line[k]
        if line >= 0:
            actuator.transmitted[k] = t.actuator_fields[GEAR, k]
            actuator.transmitted_by_gear[k] = actuator.force[k]
            out.line.implicit[line] += actuator.implicit[k]
            out.line.force[line] += actuator.transmitted[k] * actuator.force[k]
        if dof < 0:
            continue
        low, high = t.jnt_forcerange[t.dof_jntid[dof]]
        inside = low < total[dof] < high
        if inside:
            out.implicit[dof] += actuator.implicit[k]
        if not changes:
            continue
        actuator.transmitted[k] = t.actuator_fields[GEAR, k] if inside else 0.0
        actuator.transmitted_by_gear[k] = actuator.force[k] if inside else 0.0
        out.by_position[dof] += actuator.transmitted[k] * actuator.by_position[k]
        out.by_velocity[dof] += actuator.transmitted[k] * actuator.by_velocity[k]
        if inside:
            out.implicit_by_position[dof] += actuator.implicit_by_position[k]
            out.implicit_by_velocity[dof] += actuator.implicit_by_velocity[k]
        else:
            actuator.implicit_by_field[:, k] = 0.0
            actuator.implicit_by_control[k] = 0.0
    for line in range(out.line.force.size):
        spread(t.lines, line, out.line.force[line], out.force)
