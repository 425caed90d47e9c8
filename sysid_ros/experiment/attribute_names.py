"""Which attributes an experiment's parameters may name: the library's table, read in one place.

The library is imported when it is first asked, as it brings MuJoCo along.
"""

from __future__ import annotations

from sysid_ros.errors import SysidError

# The kinds of element that a parameter entry may name, in the order that messages list them.
ELEMENTS = ("joint", "body", "actuator", "geom", "pair", "tendon", "option", "signal")


def attribute_names(element: str) -> tuple[str, ...]:
    """The attributes that one kind of element has."""
    from sysid_ros.sysid.attributes import table

    return tuple(name for kind, name in table() if kind == element)


def form_problem(element: str, attribute: str, form: str) -> str | None:
    """Say what is wrong with the form of an attribute, ``None`` if nothing is."""
    from sysid_ros.sysid.attributes import lookup

    try:
        lookup(element, attribute, form)
    except SysidError as error:
        return str(error)
    return None
