# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of sensors fixed to bodies: poses, velocities, accelerations, IMUs, forces.

With S, P, R and W of :mod:`sysid_ros.engine.mechanics.rigid_body`, summed over the degrees of
freedom j that move a body,

    D = sum S_j dq_j,  U = sum S_j dv_j + P_j dq_j,  E = sum S_j da_j + W_j dv_j + R_j dq_j + U x V

are the body's displacement and the changes of its velocity V and acceleration A as it sees them: in
the world they change by U + D x V and E + D x A. A sensor's component changes by ``f . E + u . U +
d . D`` with three forces f, u and d that depend on the instant alone, so each costs three scalar
products per degree of freedom.

Force and torque sensors read the force F between a body and its parent, which everything behind
needs to move. With I, B and f of everything behind the body or the degree of freedom j, whichever
is further out, its body sees it change by

    dF = sum (I R_j + B P_j) dq_j + (I W_j + B S_j) dv_j + I S_j da_j + (S_j x* f) dq_j,

the last term for degrees of freedom behind the body only, and by its regressor times dpi.

What is measured in a moving frame depends on how both bodies move against each other alone: the
same forces act on the differences of D and U of both. A site that is mounted otherwise moves on its
body by a twist S, as if there were one more joint behind the body.
"""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    Three,
    add,
    add_scaled,
    at_point,
    compiled,
    compiled_apart,
    couple,
    cross,
    cross_force,
    dot,
    force_at,
    into_body,
    load,
    multiply_inertia,
    multiply_product,
    multiply_quaternions,
    quaternion_to_matrix,
    scale,
)
from sysid_ros.engine.derivatives.directions import ModelDirections, StateChanges
from sysid_ros.engine.derivatives.displacement_changes import (
    add_displaced_force,
    add_displaced_reading,
    force_behind,
)
from sysid_ros.engine.derivatives.frame_readings import (
    BALL_ORIENTATION,
    BALL_SPIN,
    DIRECTION,
    DRIFT,
    FIELD,
    INTERACTION_FORCE,
    INTERACTION_TORQUE,
    ORIENTATION,
    PLACE,
    PULL,
    SPIN,
    TURNING,
    FrameReadings,
)
from sysid_ros.engine.derivatives.gravity_changes import add_along_gravity
from sysid_ros.engine.mechanics import Motion, Tables, Workspace, carries, force_regressor


@compiled_apart
def read_frames(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    r: FrameReadings,
    q: FloatArray,
    dx: StateChanges,
    out: FloatArray,
) -> None:
    """Write the derivatives of all readings at one instant into their rows, (n_reading, n).

    Accelerations need ``w.d_qacc`` and the motion that belongs to it.
    """
    n = dx.q.shape[1]
    for k in range(r.row.size):
        row, quantity, item = r.row[k], r.quantity[k], r.item[k]
        if quantity == BALL_SPIN:
            add_scaled(out, row, 1.0, dx.v, item + r.component[k], n)
            continue
        if quantity == BALL_ORIENTATION:
            address = t.jnt_qposadr[t.dof_jntid[item]]
            turn = q[address : address + 4]
            for i in range(3):
                share = _quaternion_slope(turn[0], turn[1], turn[2], turn[3], r.component[k], i)
                add_scaled(out, row, share, dx.q, item + i, n)
            continue
        if quantity in (INTERACTION_FORCE, INTERACTION_TORQUE):
            along = _measured_along(r, k, w)
            add_displaced_force(t, w, m, item, r.site[k], along, row, out)
            _read_force(t, w, m, along, item, row, dx, out)
            continue
        f, u, d = _covectors(r, k, w)
        _read_body(t, w, m, (f, u, d), item, r.site[k], quantity, row, dx, out)
        if r.reference[k] >= 0:
            less = scale(f, -1.0), scale(u, -1.0), scale(d, -1.0)
            body, site = r.reference[k], r.reference_site[k]
            _read_body(t, w, m, less, body, site, quantity, row, dx, out)


@compiled_apart
def _read_body(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    covectors: tuple[Six, Six, Six],
    body: int,
    site: int,
    quantity: int,
    row: int,
    dx: StateChanges,
    out: FloatArray,
) -> None:
    """Add what the motion of one body, and of its site, does to a component."""
    accelerating, moving, displacing = covectors
    add_displaced_reading(t, w, m, body, site, covectors, row, out)
    d, n = w.derivatives, dx.q.shape[1]
    j = t.body_lastdof[body]
    while j >= 0:
        s, p = load(w.pose.subspace[j]), load(d.p[j])
        add_scaled(out, row, dot(moving, p) + dot(displacing, s), dx.q, j, n)
        add_scaled(out, row, dot(moving, s), dx.v, j, n)
        if quantity in (TURNING, PULL):
            add_scaled(out, row, dot(accelerating, load(d.r[j])), dx.q, j, n)
            add_scaled(out, row, dot(accelerating, load(d.w[j])), dx.v, j, n)
            add_scaled(out, row, dot(accelerating, s), w.d_qacc, j, n)
        j = t.dof_parentid[j]
    if quantity in (TURNING, PULL):
        add_along_gravity(m, accelerating, -1.0, row, out)


@compiled
def _read_force(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    twist: Six,
    body: int,
    row: int,
    dx: StateChanges,
    out: FloatArray,
) -> None:
    """Add the derivative of the force between a body and its parent along ``twist``.

    MuJoCo counts weight whether or not it is compensated.
    """
    d, n = w.derivatives, dx.q.shape[1]
    for j in range(dx.q.shape[0]):
        carried = t.dof_bodyid[j]
        outer = max(carried, body)
        if not carries(t, min(carried, body), outer):
            continue
        s, inertia, product = load(w.pose.subspace[j]), d.inertia[outer], d.product[outer]
        by_position = multiply_product(product, load(d.p[j]))
        by_position = add(by_position, multiply_inertia(inertia, load(d.r[j])))
        if carried > body:
            by_position = add(by_position, cross_force(s, force_behind(t, w, outer)))
        by_velocity = add(multiply_product(product, s), multiply_inertia(inertia, load(d.w[j])))
        add_scaled(out, row, dot(twist, by_position), dx.q, j, n)
        add_scaled(out, row, dot(twist, by_velocity), dx.v, j, n)
        add_scaled(out, row, dot(twist, multiply_inertia(inertia, s)), w.d_qacc, j, n)
    add_along_gravity(m, multiply_inertia(d.inertia[body], twist), -1.0, row, out)
    for behind in range(body, t.body_parentid.size):
        first, last = m.body_first[behind], m.body_first[behind + 1]
        if first == last or not carries(t, body, behind):
            continue
        force_regressor(w.pose, w.motion, behind, load(w.motion.acceleration[behind]), w.basis)
        along = into_body(twist, w.pose.rotation[behind], w.pose.position[behind])
        for e in range(first, last):
            for i in range(6):
                for c in range(10):
                    change = along[i] * w.basis[1, i, c] * m.inertia_change[e, c]
                    out[row, m.inertia_direction[e]] += change


@compiled
def _measured_along(r: FrameReadings, k: int, w: Workspace) -> Six:
    """The motion whose product with a force is what a force or torque sensor reads of it."""
    x, e = _frame(r, k, w)
    if r.quantity[k] == INTERACTION_FORCE:
        return 0.0, 0.0, 0.0, e[0], e[1], e[2]
    drift = cross(x, e)
    return e[0], e[1], e[2], drift[0], drift[1], drift[2]


@compiled
def _frame(r: FrameReadings, k: int, w: Workspace) -> tuple[Three, Three]:
    """A sensor's place and the direction of its component; its frame into ``w``."""
    body, component = r.item[k], r.component[k]
    turned, place, axes = w.frame_quaternion, w.frame_position, w.frame_axes
    a, b = w.pose.quaternion[body], r.quaternion[k]
    multiply_quaternions(a[0], a[1], a[2], a[3], b, turned)
    quaternion_to_matrix(turned, axes)
    for i in range(3):
        place[i] = w.pose.position[body, i]
        for j in range(3):
            place[i] += w.pose.rotation[body, i, j] * r.position[k, j]
    x = place[0], place[1], place[2]
    e = (
        1.0 if component == 0 else 0.0,
        1.0 if component == 1 else 0.0,
        1.0 if component == 2 else 0.0,
    )
    if r.local[k]:
        e = axes[0, component], axes[1, component], axes[2, component]
    if r.reference[k] >= 0:
        e = _seen_along(r, k, component, w)
    return x, e


@compiled
def _seen_along(r: FrameReadings, k: int, component: int, w: Workspace) -> Three:
    """An axis of the frame that a component is seen from; its orientation becomes relative."""
    turned, c = w.frame_quaternion, w.reference_quaternion
    a, b = w.pose.quaternion[r.reference[k]], r.reference_quaternion[k]
    multiply_quaternions(a[0], a[1], a[2], a[3], b, c)
    multiply_quaternions(c[0], -c[1], -c[2], -c[3], turned, turned)
    quaternion_to_matrix(c, w.reference_axes)
    i = min(component, 2)  # a quaternion has four
    return w.reference_axes[0, i], w.reference_axes[1, i], w.reference_axes[2, i]


@compiled
def _covectors(r: FrameReadings, k: int, w: Workspace) -> tuple[Six, Six, Six]:
    """The forces f, u and d of one component."""
    x, e = _frame(r, k, w)
    body, quantity, component = r.item[k], r.quantity[k], r.component[k]
    turned, axes = w.frame_quaternion, w.frame_axes
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if quantity == PLACE:
        return none, none, force_at(x, e)
    if quantity == DIRECTION:
        i = r.axis[k]
        return none, none, couple(cross((axes[0, i], axes[1, i], axes[2, i]), e))
    if quantity == FIELD:
        return none, none, couple(cross(e, (r.field[0], r.field[1], r.field[2])))
    if quantity == ORIENTATION:
        total = none
        for i in range(3):
            share = _quaternion_slope(turned[0], turned[1], turned[2], turned[3], component, i)
            along = share * axes[0, i], share * axes[1, i], share * axes[2, i]
            total = add(total, couple(along))
        return none, none, total
    from_spin = (0.0, 0.0, 0.0)
    if r.reference[k] >= 0:
        v = w.motion.velocity[r.reference[k]]
        from_spin = v[0], v[1], v[2]
    return _motion_covectors(quantity, r.local[k] != 0, w.motion, body, x, e, from_spin)


@compiled
def _motion_covectors(
    quantity: int,
    local: bool,
    motion: Motion,
    body: int,
    x: Three,
    e: Three,
    from_spin: Three,
) -> tuple[Six, Six, Six]:
    """The same for velocities and accelerations along ``e`` at the point ``x``.

    ``from_spin`` is the angular velocity of the frame that it is seen from.
    """
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    v, a = load(motion.velocity[body]), load(motion.acceleration[body])
    spin, drift = (v[0], v[1], v[2]), at_point(v, x)
    force = couple(e) if quantity in (SPIN, TURNING) else force_at(x, e)
    if local and quantity in (SPIN, DRIFT):
        return none, force, none
    if quantity == SPIN:
        return none, force, couple(cross(spin, e))
    if quantity == DRIFT:
        against = spin[0] - from_spin[0], spin[1] - from_spin[1], spin[2] - from_spin[2]
        return none, force, add(cross_force(v, force), force_at(x, cross(e, against)))
    moving, value = cross_force(v, force), (a[0], a[1], a[2])
    if quantity == PULL:
        # The point's acceleration is the body's there and spin x drift.
        moving = add(moving, add(couple(cross(drift, e)), force_at(x, cross(e, spin))))
        straight, turning = at_point(a, x), cross(spin, drift)
        value = (
            straight[0] + turning[0], straight[1] + turning[1], straight[2] + turning[2],
        )  # fmt: skip
    return force, moving, none if local else couple(cross(value, e))


@compiled
def _quaternion_slope(w: float, x: float, y: float, z: float, component: int, i: int) -> float:
    """Derivative of a quaternion's component by turning about axis ``i`` of its own frame."""
    if component == 0:
        return -0.5 * (x if i == 0 else (y if i == 1 else z))
    if component - 1 == i:
        return 0.5 * w
    third = 4 - i - component  # the axis that is neither, 0 to 2
    part = x if third == 0 else (y if third == 1 else z)
    return 0.5 * part if component % 3 == third else -0.5 * part
