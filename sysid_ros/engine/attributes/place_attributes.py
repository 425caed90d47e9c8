# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable places of bodies on their parents, and of joints and sites on their bodies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, around, scalar
from sysid_ros.engine.attributes.number_attributes import entry
from sysid_ros.engine.elements import FREE, find, set_turn, turn
from sysid_ros.errors import ModelError

_REACH = 0.05  # m either way, of mounts and links that were built as drawn
_TILT = 0.2  # rad either way

_POSITIONS = tuple(f"pos_{axis}" for axis in "xyz")
_TURNS = tuple(f"turn_{axis}" for axis in "xyz")
# Attributes that say where something is.
PLACES = (*_POSITIONS, *_TURNS)


def place_attributes() -> list[Attribute]:
    """The rows for places.

    ``pos_x`` to ``pos_z`` are the position as the model gives it. ``turn_x`` to ``turn_z`` are a
    rotation vector by which a body or a site is turned from the model's orientation, about its own
    axes, so that they begin at zero.
    """
    owners = {"body": _placed_body, "joint": _placed_joint, "site": _placed_site}
    positions = [
        entry(element, name, "m", "pos", (i,), around(_REACH, 0.0), owner)
        for element, owner in owners.items()
        for i, name in enumerate(_POSITIONS)
    ]
    turns = [
        _turn(element, name, i, owners[element])
        for element in ("body", "site")
        for i, name in enumerate(_TURNS)
    ]
    return [*positions, *turns]


def _turn(element: str, name: str, axis: int, owner: Callable[[Any, str], Any]) -> Attribute:
    def read(spec: Any, target: str) -> FloatArray:
        return scalar(turn(owner(spec, target))[axis])

    def write(spec: Any, target: str, value: FloatArray) -> None:
        vector = turn(owner(spec, target))
        vector[axis] = value[0]
        set_turn(spec, owner(spec, target), vector)

    return Attribute(element, name, "rad", 1, around(_TILT, 0.0), read, write)


def _placed_body(spec: Any, name: str) -> Any:
    body = find(spec, "body", name)
    if any(int(joint.type) == FREE for joint in body.joints):
        raise ModelError(
            f"the place of body {name!r} is its free joint's, which every recording starts with; "
            "it is no property of the model"
        )
    if body.mocap:
        raise ModelError(f"the place of body {name!r} is given by motion capture, not by the model")
    return body


def _placed_joint(spec: Any, name: str) -> Any:
    joint = find(spec, "joint", name)
    if int(joint.type) == FREE:
        raise ModelError(f"joint {name!r} is free and has no position on its body")
    return joint


def _placed_site(spec: Any, name: str) -> Any:
    site = find(spec, "site", name)
    if math.isfinite(site.fromto[0]):
        raise ModelError(f"site {name!r} is placed by its two ends (fromto): give it pos and quat")
    return site
