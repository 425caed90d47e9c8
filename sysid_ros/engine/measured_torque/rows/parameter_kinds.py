# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The kinds of parameters that inverse dynamics knows."""

from __future__ import annotations

from sysid_ros.engine.attributes import PLACES
from sysid_ros.engine.friction import SHAPE
from sysid_ros.engine.parameters import Parameter, written_by
from sysid_ros.engine.regressor import LAW_KINDS
from sysid_ros.errors import ParameterError

# Attributes that are columns, by element: the kinds of their components.
LINEAR = {
    ("joint", "armature"): ("armature",),
    ("joint", "damping"): ("damping",),
    ("joint", "damping_poly"): ("damping2", "damping3"),
    ("joint", "frictionloss"): ("frictionloss",),
    ("joint", "stiffness"): ("stiffness",),
    ("joint", "torque_offset"): ("offset",),
    ("joint", "friction_viscous"): ("damping",),
    ("joint", "friction_base"): ("frictionloss",),
    **{("joint", name): (name,) for name in LAW_KINDS},
    ("tendon", "armature"): ("tendon_armature",),
    ("tendon", "damping"): ("tendon_damping",),
    ("tendon", "frictionloss"): ("tendon_frictionloss",),
}
# Of a joint that does not move these say nothing but noise.
NEED_MOTION = (
    "armature", "damping", "damping2", "damping3", "frictionloss", "stiffness", *LAW_KINDS,
)  # fmt: skip


def key_of(p: Parameter) -> tuple[str, str]:
    """Element and attribute that a parameter is written into; empty for anything else."""
    target = written_by(p)
    return target.element, target.attribute


def is_shape(p: Parameter) -> bool:
    """True for what torque is not linear in: where the Stribeck terms of a friction law act.

    Raises:
      ParameterError: Robots have it each for themselves.
    """
    element, attribute = key_of(p)
    if element != "joint" or attribute not in SHAPE:
        return False
    if p.robot is not None:
        raise ParameterError(
            f"parameter {p.name!r}: inverse dynamics takes one {attribute} for all robots; share "
            "it, or freeze it"
        )
    return True


def is_place(p: Parameter) -> bool:
    """True for a parameter that says where a body, a joint or a site is."""
    return key_of(p)[1] in PLACES


def speaks_of_torque(p: Parameter) -> bool:
    """True for a parameter of the model's inertia or friction, which inverse dynamics can find."""
    element, attribute = key_of(p)
    inertial = element == "body" and attribute not in ("gravcomp", *PLACES)
    return (element, attribute) in LINEAR or inertial
