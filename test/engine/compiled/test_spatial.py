# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The short forms of spatial algebra against its definitions with full matrices."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    load,
    move_inertia,
    multiply_inertia,
    multiply_product,
    multiply_product_transposed,
    store,
    velocity_product,
)

_numbers = st.floats(-3.0, 3.0, allow_subnormal=False)
_motions = arrays(np.float64, 6, elements=_numbers)


@numba.njit
def _evaluate(  # type: ignore[no-untyped-def]
    parameters, rotation, position, velocity, motion, moved, product, results
):
    move_inertia(parameters, rotation, position, moved)
    velocity_product(moved, load(velocity), product)
    store(multiply_inertia(moved, load(motion)), results[0])
    store(multiply_product(product, load(motion)), results[1])
    store(multiply_product_transposed(product, load(motion)), results[2])


def _skew(x: FloatArray) -> FloatArray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _cross(v: FloatArray) -> FloatArray:
    """The matrix of ``v x`` for motions; minus its transpose is that of ``v x*`` for forces."""
    turning, moving = _skew(v[:3]), _skew(v[3:])
    return np.block([[turning, np.zeros((3, 3))], [moving, turning]])


def _inertia(p: FloatArray) -> FloatArray:
    """The spatial inertia (6, 6) about the origin of the frame that ``p`` is given in."""
    tensor = np.array([[p[4], p[7], p[8]], [p[7], p[5], p[9]], [p[8], p[9], p[6]]])
    first = _skew(p[1:4])
    return np.block([[tensor, first], [first.T, p[0] * np.eye(3)]])


def _product(inertia: FloatArray, v: FloatArray) -> FloatArray:
    """``v x* I + (. x* I v) - I (v x .)`` column by column."""
    columns: list[Any] = [-_cross(unit).T @ inertia @ v for unit in np.eye(6)]
    return -_cross(v).T @ inertia + np.column_stack(columns) - inertia @ _cross(v)


@settings(deadline=None)  # the first example compiles
@given(
    arrays(np.float64, 10, elements=_numbers),
    arrays(np.float64, 3, elements=_numbers),
    arrays(np.float64, 3, elements=_numbers),
    _motions,
    _motions,
)
def test_short_forms_are_the_definitions(
    parameters: FloatArray,
    axis: FloatArray,
    position: FloatArray,
    velocity: FloatArray,
    motion: FloatArray,
) -> None:
    turn = _skew(axis)
    rotation = np.linalg.solve(np.eye(3) - turn, np.eye(3) + turn)  # Cayley's formula
    moved, product, results = np.zeros(10), np.zeros(12), np.zeros((3, 6))
    _evaluate(parameters, rotation, position, velocity, motion, moved, product, results)

    # A motion about the fixed point as the body's frame sees it.
    seen = np.kron(np.eye(2), rotation.T) @ np.block(
        [[np.eye(3), np.zeros((3, 3))], [-_skew(position), np.eye(3)]]
    )
    inertia = seen.T @ _inertia(parameters) @ seen
    expected = _product(inertia, velocity)
    np.testing.assert_allclose(results[0], inertia @ motion, atol=1e-9)
    np.testing.assert_allclose(results[1], expected @ motion, atol=1e-9)
    np.testing.assert_allclose(results[2], expected.T @ motion, atol=1e-9)
