# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions integrated over a step, and their derivatives where orientations are among them.

A quaternion q moves by a rotation vector in the body's frame, q exp(h omega), and so does its
derivative: q exp(delta) exp(h omega + h d omega) is q exp(h omega) turned by

    exp(-h omega) delta + J(h omega) h d omega

with J the right Jacobian of rotations (Sola, Deray & Atchuthan 2018, "A micro Lie theory").
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import compiled, compiled_apart, multiply_quaternions
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.mechanics.model_tables import Tables

SMALL_ANGLE = 1e-3

Nine = tuple[float, float, float, float, float, float, float, float, float]


@compiled
def advance(t: Tables, q: FloatArray, v: FloatArray, h: float, out: FloatArray) -> None:
    """Write the positions after a time ``h`` with velocities ``v``, (nq,); ``out`` is not ``q``."""
    for joint in range(t.jnt_type.size):
        address, dof = t.jnt_qposadr[joint], t.jnt_dofadr[joint]
        if t.jnt_type[joint] == FREE:
            for i in range(3):
                out[address + i] = q[address + i] + h * v[dof + i]
            address, dof = address + 3, dof + 3
        if t.dof_together[dof] == 1:
            out[address] = q[address] + h * v[dof]
            continue
        x, y, z = h * v[dof], h * v[dof + 1], h * v[dof + 2]
        angle = np.sqrt(x * x + y * y + z * z)
        sine = 0.5 if angle < 1e-12 else np.sin(0.5 * angle) / angle
        turn = out[address : address + 4]
        turn[0], turn[1], turn[2], turn[3] = np.cos(0.5 * angle), sine * x, sine * y, sine * z
        a = q[address : address + 4]
        multiply_quaternions(a[0], a[1], a[2], a[3], turn, turn)


@compiled_apart
def advance_derivative(
    first: IntArray,
    together: IntArray,
    v: FloatArray,
    h: float,
    dq: FloatArray,
    dv: FloatArray,
    out: FloatArray,
) -> None:
    """Write the derivative of positions after a time ``h``, (nv, n).

    Args:
      first: ``dof_first`` of the model, (nv,).
      together: ``dof_together`` of the model, (nv,).
      v: The velocities with which they moved, (nv,).
      h: s.
      dq: Derivatives of the positions before, (nv, n).
      dv: Derivatives of ``v``, (nv, n).
      out: Written; may be ``dq``.
    """
    for i in range(v.size):
        if first[i] != i:
            continue
        if together[i] == 1:
            for c in range(dq.shape[1]):
                out[i, c] = dq[i, c] + h * dv[i, c]
            continue
        back, along = _turned(h * v[i], h * v[i + 1], h * v[i + 2])
        for c in range(dq.shape[1]):
            a, b = dq[i, c], h * dv[i, c]
            a1, b1 = dq[i + 1, c], h * dv[i + 1, c]
            a2, b2 = dq[i + 2, c], h * dv[i + 2, c]
            for k in range(3):
                total = back[3 * k] * a + back[3 * k + 1] * a1 + back[3 * k + 2] * a2
                total += along[3 * k] * b + along[3 * k + 1] * b1 + along[3 * k + 2] * b2
                out[i + k, c] = total


@compiled
def _turned(x: float, y: float, z: float) -> tuple[Nine, Nine]:
    """The matrices exp(-theta) and J(theta) of a rotation vector, row by row."""
    square = x * x + y * y + z * z
    angle = np.sqrt(square)
    if angle < SMALL_ANGLE:
        first, second, third = 1.0 - square / 6.0, 0.5 - square / 24.0, (1.0 - square / 20.0) / 6.0
    else:
        half = np.sin(0.5 * angle)
        first, second = np.sin(angle) / angle, 2.0 * half * half / square
        third = (1.0 - first) / square
    return _series(x, y, z, first, second), _series(x, y, z, second, third)


@compiled
def _series(x: float, y: float, z: float, a: float, b: float) -> Nine:
    """``1 - a K + b K^2`` with K the cross product with (x, y, z)."""
    return (
        1.0 - b * (y * y + z * z), a * z + b * x * y, -a * y + b * x * z,
        -a * z + b * x * y, 1.0 - b * (x * x + z * z), a * x + b * y * z,
        a * y + b * x * z, -a * x + b * y * z, 1.0 - b * (x * x + y * y),
    )  # fmt: skip
