# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of signals: what lies between a quantity and its record."""

from __future__ import annotations

from typing import Any

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, BoundsRule, fixed, scalar

# One for each axis of what tells a vector: no two of an IMU are off by the same.
AXIS_BIASES = ("bias_x", "bias_y", "bias_z")


def signal_attributes() -> list[Attribute]:
    """The rows for signals."""
    return [
        _signal("delay", "s", 0.0, fixed(0.0, 0.05)),
        _signal("gain", "", 1.0, fixed(0.5, 2.0)),
        *(_signal(name, "", 0.0, fixed(-1.0, 1.0)) for name in ("bias", *AXIS_BIASES)),
    ]


def _signal(name: str, unit: str, neutral: float, bounds: BoundsRule) -> Attribute:
    """A property of the measurement, not of the model: reading and writing leave the spec alone."""

    def read(spec: Any, target: str) -> FloatArray:
        return scalar(neutral)

    def write(spec: Any, target: str, value: FloatArray) -> None:
        del spec, target, value  # whoever compares signals applies it

    return Attribute("signal", name, unit, 1, bounds, read, write)
