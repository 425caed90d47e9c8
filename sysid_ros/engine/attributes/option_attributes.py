# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable options of the simulation: gravity, wind and the medium."""

from __future__ import annotations

from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, BoundsRule, around, non_negative


def option_attributes() -> list[Attribute]:
    """The rows for options."""
    return [
        _option("gravity", "m/s^2", 3, around(1.0, 0.1)),
        _option("wind", "m/s", 3, around(1.0)),
        _option("density", "kg/m^3", 1, non_negative(10.0)),
        _option("viscosity", "Pa s", 1, non_negative(0.01)),
    ]


def _option(name: str, unit: str, size: int, bounds: BoundsRule) -> Attribute:
    def read(spec: Any, target: str) -> FloatArray:
        return np.array(np.atleast_1d(getattr(spec.option, name)), dtype=np.float64)

    def write(spec: Any, target: str, value: FloatArray) -> None:
        setattr(spec.option, name, float(value[0]) if size == 1 else value)

    return Attribute(
        "option", name, unit, size, bounds, read, write, ("x", "y", "z") if size == 3 else ()
    )
