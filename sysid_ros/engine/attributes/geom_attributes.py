# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of geoms and contact pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, fixed, scalar, scaled
from sysid_ros.engine.attributes.number_attributes import entry
from sysid_ros.engine.elements import compiled, find
from sysid_ros.errors import ModelError


def geom_attributes() -> list[Attribute]:
    """The rows for geoms and contact pairs."""
    return [
        Attribute("geom", "mass", "kg", 1, scaled(), _read_geom_mass, _write_geom_mass),
        entry("geom", "friction", "", "friction", (0,), fixed(0.0, 2.0)),
        entry("geom", "friction_torsional", "m", "friction", (1,), fixed(0.0, 0.1)),
        entry("geom", "friction_rolling", "m", "friction", (2,), fixed(0.0, 0.01)),
        # A pair has two directions each of sliding and rolling; both get the same value.
        entry("pair", "friction", "", "friction", (0, 1), fixed(0.0, 2.0)),
        entry("pair", "friction_torsional", "m", "friction", (2,), fixed(0.0, 0.1)),
        entry("pair", "friction_rolling", "m", "friction", (3, 4), fixed(0.0, 0.01)),
    ]


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
