# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The kinds of parameters that inverse dynamics knows."""

from __future__ import annotations

from sysid_ros.engine.friction import COEFFICIENTS, MODELS
from sysid_ros.engine.parameters import AttributeModifier, Parameter
from sysid_ros.errors import ParameterError

# Attributes that are columns, by element: the kinds of their components.
LINEAR = {
    ("joint", "armature"): ("armature",),
    ("joint", "damping"): ("damping",),
    ("joint", "damping_poly"): ("damping2", "damping3"),
    ("joint", "frictionloss"): ("frictionloss",),
    ("joint", "stiffness"): ("stiffness",),
    ("joint", "torque_offset"): ("offset",),
    ("tendon", "armature"): ("tendon_armature",),
    ("tendon", "damping"): ("tendon_damping",),
    ("tendon", "frictionloss"): ("tendon_frictionloss",),
}
# Of a joint that does not move these say nothing but noise.
NEED_MOTION = ("armature", "damping", "damping2", "damping3", "frictionloss", "stiffness")


def key_of(p: Parameter) -> tuple[str, str]:
    """Element and attribute that a parameter is written into; empty for anything else."""
    modifier = p.modifier
    if isinstance(modifier, AttributeModifier):
        return modifier.element, modifier.attribute
    return "", ""


def modifier_of(p: Parameter) -> AttributeModifier:
    """The place of a parameter in the model."""
    if not isinstance(p.modifier, AttributeModifier):
        raise ParameterError(f"parameter {p.name!r} belongs to no element")
    return p.modifier


def check_law(p: Parameter) -> None:
    """Refuse friction that is not linear in its coefficients.

    Raises:
      ParameterError: It is one of the laws m2 to m6.
    """
    element, attribute = key_of(p)
    if element == "joint" and attribute in COEFFICIENTS and attribute not in MODELS["m1"]:
        raise ParameterError(
            f"parameter {p.name!r}: inverse dynamics fits viscous and dry friction (m1, or "
            "damping and frictionloss); the other laws take fit: {method: forward}"
        )


def speaks_of_torque(p: Parameter) -> bool:
    """True for a parameter of the model's inertia or friction, which inverse dynamics can find."""
    element, attribute = key_of(p)
    m1 = element == "joint" and attribute in MODELS["m1"]
    inertial = element == "body" and attribute != "gravcomp"
    return (element, attribute) in LINEAR or inertial or m1
