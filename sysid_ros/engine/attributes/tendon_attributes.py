# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of tendons."""

from __future__ import annotations

from sysid_ros.engine.attributes.attribute import Attribute
from sysid_ros.engine.attributes.number_attributes import first, number


def tendon_attributes() -> list[Attribute]:
    """The rows for tendons."""
    return [
        number("tendon", "armature", "kg", 0.1),
        number("tendon", "frictionloss", "N", 5.0),
        first("tendon", "damping", "N s/m", 10.0),
        first("tendon", "stiffness", "N/m", 100.0),
    ]
