"""Which attributes the parameters of an experiment may name: the library's table, in one place."""

from __future__ import annotations

ELEMENTS = ("joint", "body", "actuator", "geom", "pair", "signal")

_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "joint": ("armature", "damping", "damping_poly", "stiffness", "frictionloss", "springref"),
    "body": ("mass", "mass_ipos", "inertia", "gravcomp"),
    "actuator": ("gain", "bias", "kp", "kv", "gear", "force_limit", "time_constant"),
    "geom": ("friction", "mass"),
    "pair": ("friction",),
    "signal": ("delay", "gain", "bias"),
}
_FORMS: dict[tuple[str, str], tuple[str, ...]] = {
    ("body", "inertia"): ("pseudo", "mass", "mass_ipos"),
}


def attribute_names(element: str) -> tuple[str, ...]:
    """The attributes of one kind of element."""
    return _ATTRIBUTES[element]


def form_names(element: str, attribute: str) -> tuple[str, ...]:
    """The forms of an attribute that has several."""
    return _FORMS.get((element, attribute), ())
