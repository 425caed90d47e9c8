# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of what drives actuators, their activations and their forces."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import add_scaled, compiled, compiled_apart
from sysid_ros.engine.derivatives.directions import ModelDirections, StateChanges
from sysid_ros.engine.mechanics import (
    CURRENT,
    DCMOTOR,
    FILTEREXACT,
    GEAR,
    INTEGRATOR,
    MUSCLE,
    TIME,
    Tables,
    Workspace,
    muscle_rate,
)


@compiled
def drive(t: Tables, control: FloatArray, activation: FloatArray, out: FloatArray) -> None:
    """Write what drives each actuator, (2, nu).

    That is its activation where it has one, else its control, and of a DC motor both.
    """
    for u in range(control.size):
        i, motor = t.actuator_act[u], t.actuator_dynamics[u] == DCMOTOR
        out[0, u] = control[u] if i < 0 or motor else activation[i]
        out[1, u] = activation[i] if i >= 0 and motor else 0.0


@compiled_apart
def add_actuator_force(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    u: int,
    scale: float,
    by_gear: float,
    dx: StateChanges,
    out: FloatArray,
    row: int,
) -> None:
    """Add ``scale`` times an actuator force's derivative, and ``by_gear`` that of its gear."""
    actuator, dof, line = w.forces.actuator, t.actuator_dof[u], t.actuator_line[u]
    by_position, by_velocity = actuator.by_position[u], actuator.by_velocity[u]
    n, n_model = dx.q.shape[1], m.dof_fields.shape[2]
    if dof >= 0:
        add_scaled(out, row, scale * by_position, dx.q, dof, n)
        add_scaled(out, row, scale * by_velocity, dx.v, dof, n)
    elif line >= 0:
        add_scaled(out, row, scale * by_position, w.moved_lines.extent, line, n)
        add_scaled(out, row, scale * by_velocity, w.moved_lines.speed, line, n)
    for k in range(m.actuator_touched.shape[0]):
        field, other = m.actuator_touched[k]
        if other == u:
            change = scale * actuator.by_field[field, u]
            if field == GEAR:
                change += by_gear
            add_scaled(out, row, change, m.actuator_fields[field], u, n_model)
    by_input = scale * actuator.by_control[u], scale * actuator.by_activation[u]
    add_input_change(t, u, by_input, dx, out, row)


@compiled
def add_input_change(
    t: Tables,
    u: int,
    by_input: tuple[float, float],
    dx: StateChanges,
    out: FloatArray,
    row: int,
) -> None:
    """Add the derivative by an actuator's control, where this drives it, and its activation."""
    by_control, by_activation = by_input
    if t.actuator_act[u] >= 0:
        add_scaled(out, row, by_activation, dx.activation, t.actuator_act[u], out.shape[1])
        if t.actuator_dynamics[u] != DCMOTOR:
            return
    for k in range(dx.control_direction.size):
        out[row, dx.control_direction[k]] += by_control * dx.control[k, u]


@compiled
def _advanced(
    t: Tables, u: int, control: float, activation: float
) -> tuple[float, float, float, float]:
    """The activation of an actuator after a step, before its limits; see mj_nextActivation.

    Returns:
      It, and its slopes by the activation before, the control and the first time constant.
    """
    low, high = t.ctrl_range[u]
    given, h, time = min(max(control, low), high), t.timestep, t.actuator_fields[TIME, u]
    passed = 1.0 if given == control else 0.0
    if t.actuator_dynamics[u] == MUSCLE:
        rate, kept, driven, by_time = muscle_rate(t.actuator_times[u], time, given, activation)
        return activation + h * rate, 1.0 + h * kept, h * driven * passed, h * by_time
    if t.actuator_dynamics[u] == INTEGRATOR:
        return activation + h * given, 1.0, h * passed, 0.0
    time = max(time, 1e-15)
    reached = h / time
    slope = -reached / time
    if t.actuator_dynamics[u] == FILTEREXACT:
        slope *= np.exp(-reached)
        reached = 1.0 - np.exp(-reached)
    excess = given - activation
    return activation + reached * excess, 1.0 - reached, reached * passed, slope * excess


@compiled
def next_activation(t: Tables, u: int, control: float, activation: float, force: float) -> float:
    """The activation of an actuator after a step; see mj_nextActivation.

    ``force`` is the actuator's, which in a DC motor the current after the step makes.
    """
    if t.actuator_dynamics[u] == DCMOTOR:
        return force / _motor_constant(t, u)[0]
    low, high = t.act_range[u]
    after: float = min(max(_advanced(t, u, control, activation)[0], low), high)
    return after


@compiled
def _motor_constant(t: Tables, u: int) -> tuple[float, float, float]:
    """The torque of a DC motor per current, and its slopes by its rows CURRENT and TIME."""
    share, time = t.actuator_fields[CURRENT, u], t.actuator_fields[TIME, u]
    rise = np.exp(t.timestep / time)
    return share * rise, rise, -share * rise * t.timestep / (time * time)


@compiled
def advance_activations(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    control: FloatArray,
    activation: FloatArray,
    dx: StateChanges,
) -> None:
    """Advance ``dx.activation`` by a step; see mj_nextActivation.

    Args:
      t: The model.
      w: The instant before the step.
      m: Directions of the model.
      control: Controls of the step, (nu,).
      activation: Before the step, (na,).
      dx: Derivatives before the step; those of the activations are overwritten.
    """
    change, scratch, n_model = dx.activation, w.line_change, m.dof_fields.shape[2]
    for u in range(t.actuator_act.size):
        i = t.actuator_act[u]
        if i < 0:
            continue
        if t.actuator_dynamics[u] == DCMOTOR:
            constant, by_share, by_time = _motor_constant(t, u)
            scratch[:] = 0.0
            add_actuator_force(t, w, m, u, 1.0 / constant, 0.0, dx, scratch, 0)
            less = -w.forces.actuator.force[u] / (constant * constant)
            add_scaled(scratch, 0, less * by_share, m.actuator_fields[CURRENT], u, n_model)
            add_scaled(scratch, 0, less * by_time, m.actuator_fields[TIME], u, n_model)
            for c in range(change.shape[1]):
                change[i, c] = scratch[0, c]
            continue
        after, kept, driven, by_time = _advanced(t, u, control[u], activation[i])
        low, high = t.act_range[u]
        inside = low < after < high
        for c in range(change.shape[1]):
            change[i, c] = kept * change[i, c] if inside else 0.0
        if inside:
            add_scaled(change, i, by_time, m.actuator_fields[TIME], u, n_model)
            for k in range(dx.control_direction.size):
                change[i, dx.control_direction[k]] += driven * dx.control[k, u]
