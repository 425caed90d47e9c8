# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Setting the inertia of one body of a spec, as callbacks do it."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from sysid_ros.engine.attributes import mass_scaled
from sysid_ros.engine.elements import (
    BodyInertia,
    InertiaType,
    inertia_from_theta,
    read_inertia,
    write_inertia,
    write_moving_inertia,
)
from sysid_ros.engine.parameters.parameter import Parameter, sized
from sysid_ros.errors import ParameterError


def apply_body_mass_ipos(
    spec: Any,
    body_name: str,
    mass: npt.ArrayLike | None = None,
    ipos: npt.ArrayLike | None = None,
    rot_inertia_scale: bool = False,
) -> Any:
    """Set a body's mass and centre of mass; other bodies keep their inertia.

    Args:
      spec: The MjSpec to change.
      body_name: The body.
      mass: New mass in kg, or ``None`` to keep it.
      ipos: New centre of mass in the body frame, (3,) m, or ``None`` to keep it.
      rot_inertia_scale: Whether the rotational inertia about the centre of mass scales with the
        mass; otherwise it stays.

    Returns:
      The spec.

    Raises:
      ModelError: The spec lacks the body.
      ParameterError: A value has another size.
    """
    inertia = read_inertia(spec, body_name)
    if mass is not None:
        kilograms = float(sized("mass", mass, 1)[0])
        heavier = mass_scaled(inertia, kilograms) if rot_inertia_scale else inertia
        inertia = BodyInertia(kilograms, inertia.ipos, inertia.iquat, heavier.inertia)
    if ipos is not None:
        position = sized("ipos", ipos, 3)
        inertia = BodyInertia(inertia.mass, position, inertia.iquat, inertia.inertia)
        write_moving_inertia(spec, body_name, inertia)
        return spec
    write_inertia(spec, body_name, inertia)
    return spec


def apply_body_theta_inertia(spec: Any, body_name: str, theta: npt.ArrayLike) -> Any:
    """Set a body's whole inertia from the ten theta of :mod:`sysid_ros.engine.elements.inertia`.

    Raises:
      ModelError: The spec lacks the body.
      ValueError: ``theta`` does not have ten elements.
    """
    write_moving_inertia(spec, body_name, inertia_from_theta(theta), turning=True)
    return spec


def apply_body_inertia(spec: Any, name: str, param: Parameter) -> None:
    """Set a body's inertia as ``param.inertia_type`` says; see :func:`body_inertia_param`.

    Raises:
      ModelError: The spec lacks the body.
      ParameterError: The parameter has no inertia type or another size.
    """
    scale = param.scale_rot_inertia
    if param.inertia_type is None:
        raise ParameterError(f"Parameter {param.name} does not have inertia_type attribute.")
    if param.inertia_type is InertiaType.Mass:
        apply_body_mass_ipos(spec, name, mass=param.value, rot_inertia_scale=scale)
    elif param.inertia_type is InertiaType.MassIpos:
        mass_ipos = sized(param.name, param.value, 4)
        apply_body_mass_ipos(spec, name, mass_ipos[0], mass_ipos[1:4], scale)
    else:
        apply_body_theta_inertia(spec, name, param.value)
