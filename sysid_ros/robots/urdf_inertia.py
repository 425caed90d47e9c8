# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inertias of a URDF's links as MuJoCo accepts them.

Many a URDF says that a link has no mass, that it is a point, or, from CAD or by hand, an inertia
that no body can have. Others simulate that somehow; MuJoCo refuses it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import listed

_ENTRIES = {
    "ixx": (0, 0),
    "iyy": (1, 1),
    "izz": (2, 2),
    "ixy": (0, 1),
    "ixz": (0, 2),
    "iyz": (1, 2),
}
_ZERO = 1e-14  # kg m^2, which MuJoCo takes for nothing
_SMALLEST = 1e-9  # kg m^2, of what is given as zero: a gram at a millimetre
_RELATIVE = 1e-6  # of the largest moment: the smallest that is told from zero
_GRAM = 1e-3  # kg
_SHOWN = 3  # links named in a warning


def make_physical(root: ET.Element) -> tuple[str, ...]:
    """Change the inertias below ``<robot>`` that no body can have as little as makes them physical.

    Links that are fixed to others and do not say what they weigh weigh nothing, as with all who
    read URDF; MuJoCo would take their collision geometry to be as dense as water.

    Returns:
      What was changed, one sentence each; nothing is said of links without mass, whose empty
      inertias are taken out.
    """
    changed, derived, weightless = [], [], []
    moving, held = _moving_links(root), _links_below(root, {"fixed"})
    for link in root.iter("link"):
        name = link.get("name", "")
        inertial = link.find("inertial")
        if inertial is not None and _is_empty(inertial):
            link.remove(inertial)
            inertial = None
        if inertial is None:
            if name in moving and link.find("collision") is not None:
                derived.append(name)
            elif name in held:
                weightless.append(link)
            continue
        if _repair(inertial):
            changed.append(name)
    found = []
    if changed:
        found.append(
            f"The inertia of {_links(changed)} in the URDF is none that a body can have; its "
            "principal moments were raised as little as makes it one."
        )
    if derived:
        found.append(
            f"The URDF does not say what {_links(derived)} weighs; its collision geometry is "
            "taken to be as dense as water."
        )
    if virtual := _without_mass(root, moving):
        for link in virtual:
            link.append(_speck(_GRAM, _SMALLEST))
        names = [link.get("name", "") for link in virtual]
        found.append(
            f"The URDF gives {_links(names)} no mass though a joint moves "
            f"{'them' if len(names) > 1 else 'it'}; taken to be a gram."
        )
    for link in weightless:
        link.append(_speck(0.0, 0.0))
    return tuple(found)


def _without_mass(root: ET.Element, moving: set[str]) -> list[ET.Element]:
    """Moving links that neither weigh anything nor carry anything that does, as on a ball joint."""
    carried: dict[str, list[str]] = {}
    for joint in root.iter("joint"):
        ends = [joint.find(end) for end in ("parent", "child")]
        if joint.get("type") == "fixed" and None not in ends:
            above, below = (end.get("link", "") for end in ends if end is not None)
            carried.setdefault(above, []).append(below)
    links = {link.get("name", ""): link for link in root.findall("link")}

    def is_light(name: str, above: tuple[str, ...] = ()) -> bool:
        link = links.get(name)
        if link is None or link.find("inertial") is not None:
            return False
        if name in moving and link.find("collision") is not None:
            return False
        if name in above:  # MuJoCo refuses links in a circle
            return False
        return all(is_light(other, (*above, name)) for other in carried.get(name, ()))

    return [link for name, link in links.items() if name in moving and is_light(name)]


def _speck(mass: float, moment: float) -> ET.Element:
    """A mass about its link's origin with equal moments: a gram of a millimetre, or nothing."""
    inertial = ET.Element("inertial")
    ET.SubElement(inertial, "mass", value=repr(mass))
    ET.SubElement(
        inertial, "inertia", {name: repr(moment * (i == j)) for name, (i, j) in _ENTRIES.items()}
    )
    return inertial


def _moving_links(root: ET.Element) -> set[str]:
    """The links that are attached by a joint that moves."""
    every = {joint.get("type") for joint in root.iter("joint")}
    return _links_below(root, every - {None, "fixed"})


def _links_below(root: ET.Element, kinds: Collection[str | None]) -> set[str]:
    """The links that are attached by a joint of one of some types."""
    return {
        child.get("link", "")
        for joint in root.iter("joint")
        if joint.get("type") in kinds
        for child in joint.findall("child")
    }


def _is_empty(inertial: ET.Element) -> bool:
    """Return whether an inertial element says that there is no mass."""
    inertia = inertial.find("inertia")
    return _mass(inertial) == 0.0 and (inertia is None or not np.any(_matrix(inertia)))


def _repair(inertial: ET.Element) -> bool:
    """Make a link's inertia physical; whether that was necessary."""
    inertia = inertial.find("inertia")
    if inertia is None or not _mass(inertial) > 0.0:
        return False
    moments, axes = np.linalg.eigh(_matrix(inertia))
    raised = physical_moments(moments)
    if np.array_equal(raised, moments):
        return False
    matrix = axes @ np.diag(raised) @ axes.T
    for name, place in _ENTRIES.items():
        inertia.set(name, repr(float(matrix[place])))
    return True


def physical_moments(moments: FloatArray) -> FloatArray:
    """Principal moments of a body, ascending, (3,): positive, none above the sum of the others.

    Returns:
      The moments themselves if they are physical; otherwise none is lowered, and the largest stays.
    """
    small, middle, large = moments
    if small > _ZERO and small + middle >= large:
        return moments
    least = max(_SMALLEST, _RELATIVE * float(large))
    raised = np.maximum(moments, least)
    missing = raised[2] - raised[0] - raised[1]
    if missing > 0.0:
        raised[:2] += 0.5 * missing * (1.0 + _RELATIVE)
    return raised


def _mass(inertial: ET.Element) -> float:
    mass = inertial.find("mass")
    return 0.0 if mass is None else _number(mass.get("value"))


def _matrix(inertia: ET.Element) -> FloatArray:
    matrix = np.zeros((3, 3))
    for name, (row, column) in _ENTRIES.items():
        matrix[row, column] = matrix[column, row] = _number(inertia.get(name))
    return matrix


def _number(text: str | None) -> float:
    """A number, or NaN for what MuJoCo will refuse with a message of its own."""
    try:
        return float(text or 0.0)
    except ValueError:
        return float("nan")


def _links(names: list[str]) -> str:
    return f"link{'s' * (len(names) != 1)} {listed(names, _SHOWN)}"
