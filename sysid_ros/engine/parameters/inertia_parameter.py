# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A parameter for a body's inertia, ready to be identified."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.engine.attributes import theta_bounds
from sysid_ros.engine.elements import InertiaType, read_inertia, theta_from_inertia
from sysid_ros.engine.parameters.modifiers import BodyInertiaModifier
from sysid_ros.engine.parameters.parameter import ModifierFn, Parameter, sized
from sysid_ros.errors import ParameterError


def body_inertia_param(
    spec: Any,
    model: Any,
    body_name: str,
    inertia_type: InertiaType = InertiaType.MassIpos,
    scale_rot_inertia: bool = False,
    mass_bound_mult: npt.ArrayLike | None = None,
    ipos_bound_off: npt.ArrayLike | None = None,
    stretch_bound_mult: npt.ArrayLike | None = None,
    shear_bound_off: npt.ArrayLike | None = None,
    param_name: str | None = None,
    modifier: ModifierFn | None = None,
) -> Parameter:
    """A parameter for a body's inertia, with bounds around the model's and its modifier.

    Args:
      spec: The MjSpec; it is not changed.
      model: The spec compiled.
      body_name: The body.
      inertia_type: Mass; mass and centre of mass; or everything.
      scale_rot_inertia: Whether the rotational inertia scales with the mass; without effect for
        the pseudo-inertia.
      mass_bound_mult: Smallest and largest mass relative to the model's, default 0.1 and 10.
      ipos_bound_off: Reach of the centre of mass in m, default -0.5 and 0.5.
      stretch_bound_mult: Smallest and largest second moments relative to the model's, default
        0.5 and 2 (pseudo-inertia).
      shear_bound_off: Reach of the shears, default -0.5 and 0.5 (pseudo-inertia).
      param_name: Name, default ``"{body_name}_inertia"``.
      modifier: Another modifier than :func:`apply_body_inertia`.

    Returns:
      The parameter: (1,) mass; (4,) mass and centre of mass; or (10,) theta.

    Raises:
      ModelError: The model lacks the body.
      ParameterError: The inertia type is unknown.
    """
    inertia = read_inertia(spec, body_name, model)
    mass_factor = _pair(mass_bound_mult, (0.1, 10.0))
    offset = _pair(ipos_bound_off, (-0.5, 0.5))
    if inertia_type is InertiaType.Mass:
        nominal, unit = np.array([inertia.mass]), "kg"
        low, high = (inertia.mass * np.array([factor]) for factor in mass_factor)
    elif inertia_type is InertiaType.MassIpos:
        nominal, unit = np.concatenate([[inertia.mass], inertia.ipos]), "kg, m, m, m"
        low, high = (
            np.concatenate([[inertia.mass * factor], inertia.ipos + reach])
            for factor, reach in zip(mass_factor, offset, strict=True)
        )
    elif inertia_type is InertiaType.Pseudo:
        nominal, unit = theta_from_inertia(inertia), ""
        stretch, shear = _pair(stretch_bound_mult, (0.5, 2.0)), _pair(shear_bound_off, (-0.5, 0.5))
        low, high = theta_bounds(nominal, mass_factor, offset, stretch, shear)
    else:
        raise ParameterError(f"Unknown inertia_type: {inertia_type!r}")
    name = f"{body_name}_inertia" if param_name is None else param_name
    parameter = Parameter(
        name, nominal, low, high, modifier=modifier or BodyInertiaModifier(body_name), unit=unit
    )
    parameter.inertia_type = inertia_type
    parameter.scale_rot_inertia = scale_rot_inertia
    return parameter


def _pair(given: npt.ArrayLike | None, default: tuple[float, float]) -> tuple[float, float]:
    if given is None:
        return default
    low, high = sized("bounds", given, 2)
    return float(low), float(high)
