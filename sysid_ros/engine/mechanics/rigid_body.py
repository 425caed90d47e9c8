# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics and its analytical derivatives, in world coordinates.

For degrees of freedom j at or above i in the tree, with S the motion subspaces, I, B and f the
inertia, the velocity-product matrix and the force of everything below (composites),

    M_ij        = S_i . I_i S_j
    dtau_i/dq_j = S_i . (B_i P_j + I_i R_j)
    dtau_j/dq_i = S_j . (B_i P_i + I_i R_i + S_i x* f_i)
    dtau_i/dv_j = S_i . (B_i S_j + I_i (P_j + T_j))
    dtau_j/dv_i = S_j . (B_i S_i + I_i (P_i + T_i))

    P_j = V x S_j, R_j = A x S_j + V x P_j   with velocity V and acceleration A before the joint,
    T_j = V' x S_j                           with velocity V' behind it.

The three axes of a ball are fixed to the body behind it and belong to one joint: V, A and V' are
those before and behind all three, and among them S_j x* f_j does not appear. A free joint is three
slides and a ball. Turning the ball by a small vector in the body's frame is how it moves in q.

See Singh, Russell & Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial
Vector Algebra, IEEE RA-L 7 (2022), whose 2B is called B here.
"""

from __future__ import annotations

from typing import NamedTuple

from sysid_ros.arrays import FloatArray, zeros
from sysid_ros.engine.compiled import (
    Six,
    add,
    clear_matrix,
    compiled,
    compiled_apart,
    copy_vector,
    cross_force,
    cross_motion,
    dot,
    into_body,
    load,
    momentum_basis,
    multiply_inertia,
    multiply_product,
    multiply_product_transposed,
    rotated,
    scale,
    store,
    velocity_product,
)
from sysid_ros.engine.mechanics.kinematics import Motion, Pose
from sysid_ros.engine.mechanics.model_tables import Tables


class Derivatives(NamedTuple):
    """Inverse dynamics without armature, its derivatives, and what they are made of."""

    torque: FloatArray  # (nv,)
    mass: FloatArray  # (nv, nv)
    by_position: FloatArray  # (nv, nv)
    by_velocity: FloatArray  # (nv, nv)
    inertia: FloatArray  # (nbody, 10): I of everything below, as its inertial parameters
    lifted: FloatArray  # (nbody, 10): the same times the share of gravity that is compensated
    product: FloatArray  # (nbody, 12): B of everything below, as of velocity_product
    force: FloatArray  # (nbody, 6): f of everything below
    p: FloatArray  # (nv, 6)
    r: FloatArray  # (nv, 6)
    w: FloatArray  # (nv, 6): P + T
    below_product: FloatArray  # (nv, 6): the transpose of B of everything below times S
    below_inertia: FloatArray  # (nv, 6): I of everything below times S


def new_derivatives(nbody: int, nv: int) -> Derivatives:
    """Room for derivatives."""
    square, parameters, by_dof = (nv, nv), (nbody, 10), (nv, 6)
    bodies = parameters, parameters, (nbody, 12), (nbody, 6)
    dofs = by_dof, by_dof, by_dof, by_dof, by_dof
    return Derivatives(*zeros(nv, square, square, square, *bodies, *dofs))


@compiled_apart
def differentiate(
    t: Tables, pose: Pose, motion: Motion, thrust: FloatArray, d: Derivatives
) -> None:
    """Inverse dynamics, mass matrix and the derivatives in positions and velocities.

    Args:
      t: The model.
      pose: Where everything is.
      motion: How everything moves.
      thrust: Forces of the actuators, (nu,). What those at sites do, fixed to their bodies, is
        taken off the torque that the motion needs.
      d: Written.
    """
    _composites(t, pose, motion, thrust, d)
    nv = t.dof_bodyid.size
    for i in range(nv):
        s, before = load(pose.subspace[i]), load(motion.velocity_before[i])
        p = cross_motion(before, s)
        store(p, d.p[i])
        accelerated = cross_motion(load(motion.acceleration_before[i]), s)
        store(add(accelerated, cross_motion(before, p)), d.r[i])
        store(add(p, cross_motion(load(motion.velocity_behind[i]), s)), d.w[i])
    clear_matrix(d.mass)
    clear_matrix(d.by_position)
    clear_matrix(d.by_velocity)
    for i in range(nv):
        body, s = t.dof_bodyid[i], load(pose.subspace[i])
        inertia, product, force = d.inertia[body], d.product[body], load(d.force[body])
        below_product, below_inertia = (
            multiply_product_transposed(product, s),
            multiply_inertia(inertia, s),
        )
        moved = cross_force(s, force)
        above_position = multiply_inertia(inertia, load(d.r[i]))
        above_position = add(above_position, multiply_product(product, load(d.p[i])))
        if t.compensates:
            turned = turned_gravity(t, s)
            above_position = add(above_position, multiply_inertia(d.lifted[body], turned))
            below_lifted = multiply_inertia(d.lifted[body], s)
        above_velocity = add(multiply_product(product, s), multiply_inertia(inertia, load(d.w[i])))
        store(below_product, d.below_product[i])
        store(below_inertia, d.below_inertia[i])
        d.torque[i] = dot(s, force)
        j = i
        while j >= 0:
            sj, pj, rj, wj = load(pose.subspace[j]), load(d.p[j]), load(d.r[j]), load(d.w[j])
            mass = dot(sj, below_inertia)
            d.mass[i, j] = mass
            d.mass[j, i] = mass
            d.by_position[j, i] = dot(sj, above_position)
            if t.dof_first[j] != t.dof_first[i]:
                d.by_position[j, i] += dot(sj, moved)
            d.by_velocity[j, i] = dot(sj, above_velocity)
            d.by_position[i, j] = dot(pj, below_product) + dot(rj, below_inertia)
            d.by_velocity[i, j] = dot(sj, below_product) + dot(wj, below_inertia)
            if t.compensates:
                d.by_position[i, j] += dot(turned_gravity(t, sj), below_lifted)
            j = t.dof_parentid[j]


@compiled
def fall(t: Tables, pose: Pose, motion: Motion, thrust: FloatArray, d: Derivatives) -> None:
    """The inverse dynamics and the mass matrix of :func:`differentiate` alone."""
    _forces(t, pose, motion, thrust, d)
    _gather(t, d.force)
    _gather(t, d.inertia)
    clear_matrix(d.mass)
    for i in range(t.dof_bodyid.size):
        body, s = t.dof_bodyid[i], load(pose.subspace[i])
        below = multiply_inertia(d.inertia[body], s)
        d.torque[i] = dot(s, load(d.force[body]))
        j = i
        while j >= 0:
            mass = dot(load(pose.subspace[j]), below)
            d.mass[i, j] = mass
            d.mass[j, i] = mass
            j = t.dof_parentid[j]


@compiled
def site_wrench(t: Tables, pose: Pose, u: int) -> Six:
    """The wrench of an actuator at a site per unit of force, about the fixed point."""
    body, local = t.actuator_bodyid[u], t.actuator_wrench[u]
    p = pose.position[body]
    tx, ty, tz = rotated(pose.rotation[body], local[:3])
    fx, fy, fz = rotated(pose.rotation[body], local[3:])
    moment = p[1] * fz - p[2] * fy, p[2] * fx - p[0] * fz, p[0] * fy - p[1] * fx
    return tx + moment[0], ty + moment[1], tz + moment[2], fx, fy, fz


@compiled
def turned_gravity(t: Tables, s: Six) -> Six:
    """The change of gravity as seen by a body that moves along ``s``."""
    return cross_motion((0.0, 0.0, 0.0, t.gravity[0], t.gravity[1], t.gravity[2]), s)


@compiled
def felt(t: Tables, motion: Motion, body: int) -> Six:
    """The acceleration of a body with the reaction to gravity, as far as it is not compensated."""
    a = load(motion.acceleration[body])
    if not t.compensates:
        return a
    c = t.gravity_compensation[body]
    return add(a, (0.0, 0.0, 0.0, c * t.gravity[0], c * t.gravity[1], c * t.gravity[2]))


@compiled
def force_regressor(
    pose: Pose, motion: Motion, body: int, acceleration: Six, basis: FloatArray
) -> None:
    """Write the derivative of the force that moves a body by its parameters, in its frame.

    Args:
      pose: Where everything is.
      motion: How everything moves.
      body: The body.
      acceleration: Its acceleration with the reaction to gravity.
      basis: Written, (2, 6, 10): scratch, and the derivative.
    """
    rotation, position = pose.rotation[body], pose.position[body]
    v = into_body(load(motion.velocity[body]), rotation, position)
    a = into_body(acceleration, rotation, position)
    momentum, force = basis[0], basis[1]
    momentum_basis(v, momentum)
    momentum_basis(a, force)
    for k in range(10):
        column = (
            momentum[0, k], momentum[1, k], momentum[2, k],
            momentum[3, k], momentum[4, k], momentum[5, k],
        )  # fmt: skip
        turned = cross_force(v, column)
        for i in range(6):
            force[i, k] += turned[i]


@compiled
def _composites(t: Tables, pose: Pose, motion: Motion, thrust: FloatArray, d: Derivatives) -> None:
    """Inertia, velocity products and force of each body, then of everything below it."""
    _forces(t, pose, motion, thrust, d)
    for body in range(1, t.body_parentid.size):
        if t.body_lastdof[body] < 0:
            continue
        inertia = pose.inertia[body]
        velocity_product(inertia, load(motion.velocity[body]), d.product[body])
        for k in range(10):
            d.lifted[body, k] = t.gravity_compensation[body] * inertia[k]
    _gather(t, d.force)
    _gather(t, d.inertia)
    _gather(t, d.lifted)
    _gather(t, d.product)


@compiled
def _forces(t: Tables, pose: Pose, motion: Motion, thrust: FloatArray, d: Derivatives) -> None:
    """Inertia and force of each body that moves alone; nothing looks at those of the others."""
    for body in range(1, t.body_parentid.size):
        if t.body_lastdof[body] < 0:
            continue
        inertia = pose.inertia[body]
        v, a = load(motion.velocity[body]), felt(t, motion, body)
        turned = cross_force(v, multiply_inertia(inertia, v))
        store(add(multiply_inertia(inertia, a), turned), d.force[body])
        copy_vector(inertia, d.inertia[body])
    for k in range(t.site_actuators.size):
        u = t.site_actuators[k]
        body = t.actuator_bodyid[u]
        if t.body_lastdof[body] < 0:
            continue
        store(add(load(d.force[body]), scale(site_wrench(t, pose, u), -thrust[u])), d.force[body])


@compiled
def _gather(t: Tables, of_bodies: FloatArray) -> None:
    """Add to the numbers, (nbody, k), of each body that moves those of everything below it."""
    for body in range(t.body_parentid.size - 1, 0, -1):
        parent = t.body_parentid[body]
        if t.body_lastdof[parent] >= 0:
            for k in range(of_bodies.shape[1]):
                of_bodies[parent, k] += of_bodies[body, k]
