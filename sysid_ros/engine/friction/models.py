# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The six friction models: which parameters each has, with names, units and bounds.

With v the joint's velocity, tm the motor's torque, te the external torque at the joint and
s = exp(-|v / dtheta_stribeck|^alpha), the friction budget, the largest torque with which a joint
resists its motion, is

    M1  Kv |v| + Kc                                                     viscous and Coulomb
    M2  M1 + s Kcs                                                      Stribeck
    M3  M1 + Kl |tm - te|                                               load
    M4  M3 + s (Kcs + Kls |tm - te|)                                    Stribeck and load
    M5  M1 + |Km tm - Ke te| + s (Kcs + |Kms tm - Kes te|)              directional load
    M6  M5 + s Q                                                        quadratic load

    Q = Keq te^2 where |tm| > |te|, else Kmq tm^2, where tm and te have opposite signs, else 0

(Duclusaud et al., *Extended friction models for the physics simulation of servo actuators*, 2024).
Each is the sum of all terms with some coefficients zero, so that one set of thirteen numbers
describes every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import MappingProxyType

from sysid_ros.errors import ParameterError, unknown_name


@dataclass(frozen=True)
class FrictionParameters:
    """Friction of one joint. The names are those of BAM's files; units are for a hinge."""

    friction_viscous: float = 0.0  # kv, N m s/rad
    friction_base: float = 0.0  # kc, N m
    friction_stribeck: float = 0.0  # kcs, N m, on top of Kc at rest
    dtheta_stribeck: float = 0.2  # velocity at which the Stribeck terms have fallen to 1/e, rad/s
    alpha: float = 1.35  # how suddenly they fall
    load_friction_base: float = 0.0  # kl
    load_friction_stribeck: float = 0.0  # kls
    load_friction_motor: float = 0.0  # km
    load_friction_external: float = 0.0  # ke
    load_friction_motor_stribeck: float = 0.0  # kms
    load_friction_external_stribeck: float = 0.0  # kes
    load_friction_motor_quad: float = 0.0  # kmq, 1/(N m)
    load_friction_external_quad: float = 0.0  # keq, 1/(N m)

    def __post_init__(self) -> None:
        """Refuse numbers with which the budget would be negative or undefined.

        Raises:
          ParameterError: A coefficient is negative, or dtheta_stribeck or alpha is not positive.
        """
        for name in PARAMETERS:
            value, positive = getattr(self, name), name in SHAPE
            if not (value > 0.0 if positive else value >= 0.0) or value == float("inf"):
                wanted = "above 0" if positive else "at least 0"
                raise ParameterError(f"{name} of a friction must be {wanted}, got {value}")

    @property
    def model(self) -> str:
        """The simplest model that has all terms which are not zero."""
        used = {name for name in PARAMETERS if name not in SHAPE and getattr(self, name) != 0.0}
        for name, members in MODELS.items():
            if used <= set(members):
                return name
        raise ParameterError(
            f"no friction model has all of {', '.join(sorted(used))}: load_friction_base and "
            "load_friction_stribeck belong to m3 and m4, the other load terms to m5 and m6"
        )


@dataclass(frozen=True)
class FrictionCoefficient:
    """One coefficient of friction as a parameter: its name, unit and bounds."""

    unit: str  # for a hinge
    initial: float  # where a fit starts
    lower: float  # the least value
    upper: float  # the largest that is looked for by default


PARAMETERS = tuple(field.name for field in fields(FrictionParameters))
# They say where the Stribeck terms act, and nothing where those are zero.
SHAPE = ("dtheta_stribeck", "alpha")
# The terms that those two belong to.
STRIBECK_TERMS = (
    "friction_stribeck",
    "load_friction_stribeck",
    "load_friction_motor_stribeck",
    "load_friction_external_stribeck",
    "load_friction_motor_quad",
    "load_friction_external_quad",
)

# Starts lie inside the bounds: at zero, the slope of every term's square root would be lost.
COEFFICIENTS = MappingProxyType({
    "friction_viscous": FrictionCoefficient("N m s/rad", 0.1, 0.0, 10.0),
    "friction_base": FrictionCoefficient("N m", 0.1, 0.0, 5.0),
    "friction_stribeck": FrictionCoefficient("N m", 0.05, 0.0, 5.0),
    "dtheta_stribeck": FrictionCoefficient("rad/s", 0.2, 0.01, 5.0),
    "alpha": FrictionCoefficient("", 1.35, 0.5, 2.5),
    "load_friction_base": FrictionCoefficient("", 0.05, 0.0, 0.5),
    "load_friction_stribeck": FrictionCoefficient("", 0.05, 0.0, 1.0),
    "load_friction_motor": FrictionCoefficient("", 0.05, 0.0, 1.0),
    "load_friction_external": FrictionCoefficient("", 0.05, 0.0, 1.0),
    "load_friction_motor_stribeck": FrictionCoefficient("", 0.05, 0.0, 1.0),
    "load_friction_external_stribeck": FrictionCoefficient("", 0.05, 0.0, 1.0),
    "load_friction_motor_quad": FrictionCoefficient("1/(N m)", 0.005, 0.0, 0.5),
    "load_friction_external_quad": FrictionCoefficient("1/(N m)", 0.005, 0.0, 0.5),
})  # fmt: skip

_M1 = ("friction_viscous", "friction_base")
_STRIBECK = ("friction_stribeck", *SHAPE)
_M5 = (
    *_M1,
    *_STRIBECK,
    "load_friction_motor",
    "load_friction_external",
    "load_friction_motor_stribeck",
    "load_friction_external_stribeck",
)
MODELS = MappingProxyType({
    "m1": _M1,
    "m2": (*_M1, *_STRIBECK),
    "m3": (*_M1, "load_friction_base"),
    "m4": (*_M1, *_STRIBECK, "load_friction_base", "load_friction_stribeck"),
    "m5": _M5,
    "m6": (*_M5, "load_friction_motor_quad", "load_friction_external_quad"),
})  # fmt: skip


def parameters_of(model: str) -> tuple[str, ...]:
    """Names of the parameters that a model has.

    Raises:
      ParameterError: There is no such model.
    """
    if model not in MODELS:
        raise ParameterError(unknown_name("friction model", model, MODELS))
    return MODELS[model]
