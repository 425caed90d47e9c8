# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces of contacts and their derivatives, compiled; see :mod:`.floor_contacts`."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    add,
    add_scaled,
    compiled,
    compiled_apart,
    copy_matrix,
    copy_vector,
    dot,
    load,
    rotated,
    scale,
    store,
)
from sysid_ros.engine.mechanics.constraint_rows import impedance, reference
from sysid_ros.engine.mechanics.contact_changes import (
    Contact,
    approach,
    couple_bodies,
    displace,
    follow_plane,
    reach_around,
    through,
)
from sysid_ros.engine.mechanics.displacements import Displacements, carries, moved_along
from sysid_ros.engine.mechanics.floor_contacts import Footing
from sysid_ros.engine.mechanics.general_contacts import Pairs, Touches
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
    """Evaluate all contacts.

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
    rates = v, acceleration
    for foot in range(t.feet.radius.size):
        _meet(t, pose, rates, foot, displacements, total, out)
    for c in range(touches.first[k], touches.first[k + 1]):
        copy_vector(touches.place[c], out.place)
        copy_vector(touches.spin[c], out.spin)
        copy_matrix(touches.frame[c], out.frame)
        copy_matrix(touches.follow[c], out.follow)
        pair = touches.pair[c]
        _press(t, pose, rates, touches.pairs, pair, touches.depth[c], displacements, total, out)


@compiled
def _meet(
    t: Tables,
    pose: Pose,
    rates: tuple[FloatArray, FloatArray],
    k: int,
    displacements: Displacements,
    total: FloatArray,
    out: Footing,
) -> None:
    """One foot, if it is near enough to its plane."""
    body, normal = t.feet.pairs.body[k, 1], t.feet.frame[k, 0]
    rotation, position = pose.rotation[body], pose.position[body]
    x, y, z = rotated(rotation, t.feet.local[k])
    center = position[0] + x, position[1] + y, position[2] + z
    reach_around(t, rotation, k, out)
    depth = -t.feet.radius[k]
    for i in range(3):
        depth += normal[i] * (center[i] + out.reach[i] - t.feet.point[k, i])
    if depth < t.feet.pairs.margin[k]:
        follow_plane(t, pose, k, center, depth, out)
        _press(t, pose, rates, t.feet.pairs, k, depth, displacements, total, out)


@compiled_apart
def _press(
    t: Tables,
    pose: Pose,
    rates: tuple[FloatArray, FloatArray],
    pairs: Pairs,
    k: int,
    depth: float,
    displacements: Displacements,
    total: FloatArray,
    out: Footing,
) -> None:
    """One contact at a distance ``depth`` whose place and frame are in ``out``."""
    bodies, n = pairs.body[k], pairs.dimension[k]
    count = couple_bodies(t, bodies[0], bodies[1], out)
    for d in range(min(n, 3)):
        store(through(out.place, out.frame[d]), out.wrench[d])
    for d in range(3, n):
        axis = out.frame[d - 3]
        store((axis[0], axis[1], axis[2], 0.0, 0.0, 0.0), out.wrench[d])
    stiffness, damping = reference(t, pairs.solref[k], pairs.solimp[k])
    for c in range(count):
        i = out.dofs[c]
        out.rate[i] = rates[1][i] + damping * rates[0][i]
    motion = approach(t, pose, count, 0, (True, True), out)
    depth -= pairs.margin[k]
    share, slope = impedance(pairs.solimp[k], depth)
    for d in range(n):
        out.violation[d] = dot(motion, load(out.wrench[d]))
    out.violation[0] += stiffness * share * depth
    resistance = max(1e-15, (1.0 - share) / share * pairs.weight[k])
    if not _respond(t, pairs.friction[k], n, resistance, out):
        return
    out.pressed[0] += 1
    deeper, softer = stiffness * (share + depth * slope), slope / (share * (1.0 - share))
    push = _combined(out.wrench, out.force, n)
    contact = Contact(bodies, n, count, motion, push, deeper, softer)
    _add_rows(pose, contact, pairs.weight[k], damping, total, out)
    _differentiate(t, pose, contact, displacements, out)


@compiled
def _differentiate(
    t: Tables, pose: Pose, contact: Contact, displacements: Displacements, out: Footing
) -> None:
    """Add how the force changes as joints move, and parameters displace bodies."""
    spins = out.spin[0] != 0.0 or out.spin[1] != 0.0 or out.spin[2] != 0.0
    for c in range(contact.n_dof):
        j = out.dofs[c]
        side = out.side[j]
        if side != 0 or spins:
            s, first, carried = load(pose.subspace[j]), t.dof_first[j], (side <= 0, side >= 0)
            displace(t, pose, contact, s, first, carried, out, out.by_position, j)
    for e in range(displacements.moving):
        moved = displacements.body[e]
        carried = carries(t, moved, contact.body[0]), carries(t, moved, contact.body[1])
        if carried[0] != carried[1] or (carried[0] and spins):
            s, first = moved_along(pose, displacements, e), displacements.first[e]
            displace(t, pose, contact, s, first, carried, out, out.by_displacement, e)


@compiled
def _combined(wrenches: FloatArray, shares: FloatArray, n: int) -> Six:
    result = scale(load(wrenches[0]), shares[0])
    for d in range(1, n):
        result = add(result, scale(load(wrenches[d]), shares[d]))
    return result


@compiled
def _respond(t: Tables, friction: FloatArray, n: int, resistance: float, out: Footing) -> bool:
    """Force and curvature at a violation; whether there is a force."""
    u, force, curvature = out.violation, out.force, out.curvature
    force[:] = 0.0
    curvature[:] = 0.0
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
    pose: Pose, contact: Contact, weight: float, damping: float, total: FloatArray, out: Footing
) -> None:
    """Add the force, and how it changes with acceleration, velocity and weight."""
    n, count = contact.dimension, contact.n_dof
    for c in range(count):
        i = out.dofs[c]
        s = scale(load(pose.subspace[i]), float(out.side[i]))
        pull = dot(s, contact.push)
        total[i] += pull
        for body in contact.body:
            out.by_weight[body, 0, i] -= pull / weight
        for d in range(n):
            out.rows[d, i] = dot(s, load(out.wrench[d]))
        for d in range(n):
            out.slope[d, i] = 0.0
            for e in range(n):
                out.slope[d, i] += out.curvature[d, e] * out.rows[e, i]
    for b in range(count):
        i = out.dofs[b]
        for c in range(count):
            j, entry = out.dofs[c], 0.0
            for d in range(n):
                entry += out.rows[d, i] * out.slope[d, j]
            out.stiffness[i, j] += entry
            out.by_velocity[i, j] -= damping * entry


@compiled
def add_footing_changes(
    footing: Footing,
    body_weight: FloatArray,
    displacements: Displacements,
    dq: FloatArray,
    dv: FloatArray,
    out: FloatArray,
) -> None:
    """Add the derivative of the forces at a fixed acceleration.

    Args:
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
    for body in range(body_weight.shape[0]):
        for kind in range(2):
            for i in range(dq.shape[0]):
                scale = footing.by_weight[body, kind, i]
                if scale != 0.0:
                    add_scaled(out, i, scale, body_weight[body], kind, body_weight.shape[2])


@compiled
def add_product(matrix: FloatArray, factor: float, x: FloatArray, out: FloatArray) -> None:
    """Add ``factor matrix x`` for a matrix with many zeros."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if matrix[i, j] != 0.0:
                add_scaled(out, i, factor * matrix[i, j], x, j, x.shape[1])
