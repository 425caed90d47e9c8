# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, around, scalar
from sysid_ros.engine.attributes.number_attributes import first, higher, number
from sysid_ros.engine.elements import BALL, HINGE, SCALAR, find, linear
from sysid_ros.errors import ModelError


def joint_attributes() -> list[Attribute]:
    """The rows for joints."""
    return [
        number("joint", "armature", "kg m^2", 0.1),
        number("joint", "frictionloss", "N m", 5.0),
        first("joint", "damping", "N m s/rad", 10.0),
        first("joint", "stiffness", "N m/rad", 100.0),
        higher("damping", "N m s^2/rad^2, N m s^3/rad^3"),
        higher("stiffness", "N m/rad^2, N m/rad^3"),
        Attribute("joint", "springref", "rad", 1, around(np.pi), _read_springref, _write_springref),
        Attribute("joint", "torque_offset", "N m", 1, around(10.0), _read_offset, _write_offset),
    ]


def _read_springref(spec: Any, name: str) -> FloatArray:
    joint = find(spec, "joint", name)
    return scalar(joint.springref / _per_radian(spec, joint))


def _write_springref(spec: Any, name: str, value: FloatArray) -> None:
    joint = find(spec, "joint", name)
    joint.springref = float(value[0]) * _per_radian(spec, joint)


# MuJoCo has no constant torque on a joint; a spring so soft that its stiffness does not matter, and
# whose rest position is far away, is one.
SOFT_SPRING = 1e-4  # N m/rad or N/m


def _read_offset(spec: Any, name: str) -> FloatArray:
    joint = _without_spring(spec, name)
    soft = linear(joint.stiffness) == SOFT_SPRING
    return scalar(-SOFT_SPRING * joint.springref / _per_radian(spec, joint) if soft else 0.0)


def _write_offset(spec: Any, name: str, value: FloatArray) -> None:
    """The torque that is needed besides what inertia, gravity, springs and friction ask for."""
    joint = _without_spring(spec, name)
    stiffness = np.array(joint.stiffness, dtype=np.float64)
    softened = SOFT_SPRING if value[0] else 0.0
    joint.stiffness = softened if stiffness.ndim == 0 else np.array([softened, *stiffness[1:]])
    joint.springref = -float(value[0]) / SOFT_SPRING * _per_radian(spec, joint)


def _without_spring(spec: Any, name: str) -> Any:
    joint = find(spec, "joint", name)
    if joint.type not in SCALAR:
        raise ModelError(f"torque_offset of joint {name!r}: only hinges and slides have one")
    if linear(joint.stiffness) not in (0.0, SOFT_SPRING):
        raise ModelError(
            f"torque_offset of joint {name!r}: it has a spring; identify its springref instead"
        )
    return joint


def _per_radian(spec: Any, joint: Any) -> float:
    """A spec keeps angles as they were written, which may be degrees."""
    compiler = getattr(joint, "compiler", spec.compiler)
    rotates = int(joint.type) in (HINGE, BALL)
    return 180.0 / np.pi if compiler.degree and rotates else 1.0
