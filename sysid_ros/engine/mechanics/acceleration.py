# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One evaluation of the forward dynamics: its equation of motion checked, or solved.

With ID the inverse dynamics, a the integrated acceleration, tau the applied and f the constraint
forces, one step obeys

    ID(q, v, a) + armature a + h K a = tau(q, v, u) + f(q, v, qacc)

where K is what the integrator treats implicitly. The constraint solver works on qacc, which solves
the same equation without K.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    compiled,
    compiled_apart,
    copy_vector,
    factorize,
    solve_vector,
)
from sysid_ros.engine.mechanics.connection_forces import connect
from sysid_ros.engine.mechanics.constraint_rows import constrain
from sysid_ros.engine.mechanics.contact_forces import stand
from sysid_ros.engine.mechanics.displacements import Displacements
from sysid_ros.engine.mechanics.fluid_forces import differentiate_resistance, resist
from sysid_ros.engine.mechanics.forces import act
from sysid_ros.engine.mechanics.general_contacts import Touches
from sysid_ros.engine.mechanics.kinematics import (
    move,
    propagate,
)
from sysid_ros.engine.mechanics.lines import (
    LINE_ARMATURE,
    related_along,
)
from sysid_ros.engine.mechanics.load_friction import (
    limit_friction,
)
from sysid_ros.engine.mechanics.model_tables import ARMATURE, Tables
from sysid_ros.engine.mechanics.path_lengths import lay
from sysid_ros.engine.mechanics.pendulum import swing
from sysid_ros.engine.mechanics.rigid_body import differentiate
from sysid_ros.engine.mechanics.workspace import Workspace, copy_inertia, factorize_with

# Of the largest force: what an equation that holds may lack, and what a force may change by that
# MuJoCo's constraint solver leaves to the steps that it does not take.
EXACT, NEARBY = 1e-4, 1e-2
MAX_SETTLING_STEPS = 5
MAX_NEWTON_STEPS = 50
MAX_HALVINGS = 40
NEWTON_TOLERANCE = 1e-10  # of the largest force


@compiled
def evaluate(
    t: Tables,
    w: Workspace,
    q: FloatArray,
    v: FloatArray,
    control: FloatArray,
    a: FloatArray,
    touches: Touches,
    k: int,
    displacements: Displacements,
    violation: FloatArray,
) -> bool:
    """Evaluate the equation of motion for a step that was simulated.

    Args:
      t: The model.
      w: Written; ``qacc`` and the rows included. In place are bodies that do not move.
      q: Joint positions before the step, (nq,).
      v: Joint velocities before the step, (nv,).
      control: What drives each actuator, (2, nu).
      a: The integrated acceleration, (nv,).
      touches: Of the rollout.
      k: The step.
      displacements: By what parameters change.
      violation: Written, (2,): the largest force that the equation lacks, and the largest in it. A
        contact, or anything else that this module does not know of, shows here.

    Returns:
      Whether it could be evaluated.
    """
    nv, h = v.size, t.timestep
    if w.pendulum.alone[0]:
        swing(t, w.pendulum, q, w.derivatives)
    else:
        move(t, q, w.pose)
        lay(t, q, w.pose, True)
    act(t, q, v, control, True, w.forces)
    set_acceleration(t, w, v, a, h)
    copy_inertia(t, w)
    implicit = False
    for i in range(nv):
        damping = w.forces.implicit[i] * a[i]
        for j in range(nv if t.holds else 0):
            damping += w.held[i, j] * a[j]
        damping *= h
        implicit |= damping != 0.0
        w.qacc[i] = damping
        w.residual[i] = w.derivatives.torque[i] + t.dof_fields[ARMATURE, i] * a[i]
        w.residual[i] += damping - w.forces.force[i]
    for line in range(t.lines.equality.size):
        damping, armature = h * w.forces.line.implicit[line], t.lines.fields[LINE_ARMATURE, line]
        implicit |= damping != 0.0
        for j in range(t.lines.first[line], t.lines.first[line + 1]):
            pull = t.lines.coefficient[j] * related_along(t.lines, line, j, a)
            w.qacc[t.lines.dof[j]] += damping * pull
            w.residual[t.lines.dof[j]] += (damping + armature) * pull
    if implicit:
        if not factorize(w.inertia, w.factor):
            return False
        solve_vector(w.factor, w.qacc)
    for i in range(nv):
        w.qacc[i] += a[i]
    limit_friction(t, w.forces, w.derivatives, v, a, w.friction)
    _constrain(t, w, q, v, w.qacc)
    _hold(t, w, v, touches, k, displacements)
    scale = 1e-12
    for i in range(nv):
        scale = max(scale, abs(w.forces.force[i]), abs(w.derivatives.torque[i]))
    violation[0], violation[1] = _lacking(w), scale
    if w.footing.pressed[0] > 0 and EXACT * scale < violation[0] < np.inf:
        violation[0] = min(violation[0], _settled(t, w, q, v, touches, k, displacements, scale))
    return True


@compiled
def _hold(
    t: Tables, w: Workspace, v: FloatArray, touches: Touches, k: int, displacements: Displacements
) -> None:
    """Add what presses and what is connected to the forces of the constraints."""
    total, held = w.rows.force, w.footing
    stand(t, w.pose, v, w.qacc, touches, k, displacements, total, held)
    connect(t, w.pose, w.motion, w.derivatives, v, w.qacc, displacements, total, held)


@compiled
def _constrain(t: Tables, w: Workspace, q: FloatArray, v: FloatArray, a: FloatArray) -> None:
    """The rows of constraints at an acceleration of the solver."""
    f = w.friction
    constrain(t, f.limit, f.resistance, f.damping, q, v, a, w.rows, w.line_rows)


@compiled
def _lacking(w: Workspace) -> float:
    """The largest force that the equation of motion lacks, infinite where one is no number."""
    worst = 0.0
    for i in range(w.residual.size):
        lacking = abs(w.residual[i] - w.rows.force[i])
        if not lacking < np.inf:  # of which max, as Python has it, would take no notice
            return np.inf
        worst = max(worst, lacking)
    return worst


@compiled
def _settled(
    t: Tables,
    w: Workspace,
    q: FloatArray,
    v: FloatArray,
    touches: Touches,
    k: int,
    displacements: Displacements,
    scale: float,
) -> float:
    """Take the constraint solver's steps that MuJoCo left out, as they change next to nothing.

    Feet with friction are stiff: accelerations that differ by a thousandth have forces that differ
    by newtons, and with them what a foot does next, stick or slip.

    Returns:
      The largest force that the equation lacks there; infinite where that is not nearby.
    """
    nv, step, gone = v.size, w.step, w.gradient
    gone[:] = 0.0
    for _ in range(MAX_SETTLING_STEPS):
        if not factorize_with(t, w, w.rows.stiffness, w.line_rows.stiffness, True, 1.0):
            return np.inf
        for i in range(nv):
            step[i] = w.rows.force[i] - w.residual[i]
        solve_vector(w.factor, step)
        for i in range(nv):
            w.qacc[i] += step[i]
            for j in range(nv):
                w.residual[i] += w.inertia[i, j] * step[j]
                gone[i] += w.inertia[i, j] * step[j]
        _constrain(t, w, q, v, w.qacc)
        _hold(t, w, v, touches, k, displacements)
        lacking = _lacking(w)
        if lacking <= EXACT * scale:
            break
    for i in range(nv):
        if abs(gone[i]) > NEARBY * scale:
            return np.inf
    return lacking


@compiled_apart
def solve(
    t: Tables, w: Workspace, q: FloatArray, v: FloatArray, control: FloatArray, a: FloatArray
) -> bool:
    """Solve the forward dynamics where they were not simulated: inside a Runge-Kutta step.

    Args:
      t: The model.
      w: Written.
      q: Joint positions, (nq,).
      v: Joint velocities, (nv,).
      control: What drives each actuator, (2, nu).
      a: In: a guess of the acceleration. Out: the acceleration, (nv,).

    Returns:
      Whether it converged.
    """
    move(t, q, w.pose)
    lay(t, q, w.pose, True)
    act(t, q, v, control, True, w.forces)
    w.qacc[:] = 0.0
    set_acceleration(t, w, v, w.qacc, 0.0)
    copy_inertia(t, w)
    limit_friction(t, w.forces, w.derivatives, v, w.qacc, w.friction)
    converged = settle(t, w, q, v, a)
    copy_vector(a, w.qacc)
    set_acceleration(t, w, v, a, 0.0)
    return converged


@compiled
def settle(t: Tables, w: Workspace, q: FloatArray, v: FloatArray, a: FloatArray) -> bool:
    """Newton's method with a line search on the convex problem of the constraint solver.

    Args:
      t: The model.
      w: The instant at no acceleration; ``smooth`` and the rows are written.
      q: Joint positions, (nq,).
      v: Joint velocities, (nv,).
      a: In: a guess of the acceleration. Out: the acceleration, (nv,).

    Returns:
      Whether it converged.
    """
    smooth, step, gradient, scale = w.smooth, w.step, w.gradient, 1e-12
    for i in range(v.size):
        smooth[i] = w.forces.force[i] - w.derivatives.torque[i]
        scale = max(scale, abs(w.derivatives.torque[i]), abs(w.forces.force[i]))
    size = _gradient(t, w, q, v, a)
    for _ in range(MAX_NEWTON_STEPS):
        for i in range(v.size):
            step[i] = -gradient[i]
            scale = max(scale, abs(w.rows.force[i]))
        if not size < np.inf:
            return False
        if size <= NEWTON_TOLERANCE * scale:
            return True
        if not factorize_with(t, w, w.rows.stiffness, w.line_rows.stiffness, True, 1.0):
            return False
        solve_vector(w.factor, step)
        size = _line_search(t, w, q, v, a)
    return False


@compiled_apart
def set_acceleration(t: Tables, w: Workspace, v: FloatArray, a: FloatArray, h: float) -> None:
    """Evaluate the inverse dynamics at another acceleration, where everything stands.

    ``h`` is the timestep where derivatives include what is implicit, and 0 where they do not.
    """
    if w.pendulum.alone[0]:
        w.derivatives.torque[0] = w.pendulum.held[0] + w.derivatives.mass[0, 0] * a[0]
        return
    propagate(t, w.pose, v, a, w.motion)
    differentiate(t, w.pose, w.motion, w.forces.actuator.force, w.derivatives)
    if t.holds:
        for i in range(v.size):
            for j in range(v.size):
                turned = t.dof_turned[i] > 0
                w.held[i, j] = w.derivatives.by_velocity[i, j] if turned else 0.0
    if t.in_fluid:
        for i in range(v.size):
            w.ahead[i] = h * a[i] if t.holds else 0.0
        propagate(t, w.pose, w.ahead, w.ahead, w.resistance.step)
        resist(t, w.pose, w.motion, w.resistance, w.derivatives)
        differentiate_resistance(t, w.pose, w.motion, w.resistance, w.derivatives, w.held)


@compiled_apart
def _gradient(t: Tables, w: Workspace, q: FloatArray, v: FloatArray, a: FloatArray) -> float:
    """``M a - smooth - f(a)`` into ``w.gradient``; the largest entry, as of :func:`_lacking`."""
    _constrain(t, w, q, v, a)
    size = 0.0
    for i in range(a.size):
        total = -w.smooth[i] - w.rows.force[i]
        for j in range(a.size):
            total += w.inertia[i, j] * a[j]
        w.gradient[i] = total
        if not abs(total) < np.inf:
            return np.inf
        size = max(size, abs(total))
    return size


@compiled
def _line_search(t: Tables, w: Workspace, q: FloatArray, v: FloatArray, a: FloatArray) -> float:
    """Move ``a`` to where the slope along ``w.step`` changes sign; returns the gradient's size."""
    size, before = 0.0, _dot(w.gradient, w.step)
    low, high, length = 0.0, 1.0, 1.0
    for _ in range(MAX_HALVINGS):
        for i in range(a.size):
            w.trial[i] = a[i] + length * w.step[i]
        size = _gradient(t, w, q, v, w.trial)
        slope = _dot(w.gradient, w.step)
        if slope <= 1e-9 * abs(before):
            low = length
            if length == 1.0 or slope >= -0.1 * abs(before):
                break
        else:
            high = length
        length = 0.5 * (low + high)
    copy_vector(w.trial, a)
    return size


@compiled
def _dot(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total
