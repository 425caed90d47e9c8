# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""All digits for the numbers of an MJCF file.

MuJoCo writes six significant digits. Each number here is replaced by the shortest text that
reads back as exactly the value in the model, provided that value rounds to what MuJoCo wrote:
a number in other units or from another source never matches and stays as it is.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import mujoco
import numpy as np

# What the attributes of <inertial> are called in a compiled model.
_INERTIAL = {
    "mass": "body_mass",
    "pos": "body_ipos",
    "quat": "body_iquat",
    "diaginertia": "body_inertia",
}
_ELEMENTS = ("joint", "geom", "site", "body", "key")


def restore_precision(root: ET.Element, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Give the numbers of ``root`` their full precision, in place.

    Args:
      root: The ``<mujoco>`` element that ``spec`` was written as.
      spec: The model it was written from.
      model: ``spec``, compiled: the values in force, such as a damping from a damping ratio.
    """
    for element in root.iter():
        if element.tag in _ELEMENTS:
            _restore_named(element, element.tag, spec, model)
    for group in ("actuator", "tendon"):
        for element in root.iterfind(f"./{group}/*"):
            _restore_named(element, group, spec, model)
    for element in root.iterfind("./contact/pair"):
        _restore_named(element, "pair", spec, model)
    for element in root.iterfind("./option"):
        _restore(element, spec.option)
    for body in root.iterfind(".//body[@name]"):
        for inertial in body.iterfind("./inertial"):
            number = model.body(body.attrib["name"]).id
            for attribute, array in _INERTIAL.items():
                _restore_attribute(inertial, attribute, getattr(model, array)[number])


def _restore_named(
    element: ET.Element, kind: str, spec: mujoco.MjSpec, model: mujoco.MjModel
) -> None:
    """Look ``element`` up by name, compiled and as specified, and restore from both."""
    name = element.attrib.get("name")
    if name:
        _restore(element, getattr(model, kind)(name))
        _restore(element, getattr(spec, kind)(name))


def _restore(element: ET.Element, source: object) -> None:
    for attribute in element.attrib:
        if hasattr(source, attribute):
            _restore_attribute(element, attribute, getattr(source, attribute))


def _restore_attribute(element: ET.Element, attribute: str, value: object) -> None:
    tokens = element.attrib.get(attribute, "").split()
    numbers = np.atleast_1d(np.asarray(value))
    if numbers.dtype != np.float64:  # names, flags, and colours, which are single precision
        return
    if 0 < len(tokens) <= numbers.size:
        restored = map(_full_number, tokens, numbers.ravel().tolist())
        element.set(attribute, " ".join(restored))


def _full_number(token: str, number: float) -> str:
    """``number`` in full if ``token`` is that number rounded, else ``token``."""
    rounded = f"{number:.6g}" == token and float(token) != number
    return repr(number) if rounded else token
