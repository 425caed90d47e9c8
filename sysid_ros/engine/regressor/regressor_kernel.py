# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiled inverse-dynamics regressor, sample by sample.

Spatial vectors (Featherstone, Rigid Body Dynamics Algorithms, 2008) are world axes about the
origin of the tree's root body at that instant: S_j the motion of degree of freedom j, V and A a
body's velocity and acceleration. A body's wrench is linear in its ten parameters (Atkeson, An &
Hollerbach, Estimation of inertial parameters of manipulator loads and links, IJRR 5, 1986): with
omega, alpha and a (acceleration of the body's origin less gravity) in the body's own axes,

    f = m a + alpha x h + omega x (omega x h),   n = I alpha + omega x I omega + h x a,

and joint j carries S_j . (n, f).

Everything is in one file because numba's cache on disk looks only at the file of a function.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from sysid_ros.engine.compiled import OPTIONS_OF_WHOLES, compiled_apart

MUJOCO_LAW, VELOCITY_LAW = 0, 1
_FREE, _BALL, _SLIDE = 0, 1, 2

_part: Any = compiled_apart
_called: Any = numba.njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"}, **OPTIONS_OF_WHOLES
)
# What is kept has machine code only, which nothing can link in.
_linked: Any = numba.njit(error_model="numpy", **OPTIONS_OF_WHOLES)


@_part
def _rotation(w, x, y, z, out):  # type: ignore[no-untyped-def]
    s = 2.0 / (w * w + x * x + y * y + z * z)
    out[0, 0] = 1 - s * (y * y + z * z)
    out[0, 1] = s * (x * y - w * z)
    out[0, 2] = s * (x * z + w * y)
    out[1, 0] = s * (x * y + w * z)
    out[1, 1] = 1 - s * (x * x + z * z)
    out[1, 2] = s * (y * z - w * x)
    out[2, 0] = s * (x * z - w * y)
    out[2, 1] = s * (y * z + w * x)
    out[2, 2] = 1 - s * (x * x + y * y)


@_part
def _times(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(3):
        for k in range(3):
            out[i, k] = a[i, 0] * b[0, k] + a[i, 1] * b[1, k] + a[i, 2] * b[2, k]


@_part
def _apply(a, x, y, z):  # type: ignore[no-untyped-def]
    return (
        a[0, 0] * x + a[0, 1] * y + a[0, 2] * z,
        a[1, 0] * x + a[1, 1] * y + a[1, 2] * z,
        a[2, 0] * x + a[2, 1] * y + a[2, 2] * z,
    )


@_part
def _apply_transposed(a, x, y, z):  # type: ignore[no-untyped-def]
    return (
        a[0, 0] * x + a[1, 0] * y + a[2, 0] * z,
        a[0, 1] * x + a[1, 1] * y + a[2, 1] * z,
        a[0, 2] * x + a[1, 2] * y + a[2, 2] * z,
    )


@_part
def _cross(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@_part
def _axis(subspace, dof, wx, wy, wz, arm):  # type: ignore[no-untyped-def]
    """A rotation about an axis through a point ``arm`` from the reference."""
    subspace[dof, 0], subspace[dof, 1], subspace[dof, 2] = wx, wy, wz
    moment = _cross(arm, (wx, wy, wz))
    subspace[dof, 3], subspace[dof, 4], subspace[dof, 5] = moment[0], moment[1], moment[2]


@_part
def _advance(subspace, first, count, v, a, velocity, acceleration):  # type: ignore[no-untyped-def]
    """Add a joint's motion to its body's, with the rates of change of its subspace."""
    for dof in range(first, first + count):
        for i in range(6):
            velocity[i] += subspace[dof, i] * v[dof]
    w = (velocity[0], velocity[1], velocity[2])
    u = (velocity[3], velocity[4], velocity[5])
    for dof in range(first, first + count):
        s = subspace[dof]
        turn = _cross(w, (s[0], s[1], s[2]))
        shift = _cross(w, (s[3], s[4], s[5]))
        swept = _cross(u, (s[0], s[1], s[2]))
        for i in range(3):
            acceleration[i] += s[i] * a[dof] + turn[i] * v[dof]
            acceleration[3 + i] += s[3 + i] * a[dof] + (shift[i] + swept[i]) * v[dof]


@_part
def _move(tree, q, v, a, pos, rot, velocity, acceleration, subspace, ref, work):  # type: ignore[no-untyped-def]
    """Fill positions, orientations and motions of all bodies at one instant."""
    turn, old = work[0], work[1]
    for b in range(1, len(tree.body_parent)):
        p = tree.body_parent[b]
        offset = _apply(rot[p], tree.body_pos[b, 0], tree.body_pos[b, 1], tree.body_pos[b, 2])
        for i in range(3):
            pos[b, i] = pos[p, i] + offset[i]
        _times(rot[p], tree.body_rotation[b], rot[b])
        first, count = tree.body_joint[b, 0], tree.body_joint[b, 1]
        root = tree.body_root[b]
        if root == b:
            free = count > 0 and tree.joint_type[first] == _FREE
            for i in range(3):
                ref[b, i] = q[tree.joint_qpos[first] + i] if free else pos[b, i]
        for i in range(6):
            velocity[b, i], acceleration[b, i] = velocity[p, i], acceleration[p, i]
        for joint in range(first, first + count):
            kind, dof, at = tree.joint_type[joint], tree.joint_dof[joint], tree.joint_qpos[joint]
            if kind == _FREE:
                for i in range(3):
                    pos[b, i] = q[at + i]
                    for k in range(6):
                        subspace[dof + i, k] = 0.0
                    subspace[dof + i, 3 + i] = 1.0
                    velocity[b, 3 + i] += v[dof + i]
                    acceleration[b, 3 + i] += a[dof + i]
                _rotation(q[at + 3], q[at + 4], q[at + 5], q[at + 6], rot[b])
                for i in range(3):
                    axis = (rot[b, 0, i], rot[b, 1, i], rot[b, 2, i])
                    _axis(subspace, dof + 3 + i, axis[0], axis[1], axis[2], (0.0, 0.0, 0.0))
                _advance(subspace, dof + 3, 3, v, a, velocity[b], acceleration[b])
                continue
            jp = tree.joint_pos[joint]
            anchor = _apply(rot[b], jp[0], jp[1], jp[2])
            ax, ay, az = pos[b, 0] + anchor[0], pos[b, 1] + anchor[1], pos[b, 2] + anchor[2]
            arm = (ax - ref[root, 0], ay - ref[root, 1], az - ref[root, 2])
            ja = tree.joint_axis[joint]
            axis = _apply(rot[b], ja[0], ja[1], ja[2])
            if kind == _SLIDE:
                moved = q[at] - tree.qpos0[at]
                for i in range(3):
                    pos[b, i] += axis[i] * moved
                    subspace[dof, i] = 0.0
                    subspace[dof, 3 + i] = axis[i]
                _advance(subspace, dof, 1, v, a, velocity[b], acceleration[b])
                continue
            for i in range(3):
                for k in range(3):
                    old[i, k] = rot[b, i, k]
            if kind == _BALL:
                _rotation(q[at], q[at + 1], q[at + 2], q[at + 3], turn)
                _times(old, turn, rot[b])
            else:
                half = 0.5 * (q[at] - tree.qpos0[at])
                s = np.sin(half)
                _rotation(np.cos(half), s * ja[0], s * ja[1], s * ja[2], turn)
                _times(old, turn, rot[b])
            back = _apply(rot[b], jp[0], jp[1], jp[2])
            pos[b, 0], pos[b, 1], pos[b, 2] = ax - back[0], ay - back[1], az - back[2]
            if kind == _BALL:
                for i in range(3):
                    _axis(subspace, dof + i, rot[b, 0, i], rot[b, 1, i], rot[b, 2, i], arm)
                _advance(subspace, dof, 3, v, a, velocity[b], acceleration[b])
            else:
                _axis(subspace, dof, axis[0], axis[1], axis[2], arm)
                _advance(subspace, dof, 1, v, a, velocity[b], acceleration[b])


@_part
def _local(rot, spatial, arm):  # type: ignore[no-untyped-def]
    """A spatial motion at the body's origin in the body's axes: angular and linear part."""
    w = (spatial[0], spatial[1], spatial[2])
    shift = _cross(w, arm)
    angular = _apply_transposed(rot, w[0], w[1], w[2])
    linear = _apply_transposed(
        rot, spatial[3] + shift[0], spatial[4] + shift[1], spatial[5] + shift[2]
    )
    return angular, linear


@_part
def _power(out, w, u, alpha, omega, linear):  # type: ignore[no-untyped-def]
    """Add the power of a motion (w, u) on a body's wrench, which is linear in ten parameters."""
    out[0] += u[0] * linear[0] + u[1] * linear[1] + u[2] * linear[2]
    by_turn = _cross(u, alpha)
    by_shift = _cross(linear, w)
    turned = _cross(w, omega)
    spun = _cross(omega, u)
    centrifugal = _cross(omega, spun)
    for i in range(3):
        out[1 + i] += by_turn[i] + by_shift[i] + centrifugal[i]
        out[4 + i] += w[i] * alpha[i] + turned[i] * omega[i]
    out[7] += w[0] * alpha[1] + w[1] * alpha[0] + turned[0] * omega[1] + turned[1] * omega[0]
    out[8] += w[0] * alpha[2] + w[2] * alpha[0] + turned[0] * omega[2] + turned[2] * omega[0]
    out[9] += w[1] * alpha[2] + w[2] * alpha[1] + turned[1] * omega[2] + turned[2] * omega[1]


@_part
def _bodies(tree, layout, pos, rot, velocity, acceleration, subspace, ref, rows):  # type: ignore[no-untyped-def]
    """Add what the inertia of every body asks of every degree of freedom that moves it."""
    g = tree.gravity
    for b in range(1, len(tree.body_parent)):
        column = layout.body[b]
        if column < 0:
            continue
        root = tree.body_root[b]
        arm = (pos[b, 0] - ref[root, 0], pos[b, 1] - ref[root, 1], pos[b, 2] - ref[root, 2])
        omega, linear = _local(rot[b], velocity[b], arm)
        down = _apply_transposed(rot[b], g[0], g[1], g[2])
        alpha, spatial = _local(rot[b], acceleration[b], arm)
        swirl = _cross(omega, linear)
        lifted = (spatial[0] + swirl[0], spatial[1] + swirl[1], spatial[2] + swirl[2])
        dof = tree.body_last_dof[b]
        while dof >= 0:
            out = rows[dof, column : column + 10]
            w, u = _local(rot[b], subspace[dof], arm)
            share = 1.0 if tree.dof_actuated_gravity[dof] else 1.0 - tree.gravcomp[b]
            held = (-share * down[0], -share * down[1], -share * down[2])
            total = (lifted[0] + held[0], lifted[1] + held[1], lifted[2] + held[2])
            _power(out, w, u, alpha, omega, total)
            dof = tree.dof_parent[dof]


@_part
def _sign(law, friction, place, v, a):  # type: ignore[no-untyped-def]
    if law == VELOCITY_LAW:
        return np.tanh(v / friction.width[place])
    return min(1.0, max(-1.0, (a + friction.rate[place] * v) / friction.width[place]))


@_part
def _joints(tree, layout, friction, law, q, v, a, rows):  # type: ignore[no-untyped-def]
    """Add armature, damping, friction, spring and offset of every degree of freedom."""
    for dof in range(rows.shape[0]):
        if layout.armature[dof] >= 0:
            rows[dof, layout.armature[dof]] += a[dof]
        if layout.damping[dof] >= 0:
            rows[dof, layout.damping[dof]] += v[dof]
        if layout.damping2[dof] >= 0:
            rows[dof, layout.damping2[dof]] += abs(v[dof]) * v[dof]
        if layout.damping3[dof] >= 0:
            rows[dof, layout.damping3[dof]] += v[dof] ** 3
        if layout.frictionloss[dof] >= 0:
            sign = _sign(law, friction, dof, v[dof], a[dof])
            rest = friction.rest[dof] if abs(sign) < 1.0 else 1.0
            rows[dof, layout.frictionloss[dof]] += sign * rest
            if abs(sign) < 1.0:
                for column in range(friction.inertia.shape[1]):
                    rows[dof, column] += sign * friction.inertia[dof, column]
        if layout.stiffness[dof] >= 0:
            at = tree.joint_qpos[tree.dof_joint[dof]]
            rows[dof, layout.stiffness[dof]] += q[at] - tree.qpos_spring[at]
        if layout.offset[dof] >= 0:
            rows[dof, layout.offset[dof]] += 1.0


@_part
def _tendons(tree, layout, friction, law, v, a, rows):  # type: ignore[no-untyped-def]
    """Add what fixed tendons do: they couple the joints in whose positions they are linear.

    Their armature couples joints on one branch only, as MuJoCo's mass matrix does.
    """
    nv = rows.shape[0]
    for t in range(len(layout.tendon_armature)):
        speed, surge = 0.0, 0.0
        for dof in range(nv):
            speed += tree.tendon[t, dof] * v[dof]
            surge += tree.tendon[t, dof] * a[dof]
        for dof in range(nv):
            arm = tree.tendon[t, dof]
            if arm == 0.0:
                continue
            if layout.tendon_armature[t] >= 0:
                for other in range(nv):
                    if tree.related[dof, other]:
                        share = arm * tree.tendon[t, other] * a[other]
                        rows[dof, layout.tendon_armature[t]] += share
            if layout.tendon_damping[t] >= 0:
                rows[dof, layout.tendon_damping[t]] += arm * speed
            if layout.tendon_frictionloss[t] >= 0:
                sign = _sign(law, friction, nv + t, speed, surge)
                rows[dof, layout.tendon_frictionloss[t]] += arm * sign


@_part
def _fold(tree, q, rows):  # type: ignore[no-untyped-def]
    """Let what drives a coupled joint carry its torque; the joint's own row becomes zero."""
    for e in range(len(tree.coupling)):
        dependent, driving = int(tree.coupling[e, 0]), int(tree.coupling[e, 1])
        if driving >= 0:
            at = tree.joint_qpos[tree.dof_joint[driving]]
            x = q[at] - tree.qpos0[at]
            c = tree.coupling[e]
            gain = c[3] + x * (2.0 * c[4] + x * (3.0 * c[5] + x * 4.0 * c[6]))
            for column in range(rows.shape[1]):
                rows[driving, column] += gain * rows[dependent, column]
        for column in range(rows.shape[1]):
            rows[dependent, column] = 0.0


@_linked
def _workspace(tree, nv):  # type: ignore[no-untyped-def]
    nb = len(tree.body_parent)
    rot = np.zeros((nb, 3, 3))
    for i in range(3):
        rot[0, i, i] = 1.0
    return (
        np.zeros((nb, 3)), rot, np.zeros((nb, 6)), np.zeros((nb, 6)), np.zeros((nv, 6)),
        np.zeros((nb, 3)), np.zeros((2, 3, 3)),
    )  # fmt: skip


@_part
def _sample(tree, layout, friction, law, q, v, a, space, rows):  # type: ignore[no-untyped-def]
    pos, rot, velocity, acceleration, subspace, ref, work = space
    for dof in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            rows[dof, column] = 0.0
    _move(tree, q, v, a, pos, rot, velocity, acceleration, subspace, ref, work)
    _bodies(tree, layout, pos, rot, velocity, acceleration, subspace, ref, rows)
    _joints(tree, layout, friction, law, q, v, a, rows)
    _tendons(tree, layout, friction, law, v, a, rows)
    _fold(tree, q, rows)


@_called
def fill(tree, layout, friction, law, qpos, qvel, qacc, out):  # type: ignore[no-untyped-def]
    """Write the regressor of n instants.

    Args:
      tree: Kinematics.
      layout: Columns.
      friction: Sign of dry friction.
      law: ``MUJOCO_LAW`` or ``VELOCITY_LAW``.
      qpos: (n, nq).
      qvel: (n, nv).
      qacc: (n, nv).
      out: (n, nv, p), overwritten.
    """
    space = _workspace(tree, out.shape[1])
    for k in range(len(qpos)):
        _sample(tree, layout, friction, law, qpos[k], qvel[k], qacc[k], space, out[k])


@_called
def torques(tree, layout, friction, law, qpos, qvel, qacc, parts, out):  # type: ignore[no-untyped-def]
    """The torque of several sets of parameters, without keeping the regressor.

    Takes what :func:`fill` takes, and parts (sets, p); writes out (n, sets, nv).
    """
    rows = np.zeros((out.shape[2], parts.shape[1]))
    space = _workspace(tree, out.shape[2])
    for k in range(len(qpos)):
        _sample(tree, layout, friction, law, qpos[k], qvel[k], qacc[k], space, rows)
        for s in range(parts.shape[0]):
            for j in range(out.shape[2]):
                total = 0.0
                for c in range(parts.shape[1]):
                    total += rows[j, c] * parts[s, c]
                out[k, s, j] = total
