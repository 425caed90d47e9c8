# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of geoms, contact pairs, the simulation's options, and signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import (
    Attribute,
    BoundsRule,
    around,
    fixed,
    non_negative,
    scalar,
    scaled,
)
from sysid_ros.engine.elements import compiled, find
from sysid_ros.errors import ModelError


def other_attributes() -> list[Attribute]:
    """The rows for geoms, contact pairs, options and signals."""
    return [
        Attribute("geom", "mass", "kg", 1, scaled(), _read_geom_mass, _write_geom_mass),
        _entry("geom", "friction", "", "friction", (0,), fixed(0.0, 2.0)),
        _entry("geom", "friction_torsional", "m", "friction", (1,), fixed(0.0, 0.1)),
        _entry("geom", "friction_rolling", "m", "friction", (2,), fixed(0.0, 0.01)),
        # A pair has two directions each of sliding and rolling; both get the same value.
        _entry("pair", "friction", "", "friction", (0, 1), fixed(0.0, 2.0)),
        _entry("pair", "friction_torsional", "m", "friction", (2,), fixed(0.0, 0.1)),
        _entry("pair", "friction_rolling", "m", "friction", (3, 4), fixed(0.0, 0.01)),
        _option("gravity", "m/s^2", 3, around(1.0, 0.1)),
        _option("wind", "m/s", 3, around(1.0)),
        _option("density", "kg/m^3", 1, non_negative(10.0)),
        _option("viscosity", "Pa s", 1, non_negative(0.01)),
        _signal("delay", "s", 0.0, fixed(0.0, 0.05)),
        _signal("gain", "", 1.0, fixed(0.5, 2.0)),
        _signal("bias", "", 0.0, fixed(-1.0, 1.0)),
    ]


def _entry(
    element: str, name: str, unit: str, field: str, indices: tuple[int, ...], bounds: BoundsRule
) -> Attribute:
    """Entries of an array on the element that share one value."""

    def read(spec: Any, target: str) -> FloatArray:
        return scalar(getattr(find(spec, element, target), field)[indices[0]])

    def write(spec: Any, target: str, value: FloatArray) -> None:
        array = np.array(getattr(find(spec, element, target), field))
        array[list(indices)] = value[0]
        setattr(find(spec, element, target), field, array)

    return Attribute(element, name, unit, 1, bounds, read, write)


def _option(name: str, unit: str, size: int, bounds: BoundsRule) -> Attribute:
    def read(spec: Any, target: str) -> FloatArray:
        return np.array(np.atleast_1d(getattr(spec.option, name)), dtype=np.float64)

    def write(spec: Any, target: str, value: FloatArray) -> None:
        setattr(spec.option, name, float(value[0]) if size == 1 else value)

    return Attribute(
        "option", name, unit, size, bounds, read, write, ("x", "y", "z") if size == 3 else ()
    )


def _signal(name: str, unit: str, neutral: float, bounds: BoundsRule) -> Attribute:
    """A property of the measurement, not of the model: reading and writing leave the spec alone."""

    def read(spec: Any, target: str) -> FloatArray:
        return scalar(neutral)

    def write(spec: Any, target: str, value: FloatArray) -> None:
        del spec, target, value  # whoever compares signals applies it

    return Attribute("signal", name, unit, 1, bounds, read, write)


def _read_geom_mass(spec: Any, name: str) -> FloatArray:
    geom = find(spec, "geom", name)
    _check_infers(geom.parent, name)
    if np.isfinite(geom.mass):
        return scalar(geom.mass)
    # A geom's mass is not in the compiled model: its body's is, with this geom heavier by 1 kg.
    copy = spec.copy()
    find(copy, "geom", name).mass = 1.0
    body = geom.parent.name
    with_one = compiled(copy).body(body).mass[0]
    return scalar(compiled(spec).body(body).mass[0] - (with_one - 1.0))


def _write_geom_mass(spec: Any, name: str, value: FloatArray) -> None:
    geom = find(spec, "geom", name)
    _check_infers(geom.parent, name)
    geom.mass = float(value[0])


def _check_infers(body: Any, geom: str) -> None:
    if body.explicitinertial:
        raise ModelError(
            f"the mass of geom {geom!r} has no effect: its body {body.name!r} has an inertial of "
            "its own; identify the body's mass"
        )
