# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From parameters to a model: the callbacks MuJoCo users know, none of which changes their spec."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from sysid_ros.engine.attributes import ActuatorKindError, is_position_servo, lookup
from sysid_ros.engine.elements import find
from sysid_ros.engine.parameters.parameter import sized
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.errors import ModelError


def apply_param_modifiers_spec(params: ParameterDict, spec: Any) -> Any:
    """A copy of ``spec`` with all modifiers applied, in order, frozen parameters' too.

    Args:
      params: The parameters.
      spec: An MjSpec; it is not changed.

    Raises:
      ModelError: A modifier names something the model lacks.
    """
    changed = spec.copy()
    for parameter in params.values():
        parameter.apply_modifier(changed)
    return changed


def apply_param_modifiers(params: ParameterDict, spec: Any) -> Any:
    """The MjModel of a copy of ``spec`` with all modifiers applied; see above.

    Raises:
      ModelError: A modifier names something the model lacks, or the result does not compile.
    """
    changed = apply_param_modifiers_spec(params, spec)
    try:
        return changed.compile()
    except ValueError as error:
        values = ", ".join(str(parameter) for parameter in params.values())
        raise ModelError(f"the model does not compile with {values}: {error}") from error


def apply_pgain(spec: Any, actuator_name: str, value: npt.ArrayLike) -> Any:
    """Set the position gain kp (N m/rad) of a position actuator; returns the spec.

    Raises:
      ModelError: The spec lacks the actuator, or it is not a position actuator.
      ParameterError: The value is not a scalar.
    """
    lookup("actuator", "kp").write(spec, actuator_name, sized("P gain", value, 1))
    return spec


def apply_dgain(spec: Any, actuator_name: str, value: npt.ArrayLike) -> Any:
    """Set the velocity gain kv (N m s/rad) of a position actuator; returns the spec.

    Raises:
      ModelError: The spec lacks the actuator, or it is not a position actuator.
      ParameterError: The value is not a scalar.
    """
    if not is_position_servo(find(spec, "actuator", actuator_name)):
        raise ActuatorKindError(f"Actuator {actuator_name} is not a position actuator.")
    lookup("actuator", "kv").write(spec, actuator_name, sized("D gain", value, 1))
    return spec


def apply_pdgain(spec: Any, actuator_name: str, value: npt.ArrayLike) -> Any:
    """Set both gains, ``value = [kp, kv]``, of a position actuator; returns the spec.

    Raises:
      ModelError: The spec lacks the actuator, or it is not a position actuator.
      ParameterError: The value does not have two elements.
    """
    gains = sized("pdgain", value, 2)
    apply_pgain(spec, actuator_name, gains[0])
    return apply_dgain(spec, actuator_name, gains[1])
