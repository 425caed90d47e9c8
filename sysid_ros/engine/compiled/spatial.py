# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Spatial vector algebra, compiled.

Vectors are tuples of six numbers, angular part first, about one fixed point of the world: a motion
is (omega, v) and a force (torque, f). See Featherstone, Rigid Body Dynamics Algorithms (2008),
chapter 2. Inertial parameters are ten numbers (m, m c_x, m c_y, m c_z, I_xx, I_yy, I_zz, I_xy,
I_xz, I_yz) about the origin of the body's frame; the inertia is linear in them.
"""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled.decorators import compiled

Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]

# Where the entries of the symmetric tensor stand among the ten parameters, row by row.
_TENSOR = (4, 7, 8, 7, 5, 9, 8, 9, 6)


@compiled
def load(x: FloatArray) -> Six:
    """The numbers of an array of shape (6,)."""
    return x[0], x[1], x[2], x[3], x[4], x[5]


@compiled
def store(x: Six, out: FloatArray) -> None:
    """Write into an array of shape (6,)."""
    for i in range(6):
        out[i] = x[i]


@compiled
def add(a: Six, b: Six) -> Six:
    """``a + b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@compiled
def scale(a: Six, s: float) -> Six:
    """``a s``."""
    return a[0] * s, a[1] * s, a[2] * s, a[3] * s, a[4] * s, a[5] * s


@compiled
def dot(a: Six, b: Six) -> float:
    """Scalar product of a motion and a force."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@compiled
def scalar(a: Three, b: Three) -> float:
    """``a . b``."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def cross(a: Three, b: Three) -> Three:
    """The product of two vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def at_point(m: Six, x: Three) -> Three:
    """The linear part of a motion at a point."""
    turned = cross((m[0], m[1], m[2]), x)
    return m[3] + turned[0], m[4] + turned[1], m[5] + turned[2]


@compiled
def force_at(x: Three, e: Three) -> Six:
    """A force ``e`` that acts at ``x``."""
    moment = cross(x, e)
    return moment[0], moment[1], moment[2], e[0], e[1], e[2]


@compiled
def couple(e: Three) -> Six:
    """A torque without force."""
    return e[0], e[1], e[2], 0.0, 0.0, 0.0


@compiled
def rotated(rotation: FloatArray, x: FloatArray) -> Three:
    """A vector of a body in the world, (3,)."""
    return (
        rotation[0, 0] * x[0] + rotation[0, 1] * x[1] + rotation[0, 2] * x[2],
        rotation[1, 0] * x[0] + rotation[1, 1] * x[1] + rotation[1, 2] * x[2],
        rotation[2, 0] * x[0] + rotation[2, 1] * x[1] + rotation[2, 2] * x[2],
    )


@compiled
def cross_motion(v: Six, m: Six) -> Six:
    """``v x m``: how a motion moved along with ``v`` changes."""
    return (
        v[1] * m[2] - v[2] * m[1],
        v[2] * m[0] - v[0] * m[2],
        v[0] * m[1] - v[1] * m[0],
        v[1] * m[5] - v[2] * m[4] + v[4] * m[2] - v[5] * m[1],
        v[2] * m[3] - v[0] * m[5] + v[5] * m[0] - v[3] * m[2],
        v[0] * m[4] - v[1] * m[3] + v[3] * m[1] - v[4] * m[0],
    )


@compiled
def cross_force(v: Six, f: Six) -> Six:
    """``v x* f``: how a force moved along with ``v`` changes."""
    return (
        v[1] * f[2] - v[2] * f[1] + v[4] * f[5] - v[5] * f[4],
        v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5],
        v[0] * f[1] - v[1] * f[0] + v[3] * f[4] - v[4] * f[3],
        v[1] * f[5] - v[2] * f[4],
        v[2] * f[3] - v[0] * f[5],
        v[0] * f[4] - v[1] * f[3],
    )


@compiled
def multiply_inertia(p: FloatArray, m: Six) -> Six:
    """The momentum ``I(p) m`` of a motion, for the parameters of :func:`move_inertia`."""
    return (
        p[4] * m[0] + p[7] * m[1] + p[8] * m[2] + p[2] * m[5] - p[3] * m[4],
        p[7] * m[0] + p[5] * m[1] + p[9] * m[2] + p[3] * m[3] - p[1] * m[5],
        p[8] * m[0] + p[9] * m[1] + p[6] * m[2] + p[1] * m[4] - p[2] * m[3],
        p[0] * m[3] + m[1] * p[3] - m[2] * p[2],
        p[0] * m[4] + m[2] * p[1] - m[0] * p[3],
        p[0] * m[5] + m[0] * p[2] - m[1] * p[1],
    )


@compiled
def velocity_product(p: FloatArray, v: Six, out: FloatArray) -> None:
    """Write B = v x* I + (. x* I v) - I (v x .), which takes a motion to a force.

    With the parts (omega, u) of v, the tensor J, the first moment h and the linear momentum f,

        B (a, b) = (B_1 a, 2 a x f),  B_1 = omega x (2 J - tr J) - 2 (u h^T - (h . u)).

    Args:
      p: The ten inertial parameters about the fixed point.
      v: The body's velocity.
      out: Written: B_1 row by row and f, (12,).
    """
    trace, along = p[4] + p[5] + p[6], p[1] * v[3] + p[2] * v[4] + p[3] * v[5]
    momentum = multiply_inertia(p, v)
    for k in range(3):
        x, y, z = 2.0 * p[_TENSOR[k]], 2.0 * p[_TENSOR[3 + k]], 2.0 * p[_TENSOR[6 + k]]
        if k == 0:
            x -= trace
        elif k == 1:
            y -= trace
        else:
            z -= trace
        twice = 2.0 * p[1 + k]
        out[k] = v[1] * z - v[2] * y - v[3] * twice
        out[3 + k] = v[2] * x - v[0] * z - v[4] * twice
        out[6 + k] = v[0] * y - v[1] * x - v[5] * twice
        out[4 * k] += 2.0 * along
        out[9 + k] = momentum[3 + k]


@compiled
def multiply_product(b: FloatArray, m: Six) -> Six:
    """``B m`` for B as of :func:`velocity_product`."""
    return (
        b[0] * m[0] + b[1] * m[1] + b[2] * m[2],
        b[3] * m[0] + b[4] * m[1] + b[5] * m[2],
        b[6] * m[0] + b[7] * m[1] + b[8] * m[2],
        2.0 * (m[1] * b[11] - m[2] * b[10]),
        2.0 * (m[2] * b[9] - m[0] * b[11]),
        2.0 * (m[0] * b[10] - m[1] * b[9]),
    )


@compiled
def multiply_product_transposed(b: FloatArray, m: Six) -> Six:
    """``B^T m`` for B as of :func:`velocity_product`; its linear part is zero."""
    return (
        b[0] * m[0] + b[3] * m[1] + b[6] * m[2] + 2.0 * (b[10] * m[5] - b[11] * m[4]),
        b[1] * m[0] + b[4] * m[1] + b[7] * m[2] + 2.0 * (b[11] * m[3] - b[9] * m[5]),
        b[2] * m[0] + b[5] * m[1] + b[8] * m[2] + 2.0 * (b[9] * m[4] - b[10] * m[3]),
        0.0,
        0.0,
        0.0,
    )


@compiled
def into_body(m: Six, rotation: FloatArray, position: FloatArray) -> Six:
    """A motion about the fixed point, seen in a frame at ``position``."""
    x = m[3] + m[1] * position[2] - m[2] * position[1]
    y = m[4] + m[2] * position[0] - m[0] * position[2]
    z = m[5] + m[0] * position[1] - m[1] * position[0]
    return (
        rotation[0, 0] * m[0] + rotation[1, 0] * m[1] + rotation[2, 0] * m[2],
        rotation[0, 1] * m[0] + rotation[1, 1] * m[1] + rotation[2, 1] * m[2],
        rotation[0, 2] * m[0] + rotation[1, 2] * m[1] + rotation[2, 2] * m[2],
        rotation[0, 0] * x + rotation[1, 0] * y + rotation[2, 0] * z,
        rotation[0, 1] * x + rotation[1, 1] * y + rotation[2, 1] * z,
        rotation[0, 2] * x + rotation[1, 2] * y + rotation[2, 2] * z,
    )


@compiled
def quaternion_to_matrix(q: FloatArray, out: FloatArray) -> None:
    """Rotation matrix (3, 3) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0, 0] = w * w + x * x - y * y - z * z
    out[0, 1] = 2.0 * (x * y - w * z)
    out[0, 2] = 2.0 * (x * z + w * y)
    out[1, 0] = 2.0 * (x * y + w * z)
    out[1, 1] = w * w - x * x + y * y - z * z
    out[1, 2] = 2.0 * (y * z - w * x)
    out[2, 0] = 2.0 * (x * z - w * y)
    out[2, 1] = 2.0 * (y * z + w * x)
    out[2, 2] = w * w - x * x - y * y + z * z


@compiled
def multiply_quaternions(
    aw: float, ax: float, ay: float, az: float, b: FloatArray, out: FloatArray
) -> None:
    """``a b`` for a quaternion ``a`` given by its components; ``out`` may be ``b``."""
    bw, bx, by, bz = b[0], b[1], b[2], b[3]
    out[0] = aw * bw - ax * bx - ay * by - az * bz
    out[1] = aw * bx + ax * bw + ay * bz - az * by
    out[2] = aw * by - ax * bz + ay * bw + az * bx
    out[3] = aw * bz + ax * by - ay * bx + az * bw


@compiled
def move_inertia(
    p: FloatArray, rotation: FloatArray, position: FloatArray, out: FloatArray
) -> None:
    """Inertial parameters about the fixed point, along the world's axes.

    Args:
      p: The ten inertial parameters in the body's frame.
      rotation: From the body's frame to the world, (3, 3).
      position: The frame's origin relative to the fixed point, (3,), m.
      out: Written, (10,).
    """
    mass, x, y, z = p[0], position[0], position[1], position[2]
    hx = rotation[0, 0] * p[1] + rotation[0, 1] * p[2] + rotation[0, 2] * p[3]
    hy = rotation[1, 0] * p[1] + rotation[1, 1] * p[2] + rotation[1, 2] * p[3]
    hz = rotation[2, 0] * p[1] + rotation[2, 1] * p[2] + rotation[2, 2] * p[3]
    # The parallel axes theorem with the first moment h about the frame's origin.
    offset, moment = (x, y, z), (hx, hy, hz)
    spread = 2.0 * (x * hx + y * hy + z * hz) + mass * (x * x + y * y + z * z)
    for i in range(3):
        r0, r1, r2 = rotation[i, 0], rotation[i, 1], rotation[i, 2]
        turned = (
            r0 * p[4] + r1 * p[7] + r2 * p[8],
            r0 * p[7] + r1 * p[5] + r2 * p[9],
            r0 * p[8] + r1 * p[9] + r2 * p[6],
        )
        for j in range(i + 1):
            total = turned[0] * rotation[j, 0] + turned[1] * rotation[j, 1]
            total += turned[2] * rotation[j, 2]
            total -= offset[i] * moment[j] + (moment[i] + mass * offset[i]) * offset[j]
            out[_TENSOR[3 * i + j]] = total + spread if i == j else total
    out[0], out[1], out[2], out[3] = mass, hx + mass * x, hy + mass * y, hz + mass * z


@compiled
def momentum_basis(v: Six, out: FloatArray) -> None:
    """``I(p) v`` as a matrix (6, 10) that multiplies the ten parameters ``p``."""
    out[:] = 0.0
    for i in range(3):
        out[3 + i, 0] = v[3 + i]
    # h x v in the torque, -h x omega in the force.
    out[1, 1], out[2, 1] = -v[5], v[4]
    out[0, 2], out[2, 2] = v[5], -v[3]
    out[0, 3], out[1, 3] = -v[4], v[3]
    out[4, 1], out[5, 1] = v[2], -v[1]
    out[3, 2], out[5, 2] = -v[2], v[0]
    out[3, 3], out[4, 3] = v[1], -v[0]
    out[0, 4], out[1, 5], out[2, 6] = v[0], v[1], v[2]
    out[0, 7], out[1, 7] = v[1], v[0]
    out[0, 8], out[2, 8] = v[2], v[0]
    out[1, 9], out[2, 9] = v[2], v[1]
