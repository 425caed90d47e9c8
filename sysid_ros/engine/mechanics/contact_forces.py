# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces of feet on a floor and their derivatives, compiled; see :mod:`.floor_contacts`."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import add_scaled, compiled, compiled_apart
from sysid_ros.engine.mechanics.constraint_rows import impedance, reference
from sysid_ros.engine.mechanics.contact_points import reach_rim, set_frame, turned
from sysid_ros.engine.mechanics.floor_contacts import Footing, Touches
from sysid_ros.engine.mechanics.kinematics import Pose
from sysid_ros.engine.mechanics.model_tables import Tables
from sysid_ros.engine.mechanics.spatial import Six, add, cross_motion, dot, load, scale, store


@compiled_apart
def stand(
    t: Tables,
    pose: Pose,
    v: FloatArray,
    acceleration: FloatArray,
    touches: Touches,
    k: int,
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
      total: The forces are added to it, (nv,).
      out: Written.
    """
    if out.pressed[0] > 0:
        out.stiffness[:] = 0.0
        out.by_position[:] = 0.0
        out.by_velocity[:] = 0.0
        out.by_weight[:] = 0.0
        out.pressed[0] = 0
    for foot in range(t.feet.body.size):
        if not t.feet.mesh[foot]:
            _meet(t, pose, v, acceleration, foot, t.feet.local[foot], total, out)
    for c in range(touches.first[k], touches.first[k + 1]):
        _meet(t, pose, v, acceleration, touches.foot[c], touches.local[c], total, out)


@compiled
def _meet(
    t: Tables,
    pose: Pose,
    v: FloatArray,
    acceleration: FloatArray,
    k: int,
    local: FloatArray,
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
        _press(t, pose, v, acceleration, k, center, depth, total, out)


@compiled
def _press(
    t: Tables,
    pose: Pose,
    v: FloatArray,
    acceleration: FloatArray,
    k: int,
    center: tuple[float, float, float],
    depth: float,
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
        store(_through(p, out.frame[d]), out.wrench[d])
    for d in range(3, n):
        axis = out.frame[d - 3]
        store((axis[0], axis[1], axis[2], 0.0, 0.0, 0.0), out.wrench[d])
    motion = _moved(t, pose, body, v, -1)
    gain = _moved(t, pose, body, acceleration, -1)
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
    j = t.body_lastdof[body]
    while j >= 0:
        _displace(
            t,
            pose,
            k,
            j,
            center,
            p,
            (v, acceleration),
            (motion, gain),
            damping,
            by_depth,
            push,
            out,
        )
        j = t.dof_parentid[j]


@compiled
def _through(p: tuple[float, float, float], d: FloatArray) -> Six:
    """A unit force along ``d`` at ``p``, about the fixed point."""
    return (
        p[1] * d[2] - p[2] * d[1], p[2] * d[0] - p[0] * d[2], p[0] * d[1] - p[1] * d[0],
        d[0], d[1], d[2],
    )  # fmt: skip


@compiled
def _moved(t: Tables, pose: Pose, body: int, rate: FloatArray, joint: int) -> Six:
    """The motion of a body by its joints' rates, or by those alone that a joint carries."""
    result = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    least = -1 if joint < 0 else t.dof_first[joint]
    i = t.body_lastdof[body]
    while i >= 0:
        if t.dof_first[i] >= least:
            result = add(result, scale(load(pose.subspace[i]), rate[i]))
        i = t.dof_parentid[i]
    return result


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
def _displace(
    t: Tables,
    pose: Pose,
    k: int,
    j: int,
    center: tuple[float, float, float],
    p: tuple[float, float, float],
    rates: tuple[FloatArray, FloatArray],
    motions: tuple[Six, Six],
    damping: float,
    by_depth: tuple[float, float],
    push: Six,
    out: Footing,
) -> None:
    """Add the derivative of a contact's force in the position of one degree of freedom."""
    feet, body = t.feet, t.feet.body[k]
    s, normal, n = load(pose.subspace[j]), feet.frame[k, 0], feet.dimension[k]
    x = s[3] + s[1] * center[2] - s[2] * center[1] + turned(out.roll, 0, s)
    y = s[4] + s[2] * center[0] - s[0] * center[2] + turned(out.roll, 1, s)
    z = s[5] + s[0] * center[1] - s[1] * center[0] + turned(out.roll, 2, s)
    deeper = normal[0] * x + normal[1] * y + normal[2] * z
    half = 0.5 * deeper
    step = x - half * normal[0], y - half * normal[1], z - half * normal[2]
    speed = cross_motion(s, _moved(t, pose, body, rates[0], j))
    gain = cross_motion(s, _moved(t, pose, body, rates[1], j))
    change = out.violation
    for d in range(n):
        wrench = load(out.wrench[d])
        faster = dot(speed, wrench)
        more = dot(gain, wrench)
        if d < 3:
            shifted = _through(step, out.frame[d])
            for i in range(3):
                faster += shifted[i] * motions[0][i]
                more += shifted[i] * motions[1][i]
        change[d] = more + damping * faster
    change[0] += by_depth[0] * deeper
    moved = (
        step[1] * push[5] - step[2] * push[4],
        step[2] * push[3] - step[0] * push[5],
        step[0] * push[4] - step[1] * push[3],
        0.0, 0.0, 0.0,
    )  # fmt: skip
    rate = s[0] * out.turn[0] + s[1] * out.turn[1] + s[2] * out.turn[2]
    if rate != 0.0:
        for d in range(1, n - 1, 3):
            one, two = load(out.wrench[d]), load(out.wrench[d + 1])
            change[d] += rate * (dot(motions[1], two) + damping * dot(motions[0], two))
            change[d + 1] -= rate * (dot(motions[1], one) + damping * dot(motions[0], one))
            moved = add(moved, scale(two, rate * out.force[d]))
            moved = add(moved, scale(one, -rate * out.force[d + 1]))
    for d in range(n):
        own = out.force[d] * by_depth[1] * deeper
        for e in range(n):
            own -= out.curvature[d, e] * change[e]
        moved = add(moved, scale(load(out.wrench[d]), own))
    i = t.body_lastdof[body]
    while i >= 0:
        other = load(pose.subspace[i])
        entry = dot(other, moved)
        if t.dof_first[i] >= t.dof_first[j]:
            entry += dot(cross_motion(s, other), push)
        out.by_position[i, j] += entry
        i = t.dof_parentid[i]


@compiled
def add_footing_changes(
    t: Tables,
    footing: Footing,
    body_weight: FloatArray,
    dq: FloatArray,
    dv: FloatArray,
    out: FloatArray,
) -> None:
    """Add the derivative of the forces at a fixed acceleration.

    Args:
      t: The model.
      footing: The instant.
      body_weight: Derivatives of the bodies' inverse inertia, (nbody, n_model).
      dq: Derivatives of the positions, (nv, n).
      dv: Derivatives of the velocities, (nv, n).
      out: Added to, (nv, n).
    """
    if footing.pressed[0] == 0:
        return
    add_product(footing.by_position, 1.0, dq, out)
    add_product(footing.by_velocity, 1.0, dv, out)
    for k in range(t.feet.body.size):
        for i in range(dq.shape[0]):
            if footing.by_weight[k, i] != 0.0:
                add_scaled(
                    out, i, footing.by_weight[k, i], body_weight, t.feet.body[k],
                    body_weight.shape[1],
                )  # fmt: skip
    for k in range(t.connections.weight.size):
        for i in range(dq.shape[0]):
            scale = footing.by_weight[t.feet.body.size + k, i]
            if scale != 0.0:
                for body in t.connections.body[k]:
                    add_scaled(out, i, scale, body_weight, body, body_weight.shape[1])


@compiled
def add_product(matrix: FloatArray, factor: float, x: FloatArray, out: FloatArray) -> None:
    """Add ``factor matrix x`` for a matrix with many zeros."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if matrix[i, j] != 0.0:
                add_scaled(out, i, factor * matrix[i, j], x, j, x.shape[1])
