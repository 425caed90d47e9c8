# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forward sensitivities along rollouts of one model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import add_scaled, compiled, compiled_apart, copy_matrix, copy_vector
from sysid_ros.engine.derivatives.acceleration_tangent import tangent
from sysid_ros.engine.derivatives.actuator_changes import advance_activations, drive
from sysid_ros.engine.derivatives.directions import (
    BatchDirections,
    ModelDirections,
    StateChanges,
    StepSlopes,
)
from sysid_ros.engine.derivatives.frame_sensors import read_frames
from sysid_ros.engine.derivatives.sensors import Readings, read
from sysid_ros.engine.mechanics import (
    RK4,
    Tables,
    Touches,
    Workspace,
    advance,
    advance_derivative,
    evaluate,
    hang,
    new_workspace,
    put_in_place,
    solve,
)


class Rollouts(NamedTuple):
    """Rollouts that were simulated, one behind the other."""

    steps: IntArray  # of each, (w,)
    # positions, velocities and activations at the start and after every step
    states: FloatArray  # (sum of the steps + w, nq + nv + na)
    control: FloatArray  # (sum of the steps, nu)
    touches: Touches  # before each step
    slopes: StepSlopes  # of steps that are not covered, which violate nothing


class Stage(NamedTuple):
    """A state, its acceleration and the derivatives of both."""

    q: FloatArray  # (nq,)
    v: FloatArray  # (nv,)
    a: FloatArray  # (nv,)
    dq: FloatArray  # (nv, n)
    dv: FloatArray  # (nv, n)
    da: FloatArray  # (nv, n)


class Buffers(NamedTuple):
    """Room for the pass over one rollout, to be reused for the next."""

    workspace: Workspace
    now: Stage
    drive: FloatArray  # (2, nu): what drives the actuators
    activation: FloatArray  # (na, n): derivatives of the activations
    stage: Stage  # inside a Runge-Kutta step
    mean: Stage  # of the stages: velocities in v and dv, accelerations in a and da
    state: FloatArray  # (2 nv + na, n): derivatives of positions, velocities and activations


def new_buffers(t: Tables, n: int, n_displaced: int) -> Buffers:
    """Room for ``n`` directions, and so many displacements."""
    nq, nv, nu = t.qpos0.size, t.dof_bodyid.size, t.actuator_dof.size
    na = np.count_nonzero(t.actuator_act >= 0)
    return Buffers(
        new_workspace(t, n_displaced, n),
        _new_stage(nq, nv, n),
        np.zeros((2, nu)),
        np.zeros((na, n)),
        _new_stage(nq, nv, n),
        _new_stage(nq, nv, n),
        np.zeros((2 * nv + na, n)),
    )


def _new_stage(nq: int, nv: int, n: int) -> Stage:
    vectors = [np.zeros(size) for size in (nq, nv, nv)]
    return Stage(*vectors, *(np.zeros((nv, n)) for _ in range(3)))


@compiled
def differentiate_rollouts(
    t: Tables,
    m: ModelDirections,
    r: Readings,
    d: BatchDirections,
    rollouts: Rollouts,
    b: Buffers,
    out: FloatArray,
    violation: FloatArray,
) -> None:
    """Derivatives of all readings of rollouts.

    Args:
      t: The model.
      m: Directions of the model; the first of all directions.
      r: The readings.
      d: Starts and controls in all directions.
      rollouts: What was simulated.
      b: Room to work in.
      out: Written, (sum of the steps, n_sensor, n): a step's are the derivatives before it.
      violation: Written, (sum of the steps, 2): by what force or acceleration the equation of
        motion is violated, and the largest in it. Large where the rollout contains what the pass
        does not know; infinite where it could not be evaluated, and nothing is written behind that.
    """
    first, shapes = 0, m.inertia_direction.size + m.lifted.size + m.displacements.direction.size
    others = shapes + m.pulled.size + r.frames.row.size + rollouts.touches.pair.size
    lonely, room = t.integrator != RK4 and others == 0, b.workspace
    put_in_place(t, room.pose, room.motion)
    hang(t, room.pose, room.motion, room.derivatives, room.pendulum, lonely)
    for w in range(rollouts.steps.size):
        _differentiate_steps(t, m, r, d, rollouts, w, first, b, out, violation)
        first += rollouts.steps[w]


@compiled
def _differentiate_steps(
    t: Tables,
    m: ModelDirections,
    r: Readings,
    d: BatchDirections,
    rollouts: Rollouts,
    w: int,
    first: int,
    b: Buffers,
    out: FloatArray,
    violation: FloatArray,
) -> None:
    """The derivatives of rollout ``w``, which begins with step ``first``."""
    nq, nv, slopes = t.qpos0.size, t.dof_bodyid.size, rollouts.slopes
    copy_matrix(d.start[w, :nv], b.now.dq)
    copy_matrix(d.start[w, nv : 2 * nv], b.now.dv)
    copy_matrix(d.start[w, 2 * nv :], b.activation)
    for k in range(first, first + rollouts.steps[w]):
        place = slopes.place[k]
        if place >= 0:
            _follow_slopes(slopes.by_state[place], slopes.direct[place], b, out[k])
            violation[k, 0], violation[k, 1] = 0.0, 1.0
            continue
        before, after = rollouts.states[k + w], rollouts.states[k + w + 1]
        drive(t, rollouts.control[k], before[nq + nv :], b.drive)
        for i in range(nv):
            b.now.a[i] = (after[nq + i] - before[nq + i]) / t.timestep
        dx = StateChanges(
            b.now.dq, b.now.dv, b.activation, d.control_direction, d.control_change[k]
        )
        if t.integrator == RK4:
            followed = _runge_kutta(t, m, r, dx, before, b, out[k], violation[k])
        else:
            followed = _semi_implicit(t, m, r, dx, rollouts, k, w, b, out[k], violation[k])
        if not (followed and violation[k, 0] < np.inf):
            violation[k, 0] = np.inf
            return


@compiled
def _follow_slopes(by_state: FloatArray, direct: FloatArray, b: Buffers, out: FloatArray) -> None:
    """Advance ``b`` by one step, and read, as known derivatives of this step tell."""
    before, size = b.state, by_state.shape[1]
    nv, n = b.now.dq.shape
    for i in range(nv):
        for c in range(n):
            before[i, c], before[nv + i, c] = b.now.dq[i, c], b.now.dv[i, c]
    for i in range(size - 2 * nv):
        for c in range(n):
            before[2 * nv + i, c] = b.activation[i, c]
    for i in range(by_state.shape[0]):
        if i < nv:
            target, row = b.now.dq, i
        elif i < 2 * nv:
            target, row = b.now.dv, i - nv
        elif i < size:
            target, row = b.activation, i - 2 * nv
        else:
            target, row = out, i - size
        for c in range(n):
            target[row, c] = direct[i, c]
        for j in range(size):
            add_scaled(target, row, by_state[i, j], before, j, n)


@compiled
def _semi_implicit(
    t: Tables,
    m: ModelDirections,
    r: Readings,
    dx: StateChanges,
    rollouts: Rollouts,
    k: int,
    before: int,
    b: Buffers,
    out: FloatArray,
    violation: FloatArray,
) -> bool:
    """Advance ``b.now`` by step ``k`` of rollout ``before``; returns whether that could be."""
    w, now, nq, nv = b.workspace, b.now, t.qpos0.size, t.dof_bodyid.size
    state, after = rollouts.states[k + before], rollouts.states[k + before + 1, nq : nq + nv]
    q, v, touches = state[:nq], state[nq : nq + nv], rollouts.touches
    if not evaluate(t, w, q, v, b.drive, now.a, touches, k, m.displacements, violation):
        return False
    if r.frames.loaded and w.footing.pressed[0] > 0:  # what presses is not in these readings
        violation[0] = max(violation[0], violation[1])
    wants = r.frames.accelerated
    if not tangent(t, w, m, v, now.a, dx, t.timestep, wants, now.da):
        return False
    read(t, w, m, r, q, v, dx, out)
    if r.frames.row.size:
        read_frames(t, w, m, r.frames, q, dx, out)
    advance_activations(t, w, m, rollouts.control[k], state[nq + nv :], dx)
    for i in range(now.dq.shape[0]):
        for c in range(now.dq.shape[1]):
            now.dv[i, c] += t.timestep * now.da[i, c]
    advance_derivative(t.dof_first, t.dof_together, after, t.timestep, now.dq, now.dv, now.dq)
    return True


@compiled_apart
def _runge_kutta(
    t: Tables,
    m: ModelDirections,
    r: Readings,
    dx: StateChanges,
    state: FloatArray,
    b: Buffers,
    out: FloatArray,
    violation: FloatArray,
) -> bool:
    """The same by one step of the classical Runge-Kutta method, whose stages are solved again."""
    w, now, stage, mean = b.workspace, b.now, b.stage, b.mean
    nq, (nv, n) = t.qpos0.size, now.dq.shape
    q, v = state[:nq], state[nq : nq + nv]
    moved = StateChanges(stage.dq, stage.dv, dx.activation, dx.control_direction, dx.control)
    copy_vector(q, stage.q)
    copy_vector(v, stage.v)
    copy_vector(now.a, stage.a)
    copy_matrix(now.dq, stage.dq)
    copy_matrix(now.dv, stage.dv)
    mean.v[:] = 0.0
    mean.a[:] = 0.0
    mean.dv[:] = 0.0
    mean.da[:] = 0.0
    for part in range(4):
        if not solve(t, w, stage.q, stage.v, b.drive, stage.a):
            return False
        wants = r.frames.accelerated
        if not tangent(t, w, m, stage.v, stage.a, moved, 0.0, wants, stage.da):
            return False
        if part == 0:
            read(t, w, m, r, q, v, dx, out)
            read_frames(t, w, m, r.frames, q, dx, out)
        weight = 1.0 / 6.0 if part == 0 or part == 3 else 1.0 / 3.0
        ahead = t.timestep if part == 2 else 0.5 * t.timestep
        for i in range(nv):
            mean.v[i] += weight * stage.v[i]
            mean.a[i] += weight * stage.a[i]
            for c in range(n):
                mean.dv[i, c] += weight * stage.dv[i, c]
                mean.da[i, c] += weight * stage.da[i, c]
        advance(t, q, stage.v, ahead, stage.q)
        advance_derivative(t.dof_first, t.dof_together, stage.v, ahead, now.dq, stage.dv, stage.dq)
        for i in range(nv):
            stage.v[i] = v[i] + ahead * stage.a[i]
            for c in range(n):
                stage.dv[i, c] = now.dv[i, c] + ahead * stage.da[i, c]
    worst, scale = 0.0, 1e-12
    for i in range(nv):
        off = abs(mean.a[i] - now.a[i])
        worst = max(worst, off) if off < np.inf else np.inf
        scale = max(scale, abs(now.a[i]), abs(v[i]) / t.timestep)
        for c in range(n):
            now.dv[i, c] += t.timestep * mean.da[i, c]
    advance_derivative(t.dof_first, t.dof_together, mean.v, t.timestep, now.dq, mean.dv, now.dq)
    violation[0], violation[1] = worst, scale
    return True
