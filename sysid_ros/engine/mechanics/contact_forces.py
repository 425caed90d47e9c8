# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces of feet on a floor and their derivatives, compiled; see :mod:`.floor_contacts`."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    add,
    add_scaled,
    compiled,
    compiled_apart,
    dot,
    load,
    scale,
    store,
)
from sysid_ros.engine.mechanics.constraint_rows import impedance, reference
from sysid_ros.engine.mechanics.contact_changes import displace, moved, through
from sysid_ros.engine.mechanics.contact_points import reach_rim, set_frame, turned
from sysid_ros.engine.mechanics.displacements import Displacements, carries, moved_along
from sysid_ros.engine.mechanics.floor_contacts import Footing, Touches
from sysid_ros.engine.mechanics.kinematics import Pose
from sysid_ros.engine.mechanics.model_tables import Tables


@compiled_apart
def stand(
    t: Tables,
    pose: Pose,
    v: FloatArray,
    acceleration: FloatArray,
    touches: Touches,
    k: int,
    displacements: Displacements,
    total: FloatArray,
    out: Footing,
) -> None:
    """Evaluate all feet.

    Args:
      t: The model.
      pose: Where everything is.
      v: Joint velocities, (nv,).
      acceleration: ``qacc`` of the constraint solver, (nv,).
      touches: Of the rollout.
      k: The step.
      displacements: By what parameters change.
      total: The forces are added to it, (nv,).
      out: Written.
    """
    if out.pressed[0] > 0:
        out.stiffness[:] = 0.0
        out.by_position[:] = 0.0
        out.by_velocity[:] = 0.0
        out.by_weight[:] = 0.0
        out.by_displacement[:] = 0.0
        out.pressed[0] = 0
    for foot in range(t.feet.body.size):
        if not t.feet.mesh[foot]:
            _meet(t, pose, v, acceleration, foot, t.feet.local[foot], displacements, total, out)
    for c in range(touches.first[k], touches.first[k + 1]):
        foot = touches.foot[c]
        _meet(t, pose, v, acceleration, foot, touches.local[c], displacements, total, out)


@compiled
def _meet(
    t: Tables,
    pose: Pose,
    v: FloatArray,
    acceleration: FloatArray,
    k: int,
    local: FloatArray,
    displacements: Displacements,
    total: FloatArray,
    out: Footing,
) -> None:
    """One foot at a point of its body, if it is near enough to the plane."""
    body, normal = t.feet.body[k], t.feet.frame[k, 0]
    rotation, position = pose.rotation[body], pose.position[body]
    center = (
        position[0] + turned(rotation, 0, local),
        position[1] + turned(rotation, 1, local),
        position[2] + turned(rotation, 2, local),
    )
    reach_rim(t, rotation, k, out)
    depth = -t.feet.radius[k]
    for i in range(3):
        depth += normal[i] * (center[i] + out.reach[i] - t.feet.point[k, i])
    if depth < t.feet.margin[k]:
        _press(t, pose, v, acceleration, k, center, depth, displacements, total, out)


@compiled
def _press(
    t: Tables,
    pose: Pose,
    v: FloatArray,
    acceleration: FloatArray,
    k: int,
    center: tuple[float, float, float],
    depth: float,
    displacements: Displacements,
    total: FloatArray,
    out: Footing,
) -> None:
    """One foot whose contact is closed, at a distance ``depth``."""
    feet, normal, body = t.feet, t.feet.frame[k, 0], t.feet.body[k]
    n = feet.dimension[k]
    behind = feet.radius[k] + 0.5 * depth
    p = (
        center[0] + out.reach[0] - behind * normal[0],
        center[1] + out.reach[1] - behind * normal[1],
        center[2] + out.reach[2] - behind * normal[2],
    )
    set_frame(t, pose, k, out.frame, out.turn)
    for d in range(min(n, 3)):
        store(through(p, out.frame[d]), out.wrench[d])
    for d in range(3, n):
        axis = out.frame[d - 3]
        store((axis[0], axis[1], axis[2], 0.0, 0.0, 0.0), out.wrench[d])
    motion = moved(t, pose, body, v, 0)
    gain = moved(t, pose, body, acceleration, 0)
    stiffness, damping = reference(t, feet.solref[k], feet.solimp[k])
    depth -= feet.margin[k]
    share, slope = impedance(feet.solimp[k], depth)
    for d in range(n):
        wrench = load(out.wrench[d])
        out.violation[d] = dot(gain, wrench) + damping * dot(motion, wrench)
    out.violation[0] += stiffness * share * depth
    resistance = max(1e-15, (1.0 - share) / share * feet.weight[k])
    if not _respond(t, k, resistance, out):
        return
    out.pressed[0] += 1
    push = _combined(out.wrench, out.force, n)
    _add_rows(t, pose, k, push, damping, total, out)
    # What the depth alone changes: the reference acceleration, and the regularization.
    by_depth = stiffness * (share + depth * slope), slope / (share * (1.0 - share))
    rates, motions, at = (v, acceleration), (motion, gain), (center, p)
    j = t.body_lastdof[body]
    while j >= 0:
        s, first = load(pose.subspace[j]), t.dof_first[j]
        displace(
            t, pose, k, s, first, at, rates, motions, damping, by_depth, push, out,
            out.by_position, j,
        )  # fmt: skip
        j = t.dof_parentid[j]
    for e in range(displacements.moving):
        if carries(t, displacements.body[e], body):
            s, first = moved_along(pose, displacements, e), displacements.first[e]
            displace(
                t, pose, k, s, first, at, rates, motions, damping, by_depth, push, out,
                out.by_displacement, e,
            )  # fmt: skip


@compiled
def _combined(wrenches: FloatArray, shares: FloatArray, n: int) -> Six:
    result = scale(load(wrenches[0]), shares[0])
    for d in range(1, n):
        result = add(result, scale(load(wrenches[d]), shares[d]))
    return result


@compiled
def _respond(t: Tables, k: int, resistance: float, out: Footing) -> bool:
    """Force and curvature at a violation; whether there is a force."""
    u, force, curvature, friction = out.violation, out.force, out.curvature, t.feet.friction[k]
    force[:] = 0.0
    curvature[:] = 0.0
    n = t.feet.dimension[k]
    if n == 1:
        if u[0] >= 0.0:
            return False
        force[0], curvature[0, 0] = -u[0] / resistance, 1.0 / resistance
        return True
    if t.elliptic:
        return _elliptic(u, friction, n, resistance, t.impratio, out)
    square = friction[0] * friction[0]
    edge = 2.0 * square / t.impratio * (1.0 + square) * resistance
    pressed = False
    for d in range(1, n):
        for side in (-friction[d - 1], friction[d - 1]):
            violation = u[0] + side * u[d]
            if violation >= 0.0:
                continue
            pressed = True
            force[0] -= violation / edge
            force[d] -= side * violation / edge
            curvature[0, 0] += 1.0 / edge
            curvature[0, d] += side / edge
            curvature[d, 0] += side / edge
            curvature[d, d] += side * side / edge
    return pressed


@compiled
def _elliptic(
    u: FloatArray, friction: FloatArray, n: int, resistance: float, impratio: float, out: Footing
) -> bool:
    """The same for an elliptic cone: within its dual, its polar, or between them."""
    force, curvature, gradient = out.force, out.curvature, out.gradient
    across = 0.0
    for d in range(1, n):
        across += (friction[d - 1] * u[d]) ** 2
    across = np.sqrt(across)
    regularized = friction[0] / np.sqrt(impratio)
    along = regularized * u[0]
    if along >= regularized * across:
        return False
    if regularized * along + across <= 0.0:
        for d in range(n):
            weight = 1.0 / resistance
            if d > 0:
                weight *= impratio * (friction[d - 1] / friction[0]) ** 2
            force[d], curvature[d, d] = -weight * u[d], weight
        return True
    square = regularized * regularized
    weight, excess = 1.0 / (resistance * square * (1.0 + square)), along - regularized * across
    gradient[0] = regularized
    for d in range(1, n):
        gradient[d] = -regularized * friction[d - 1] ** 2 * u[d] / across
    for d in range(n):
        force[d] = -weight * excess * gradient[d]
        for e in range(n):
            curvature[d, e] = weight * gradient[d] * gradient[e]
    for d in range(1, n):
        for e in range(1, n):
            bend = gradient[d] * gradient[e] / regularized
            if d == e:
                bend -= regularized * friction[d - 1] ** 2
            curvature[d, e] += weight * excess * bend / across
    return True


@compiled
def _add_rows(
    t: Tables, pose: Pose, k: int, push: Six, damping: float, total: FloatArray, out: Footing
) -> None:
    """Add the force, and how it changes with acceleration, velocity and weight."""
    last, weight, n = t.body_lastdof[t.feet.body[k]], t.feet.weight[k], t.feet.dimension[k]
    i = last
    while i >= 0:
        s = load(pose.subspace[i])
        pull = dot(s, push)
        total[i] += pull
        out.by_weight[k, i] -= pull / weight
        for d in range(n):
            out.rows[d, i] = dot(s, load(out.wrench[d]))
        for d in range(n):
            out.slope[d, i] = 0.0
            for e in range(n):
                out.slope[d, i] += out.curvature[d, e] * out.rows[e, i]
        i = t.dof_parentid[i]
    i = last
    while i >= 0:
        j = last
        while j >= 0:
            entry = 0.0
            for d in range(n):
                entry += out.rows[d, i] * out.slope[d, j]
            out.stiffness[i, j] += entry
            out.by_velocity[i, j] -= damping * entry
            j = t.dof_parentid[j]
        i = t.dof_parentid[i]


@compiled
def add_footing_changes(
    t: Tables,
    footing: Footing,
    body_weight: FloatArray,
    displacements: Displacements,
    dq: FloatArray,
    dv: FloatArray,
    out: FloatArray,
) -> None:
    """Add the derivative of the forces at a fixed acceleration.

    Args:
      t: The model.
      footing: The instant.
      body_weight: Derivatives of the bodies' inverse inertia, (nbody, 2, n_model).
      displacements: By what parameters change.
      dq: Derivatives of the positions, (nv, n).
      dv: Derivatives of the velocities, (nv, n).
      out: Added to, (nv, n).
    """
    if footing.pressed[0] == 0:
        return
    add_product(footing.by_position, 1.0, dq, out)
    add_product(footing.by_velocity, 1.0, dv, out)
    for e in range(displacements.direction.size):
        for i in range(dq.shape[0]):
            out[i, displacements.direction[e]] += footing.by_displacement[i, e]
    for k in range(t.feet.body.size):
        for i in range(dq.shape[0]):
            if footing.by_weight[k, i] != 0.0:
                add_scaled(
                    out, i, footing.by_weight[k, i], body_weight[t.feet.body[k]], 0,
                    body_weight.shape[2],
                )  # fmt: skip
    count = t.connections.weld.size
    for k in range(2 * count):
        kind, bodies = k // count, t.connections.body[k % count]
        for i in range(dq.shape[0]):
            scale = footing.by_weight[t.feet.body.size + k, i]
            if scale != 0.0:
                for body in bodies:
                    add_scaled(out, i, scale, body_weight[body], kind, body_weight.shape[2])


@compiled
def add_product(matrix: FloatArray, factor: float, x: FloatArray, out: FloatArray) -> None:
    """Add ``factor matrix x`` for a matrix with many zeros."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if matrix[i, j] != 0.0:
                add_scaled(out, i, factor * matrix[i, j], x, j, x.shape[1])
