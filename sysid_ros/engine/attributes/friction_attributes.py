# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of joints: the coefficients of the friction models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, BoundsRule, scalar
from sysid_ros.engine.elements import find
from sysid_ros.engine.friction import (
    COEFFICIENTS,
    MODELS,
    apply_friction_to_spec,
    friction_of_spec,
    is_marked,
    mark_joint,
)


def friction_attributes() -> list[Attribute]:
    """One row per coefficient."""
    return [_coefficient(name) for name in COEFFICIENTS]


def _coefficient(name: str) -> Attribute:
    known = COEFFICIENTS[name]

    def read(spec: Any, joint: str) -> FloatArray:
        """The model's value, or a start where it has none: at zero nothing has a slope."""
        friction = friction_of_spec(spec, joint)
        value = float(getattr(friction, name))
        own = value > 0.0 and name in MODELS["m1"]
        return scalar(value if own or is_marked(find(spec, "joint", joint)) else known.initial)

    def write(spec: Any, joint: str, value: FloatArray) -> None:
        if name not in MODELS["m1"]:
            mark_joint(spec, joint)
        friction = replace(friction_of_spec(spec, joint), **{name: float(value[0])})
        apply_friction_to_spec(spec, joint, friction)

    return Attribute("joint", name, known.unit, 1, _within(name), read, write)


def _within(name: str) -> BoundsRule:
    """The coefficient's bounds; one in newton metres grows with what the model has."""
    known = COEFFICIENTS[name]
    scales = known.unit.startswith("N m")

    def rule(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
        upper = np.maximum(10.0 * nominal if scales else nominal, known.upper)
        return np.minimum(nominal, known.lower), upper

    return rule
