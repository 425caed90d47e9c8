# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of everything that can be identified: one row per element and attribute.

Experiment files, declarative modifiers, reports and documentation all read this table, so that a
new attribute is one new row.
"""

from __future__ import annotations

import functools
from types import MappingProxyType

from sysid_ros.engine.attributes.actuator_attributes import actuator_attributes
from sysid_ros.engine.attributes.attribute import Attribute
from sysid_ros.engine.attributes.body_attributes import body_attributes
from sysid_ros.engine.attributes.friction_attributes import friction_attributes
from sysid_ros.engine.attributes.geom_attributes import geom_attributes
from sysid_ros.engine.attributes.joint_attributes import joint_attributes
from sysid_ros.engine.attributes.option_attributes import option_attributes
from sysid_ros.engine.attributes.place_attributes import place_attributes
from sysid_ros.engine.attributes.servo_attributes import servo_attributes
from sysid_ros.engine.attributes.signal_attributes import signal_attributes
from sysid_ros.engine.attributes.tendon_attributes import tendon_attributes
from sysid_ros.errors import ParameterError, unknown_name

# Forms of a body's inertia in an experiment file, and the attribute each stands for.
_INERTIA_FORMS = MappingProxyType(
    {"pseudo": "inertia", "mass": "mass", "mass_ipos": "mass_ipos"}
    | {
        f"{kind}_{axis}": f"inertia_{kind}_{axis}"
        for kind in ("symmetric", "mirrored")
        for axis in "xyz"
    }
)


@functools.cache
def table() -> MappingProxyType[tuple[str, str], Attribute]:
    """All rows by (element, attribute), read-only."""
    rows = [
        *joint_attributes(),
        *tendon_attributes(),
        *friction_attributes(),
        *body_attributes(),
        *actuator_attributes(),
        *servo_attributes(),
        *geom_attributes(),
        *place_attributes(),
        *option_attributes(),
        *signal_attributes(),
    ]
    return MappingProxyType({(row.element, row.name): row for row in rows})


def lookup(element: str, attribute: str, form: str | None = None) -> Attribute:
    """The row for one attribute of one kind of element.

    Args:
      element: joint, body, actuator, geom, pair, site, tendon, option or signal.
      attribute: The attribute's name.
      form: For a body's inertia: pseudo (all ten parameters), mass, mass_ipos, or symmetric_x and
        mirrored_x and their like for y and z.

    Raises:
      ParameterError: There is no such row; the message lists those there are.
    """
    if form is not None:
        if (element, attribute) != ("body", "inertia"):
            raise ParameterError(
                f"{element} {attribute} has no forms, given {form!r}; valid are {{}} and bounds "
                "such as {min: 0, max: 1}"
            )
        if form not in _INERTIA_FORMS:
            raise ParameterError(unknown_name("form of inertia", form, _INERTIA_FORMS))
        attribute = _INERTIA_FORMS[form]
    elements = {key[0] for key in table()}
    if element not in elements:
        raise ParameterError(unknown_name("element", element, elements))
    if (element, attribute) not in table():
        valid = [key[1] for key in table() if key[0] == element]
        raise ParameterError(unknown_name(f"attribute of {element}", attribute, valid, limit=30))
    return table()[element, attribute]
