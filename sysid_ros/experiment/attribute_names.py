# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The attributes that an experiment's parameters may name: the library's table.

The library is imported when it is first asked, as it brings MuJoCo along.
"""

from __future__ import annotations

from sysid_ros.errors import SysidError

# The kinds of element that a parameter entry may name, in the order that messages list them.
ELEMENTS = ("joint", "body", "actuator", "geom", "pair", "site", "tendon", "option", "signal")

# Of a joint: all parameters of the friction model that its form names.
FRICTION = "friction"


def attribute_names(element: str) -> tuple[str, ...]:
    """The attributes that one kind of element has, and what stands for several of them."""
    from sysid_ros.engine.attributes import table

    together = (FRICTION,) if element == "joint" else ()
    return (*(name for kind, name in table() if kind == element), *together)


def form_problem(element: str, attribute: str, form: str | None) -> str | None:
    """Say what is wrong with the form of an attribute, ``None`` if nothing is."""
    from sysid_ros.engine.attributes import lookup
    from sysid_ros.engine.friction import MODELS, parameters_of

    try:
        if (element, attribute) == ("joint", FRICTION):
            if form is None:
                return f"names no friction model; valid: {', '.join(MODELS)}"
            parameters_of(form)
            return None
        lookup(element, attribute, form)
    except SysidError as error:
        return str(error)
    return None
