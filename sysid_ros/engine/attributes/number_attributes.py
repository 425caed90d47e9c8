# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of attributes that are numbers of an element in the model's specification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import (
    Attribute,
    BoundsRule,
    around,
    non_negative,
    scalar,
)
from sysid_ros.engine.elements import find, linear
from sysid_ros.engine.friction import LEAST_FRICTIONLOSS
from sysid_ros.errors import ModelError


def number(element: str, name: str, unit: str, at_least: float) -> Attribute:
    """The row of a number of the element, zero or more."""

    def read(spec: Any, target: str) -> FloatArray:
        return scalar(getattr(find(spec, element, target), name))

    def write(spec: Any, target: str, value: FloatArray) -> None:
        # Without friction loss the solver has no row, and a fit at that bound no derivative.
        least = LEAST_FRICTIONLOSS if name == "frictionloss" else 0.0
        setattr(find(spec, element, target), name, max(float(value[0]), least))

    return Attribute(element, name, unit, 1, non_negative(at_least), read, write, least=0.0)


def first(element: str, name: str, unit: str, at_least: float) -> Attribute:
    """The row of the linear coefficient of a polynomial force; a plain number before MuJoCo 3.5."""

    def read(spec: Any, target: str) -> FloatArray:
        return scalar(linear(getattr(find(spec, element, target), name)))

    def write(spec: Any, target: str, value: FloatArray) -> None:
        item = find(spec, element, target)
        coefficients = np.array(getattr(item, name), dtype=np.float64)
        if coefficients.ndim == 0:
            setattr(item, name, float(value[0]))
            return
        coefficients[0] = value[0]
        setattr(item, name, coefficients)

    return Attribute(element, name, unit, 1, non_negative(at_least), read, write)


def higher(name: str, unit: str) -> Attribute:
    """The row of a joint's quadratic and cubic coefficients: f(v) = -(a v + b v |v| + c v^3)."""

    def coefficients(spec: Any, target: str) -> FloatArray:
        values = np.array(getattr(find(spec, "joint", target), name), dtype=np.float64)
        if values.ndim == 0:
            raise ModelError(
                f"{name}_poly of joint {target!r}: MuJoCo {mujoco.__version__} has no "
                f"polynomial {name}"
            )
        return values

    def read(spec: Any, target: str) -> FloatArray:
        return coefficients(spec, target)[1:]

    def write(spec: Any, target: str, value: FloatArray) -> None:
        values = coefficients(spec, target)
        values[1:] = value
        setattr(find(spec, "joint", target), name, values)

    return Attribute(
        "joint", f"{name}_poly", unit, 2, around(10.0), read, write, ("quadratic", "cubic")
    )


def entry(
    element: str,
    name: str,
    unit: str,
    field: str,
    indices: tuple[int, ...],
    bounds: BoundsRule,
    found: Callable[[Any, str], Any] | None = None,
) -> Attribute:
    """The row of entries of an array on the element that share one value.

    ``found(spec, target)`` gives the element, or refuses one of another kind.
    """
    owner = found or (lambda spec, target: find(spec, element, target))

    def read(spec: Any, target: str) -> FloatArray:
        return scalar(getattr(owner(spec, target), field)[indices[0]])

    def write(spec: Any, target: str, value: FloatArray) -> None:
        array = np.array(getattr(owner(spec, target), field))
        array[list(indices)] = value[0]
        setattr(owner(spec, target), field, array)

    return Attribute(element, name, unit, 1, bounds, read, write)
