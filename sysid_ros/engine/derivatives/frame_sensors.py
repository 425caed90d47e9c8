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
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import add_scaled, compiled, compiled_apart
from sysid_ros.engine.derivatives.directions import ModelDirections
from sysid_ros.engine.derivatives.displacement_changes import (
    add_displaced_force,
    add_displaced_reading,
)
from sysid_ros.engine.mechanics import (
    Motion,
    Six,
    Tables,
    Three,
    Workspace,
    add,
    at_point,
    carries,
    couple,
    cross,
    cross_force,
    dot,
    force_at,
    force_regressor,
    in_fluid,
    into_body,
    load,
    multiply_inertia,
    multiply_product,
    quaternion_to_matrix,
    scale,
)

_S, _O = mujoco.mjtSensor, mujoco.mjtObj

PLACE, DIRECTION, ORIENTATION, SPIN, DRIFT, TURNING, PULL = range(7)
"""What is measured: a point, a fixed direction, an orientation, angular and linear velocity,
angular and linear acceleration."""
BALL_ORIENTATION, BALL_SPIN = 7, 8
FIELD = 9  # the magnetic field, which is constant in the world
INTERACTION_FORCE, INTERACTION_TORQUE = 10, 11  # between the body and its parent
ACCELERATED = (TURNING, PULL, INTERACTION_FORCE, INTERACTION_TORQUE)
"""What depends on accelerations."""

# Sensors: the quantity, and whether it is given in the sensor's own frame.
FRAME_SENSORS = {
    int(_S.mjSENS_FRAMEPOS): (PLACE, False),
    int(_S.mjSENS_FRAMEQUAT): (ORIENTATION, False),
    int(_S.mjSENS_FRAMEXAXIS): (DIRECTION, False),
    int(_S.mjSENS_FRAMEYAXIS): (DIRECTION, False),
    int(_S.mjSENS_FRAMEZAXIS): (DIRECTION, False),
    int(_S.mjSENS_FRAMELINVEL): (DRIFT, False),
    int(_S.mjSENS_FRAMEANGVEL): (SPIN, False),
    int(_S.mjSENS_FRAMELINACC): (PULL, False),
    int(_S.mjSENS_FRAMEANGACC): (TURNING, False),
    int(_S.mjSENS_GYRO): (SPIN, True),
    int(_S.mjSENS_VELOCIMETER): (DRIFT, True),
    int(_S.mjSENS_ACCELEROMETER): (PULL, True),
    int(_S.mjSENS_MAGNETOMETER): (FIELD, True),
    int(_S.mjSENS_FORCE): (INTERACTION_FORCE, True),
    int(_S.mjSENS_TORQUE): (INTERACTION_TORQUE, True),
    int(_S.mjSENS_BALLQUAT): (BALL_ORIENTATION, True),
    int(_S.mjSENS_BALLANGVEL): (BALL_SPIN, True),
}
_AXES = {int(_S.mjSENS_FRAMEXAXIS): 0, int(_S.mjSENS_FRAMEYAXIS): 1, int(_S.mjSENS_FRAMEZAXIS): 2}


class FrameReadings(NamedTuple):
    """Components of sensors that are fixed to bodies."""

    row: IntArray  # (k,): the reading that each is
    quantity: IntArray  # (k,): as in FRAME_SENSORS
    local: IntArray  # (k,): whether in the sensor's own frame
    component: IntArray  # (k,)
    item: IntArray  # (k,): the body, or the first degree of freedom of a ball
    axis: IntArray  # (k,): which axis of the frame is its direction
    position: FloatArray  # (k, 3): of the frame on the body, m
    quaternion: FloatArray  # (k, 4)
    field: FloatArray  # (3,): magnetic
    accelerated: bool  # whether any measures accelerations
    loaded: bool  # whether any measures forces between bodies


def unsupported_frame(model: mujoco.MjModel, sensor: int) -> str | None:
    """Return why a sensor of a kind in FRAME_SENSORS cannot be differentiated, if it cannot."""
    kinds = (
        int(_O.mjOBJ_SITE), int(_O.mjOBJ_XBODY), int(_O.mjOBJ_BODY), int(_O.mjOBJ_JOINT)
    )  # fmt: skip
    if int(model.sensor_objtype[sensor]) not in kinds:
        return "a sensor's frame is neither a site nor a body's"
    if int(model.sensor_refid[sensor]) >= 0:
        return "a sensor measures in a moving frame"
    if FRAME_SENSORS[int(model.sensor_type[sensor])][0] in (INTERACTION_FORCE, INTERACTION_TORQUE):
        return _unsupported_force(model, int(model.site_bodyid[int(model.sensor_objid[sensor])]))
    return None


def _unsupported_force(model: mujoco.MjModel, body: int) -> str | None:
    """The same for the force between a body and its parent."""
    if int(model.body_weldid[body]) == 0:
        return "a force or torque sensor is on a body that stands still"
    if np.any(np.asarray(model.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_SITE)):
        return "a force or torque sensor is beside thrusters"
    if in_fluid(model):
        return "a force or torque sensor is in a fluid"
    return None


def frame_readings(
    model: mujoco.MjModel, sensors: IntArray, components: IntArray, rows: IntArray
) -> FrameReadings:
    """The readings among components of sensors.

    Args:
      model: The compiled model.
      sensors: Sensors of kinds in FRAME_SENSORS, (k,).
      components: Which component of the sensor, (k,).
      rows: Which reading each is, (k,).
    """
    kinds = np.asarray(model.sensor_type)[sensors]
    what = np.array([FRAME_SENSORS[int(kind)] for kind in kinds], dtype=np.int64).reshape(-1, 2)
    places = [_mounting(model, int(sensor)) for sensor in sensors]
    return FrameReadings(
        rows.astype(np.int64),
        np.ascontiguousarray(what[:, 0]),
        np.ascontiguousarray(what[:, 1]),
        components.astype(np.int64),
        np.array([place[0] for place in places], dtype=np.int64),
        np.array([_AXES.get(int(kind), 0) for kind in kinds], dtype=np.int64),
        np.array([place[1] for place in places], dtype=np.float64).reshape(-1, 3),
        np.array([place[2] for place in places], dtype=np.float64).reshape(-1, 4),
        np.array(model.opt.magnetic, dtype=np.float64),
        bool(np.isin(what[:, 0], ACCELERATED).any()),
        bool(np.isin(what[:, 0], (INTERACTION_FORCE, INTERACTION_TORQUE)).any()),
    )


def _mounting(model: mujoco.MjModel, sensor: int) -> tuple[int, Any, Any]:
    """The body of a sensor, or the first dof of its joint, and its frame's position on it."""
    kind, item = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
    if kind == int(_O.mjOBJ_SITE):
        return int(model.site_bodyid[item]), model.site_pos[item], model.site_quat[item]
    if kind == int(_O.mjOBJ_JOINT):
        return int(model.jnt_dofadr[item]), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if kind == int(_O.mjOBJ_BODY):  # its inertial frame
        return item, model.body_ipos[item], model.body_iquat[item]
    return item, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def frames_alike(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Return whether the inertial frames that are measured are where they were."""
    seen = np.asarray(one.sensor_objtype) == int(_O.mjOBJ_BODY)
    bodies = np.asarray(one.sensor_objid)[seen]
    return all(
        np.array_equal(getattr(one, name)[bodies], getattr(other, name)[bodies])
        for name in ("body_ipos", "body_iquat")
    )


@compiled_apart
def read_frames(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    r: FrameReadings,
    q: FloatArray,
    dq: FloatArray,
    dv: FloatArray,
    out: FloatArray,
) -> None:
    """Write the derivatives of all readings at one instant into their rows, (n_reading, n).

    Accelerations need ``w.d_qacc`` and the motion that belongs to it.
    """
    n = dq.shape[1]
    for k in range(r.row.size):
        row, quantity, item = r.row[k], r.quantity[k], r.item[k]
        if quantity == BALL_SPIN:
            add_scaled(out, row, 1.0, dv, item + r.component[k], n)
            continue
        if quantity == BALL_ORIENTATION:
            address = t.jnt_qposadr[t.dof_jntid[item]]
            turn = q[address : address + 4]
            for i in range(3):
                share = _quaternion_slope(turn[0], turn[1], turn[2], turn[3], r.component[k], i)
                add_scaled(out, row, share, dq, item + i, n)
            continue
        if quantity in (INTERACTION_FORCE, INTERACTION_TORQUE):
            _read_force(t, w, m, _measured_along(r, k, w), r.item[k], row, dq, dv, out)
            continue
        covectors = _covectors(r, k, w)
        accelerating, moving, displacing = covectors
        add_displaced_reading(t, w, m.displacements, item, covectors, row, out)
        d = w.derivatives
        j = t.body_lastdof[item]
        while j >= 0:
            s, p = load(w.pose.subspace[j]), load(d.p[j])
            add_scaled(out, row, dot(moving, p) + dot(displacing, s), dq, j, n)
            add_scaled(out, row, dot(moving, s), dv, j, n)
            if quantity in (TURNING, PULL):
                add_scaled(out, row, dot(accelerating, load(d.r[j])), dq, j, n)
                add_scaled(out, row, dot(accelerating, load(d.w[j])), dv, j, n)
                add_scaled(out, row, dot(accelerating, s), w.d_qacc, j, n)
            j = t.dof_parentid[j]


@compiled
def _read_force(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    twist: Six,
    body: int,
    row: int,
    dq: FloatArray,
    dv: FloatArray,
    out: FloatArray,
) -> None:
    """Add the derivative of the force between a body and its parent along ``twist``.

    MuJoCo counts weight whether or not it is compensated.
    """
    add_displaced_force(t, w, m.displacements, body, twist, row, out)
    d, n = w.derivatives, dq.shape[1]
    gravity = t.gravity[0], t.gravity[1], t.gravity[2]
    for j in range(dq.shape[0]):
        carried = t.dof_bodyid[j]
        outer = max(carried, body)
        if not carries(t, min(carried, body), outer):
            continue
        s, inertia, product = load(w.pose.subspace[j]), d.inertia[outer], d.product[outer]
        by_position = multiply_product(product, load(d.p[j]))
        by_position = add(by_position, multiply_inertia(inertia, load(d.r[j])))
        if carried > body:
            lifted = multiply_inertia(d.lifted[outer], (0.0, 0.0, 0.0, *gravity))
            force = add(load(d.force[outer]), scale(lifted, -1.0))
            by_position = add(by_position, cross_force(s, force))
        by_velocity = add(multiply_product(product, s), multiply_inertia(inertia, load(d.w[j])))
        add_scaled(out, row, dot(twist, by_position), dq, j, n)
        add_scaled(out, row, dot(twist, by_velocity), dv, j, n)
        add_scaled(out, row, dot(twist, multiply_inertia(inertia, s)), w.d_qacc, j, n)
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
    turned[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    turned[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    turned[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    turned[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
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
    return x, e


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
    return _motion_covectors(quantity, r.local[k] != 0, w.motion, body, x, e)


@compiled
def _motion_covectors(
    quantity: int,
    local: bool,
    motion: Motion,
    body: int,
    x: Three,
    e: Three,
) -> tuple[Six, Six, Six]:
    """The same for velocities and accelerations along ``e`` at the point ``x``."""
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    v, a = load(motion.velocity[body]), load(motion.acceleration[body])
    spin, drift = (v[0], v[1], v[2]), at_point(v, x)
    force = couple(e) if quantity in (SPIN, TURNING) else force_at(x, e)
    if quantity in (SPIN, DRIFT):
        value = spin if quantity == SPIN else drift
        return none, force, none if local else couple(cross(value, e))
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
