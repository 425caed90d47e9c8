# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces of a medium on an ellipsoid with first and second derivatives, compiled.

With the velocity u and the angular velocity o along the axes of a geom with semiaxes s, and the
sums n = u . u, N = a u . u and Q = a^2 u . u over squared areas a_x = (s_y s_z)^2, ..., MuJoCo's
drag and lift along each axis are

    -(DRAG + SLENDER n^1/2 + BLUNT (n Q / N)^1/2 - LIFT (N / (n Q))^1/2 (N - a n)) u,

the torque is -(TWIST + |MOMENT o|) o, and added mass A and inertia I and the Magnus effect make

    (A u) x o + MAGNUS o x u,    and the torque    (A u) x u + (I o) x o.

So all are products of powers of quadratic forms, times a velocity, and products of two velocities.
MuJoCo bounds the denominators; where that matters (bodies of a centimetre, at less than a metre per
second), the equation of motion shows it. See mj_viscousForces and mj_addedMassForces.
"""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import Three, clear_matrix, compiled, compiled_apart
from sysid_ros.engine.mechanics.fluid import (
    ADDED_INERTIA,
    ADDED_MASS,
    AREA,
    BLUNT,
    DRAG,
    LIFT,
    MAGNUS,
    MOMENT,
    SLENDER,
    TWIST,
)

_ROOT = 0.5
_LEAST = 1e-300  # of a quadratic form: at rest no force has a derivative but the linear ones


@compiled_apart
def resist_ellipsoid(
    c: FloatArray,
    u: FloatArray,
    w: FloatArray,
    both: bool,
    force: FloatArray,
    slope: FloatArray,
    bend: FloatArray,
    product: FloatArray,
) -> None:
    """The force against the motion of a geom.

    Args:
      c: Its coefficients, as of :class:`.fluid.Ellipsoids`.
      u: Velocities along its axes, then about them, (6,).
      w: A change of these, (6,).
      both: Whether the symmetric part of the slope alone is multiplied by ``w`` in ``bend``.
      force: Written, (6,).
      slope: Written: the derivative of the force by ``u``, (6, 6).
      bend: Written: the derivative by ``u`` of ``slope``, or its symmetric part, times ``w``.
      product: Scratch, (6, 6).
    """
    _set_products(c, u, slope)
    _set_products(c, w, bend)
    for i in range(6):
        force[i] = 0.0
        for k in range(6):
            force[i] += 0.5 * slope[i, k] * u[k]
    if both:
        for k in range(6):
            clear_matrix(product)
            _add_products(c, k, 1.0, product)
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += product[j, i] * w[j]
                bend[i, k] = 0.5 * (bend[i, k] + total)
    for i in range(3):
        force[i] += c[DRAG] * u[i]
        force[3 + i] += c[TWIST] * u[3 + i]
        slope[i, i] += c[DRAG]
        slope[3 + i, 3 + i] += c[TWIST]
    a = c[AREA], c[AREA + 1], c[AREA + 2]
    for part in range(5):
        # Powers of the three forms, and a coefficient, of the areas where it multiplies them.
        first, weights, powers, scale = 0, a, (_ROOT, 0.0, 0.0), c[SLENDER]
        if part == 1:
            powers, scale = (_ROOT, -_ROOT, _ROOT), c[BLUNT]
        elif part == 2:
            powers, scale = (-_ROOT, 1.5, -_ROOT), -c[LIFT]
        elif part == 3:
            powers, scale = (_ROOT, _ROOT, -_ROOT), c[LIFT]
        elif part == 4:
            first, scale = 3, 1.0
            weights = c[MOMENT], c[MOMENT + 1], c[MOMENT + 2]
            powers = (0.0, 0.0, _ROOT)
        if scale != 0.0:
            own = a if part == 3 else (1.0, 1.0, 1.0)
            own = own[0] * scale, own[1] * scale, own[2] * scale
            _add_power(weights, powers, own, u, w, first, both, force, slope, bend)


@compiled_apart
def _add_power(
    a: Three,
    powers: Three,
    c: Three,
    u: FloatArray,
    w: FloatArray,
    first: int,
    both: bool,
    force: FloatArray,
    slope: FloatArray,
    bend: FloatArray,
) -> None:
    """Add c T u with T the product of powers of u . u, a u . u and a^2 u . u.

    ``first`` is where the three components of the velocity begin.
    """
    form0, form1, form2 = 0.0, 0.0, 0.0
    for k in range(3):
        square = u[first + k] * u[first + k]
        form0, form1, form2 = (
            form0 + square, form1 + a[k] * square, form2 + a[k] * a[k] * square,
        )  # fmt: skip
    if form0 < _LEAST or form1 < _LEAST or form2 < _LEAST:
        return
    value = form0 ** powers[0] * form1 ** powers[1] * form2 ** powers[2]
    p0, p1, p2 = powers[0] / form0, powers[1] / form1, powers[2] / form2
    along, weighed = 0.0, 0.0  # of the change: the slope of T, and all forces but T
    for k in range(3):
        lead = p0 + p1 * a[k] + p2 * a[k] * a[k]
        along += 2.0 * value * lead * u[first + k] * w[first + k]
        weighed += c[k] * u[first + k] * w[first + k]
    for i in range(3):
        x, y = u[first + i], w[first + i]
        lead = p0 + p1 * a[i] + p2 * a[i] * a[i]
        force[first + i] += c[i] * value * x
        slope[first + i, first + i] += c[i] * value
        bend[first + i, first + i] += c[i] * along
        for k in range(3):
            other = p0 + p1 * a[k] + p2 * a[k] * a[k]
            falling = 2.0 * value * other * u[first + k]
            slope[first + i, first + k] += c[i] * x * falling
            # The second derivative of T by this component, in the direction of the change.
            turn = 2.0 * value * other * w[first + k]
            pair = 0.0
            for j in range(3):
                less = p0 / form0 + p1 / form1 * a[k] * a[j] + p2 / form2 * (a[k] * a[j]) ** 2
                own = p0 + p1 * a[j] + p2 * a[j] * a[j]
                mixed = 4.0 * value * (own * other - less) * u[first + j] * u[first + k]
                turn += mixed * w[first + j]
                if j == i:
                    pair = mixed
            if i == k:
                pair += 2.0 * value * other
            change = c[i] * (falling * y + x * turn)
            if both:
                rising = 2.0 * value * lead * x
                mean = c[i] * y * falling + c[k] * w[first + k] * rising + weighed * pair
                if i == k:
                    mean -= c[i] * along  # which is halved here, and whole above
                change = 0.5 * (change + mean)
            bend[first + i, first + k] += change


@compiled
def _set_products(c: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """Write the slope, (6, 6), of products of two velocities at ``x``, in which it is linear."""
    clear_matrix(out)
    for k in range(6):
        if x[k] != 0.0:
            _add_products(c, k, x[k], out)


@compiled_apart
def _add_products(c: FloatArray, axis: int, x: float, out: FloatArray) -> None:
    """Add what a velocity along one axis, or about it, does to that slope."""
    i = axis % 3
    j, k = (i + 1) % 3, (i + 2) % 3
    magnus, one, two = c[MAGNUS], c[ADDED_MASS + j], c[ADDED_MASS + k]
    if axis < 3:
        own = c[ADDED_MASS + i]
        out[3 + j, k] += (own - two) * x
        out[3 + k, j] += (one - own) * x
        out[j, 3 + k] += (own - magnus) * x
        out[k, 3 + j] += (magnus - own) * x
        return
    own = c[ADDED_INERTIA + i]
    out[j, k] += (magnus - two) * x
    out[k, j] += (one - magnus) * x
    out[3 + j, 3 + k] += (own - c[ADDED_INERTIA + k]) * x
    out[3 + k, 3 + j] += (c[ADDED_INERTIA + j] - own) * x
