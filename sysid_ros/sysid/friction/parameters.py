"""What a fit has to know about parameters that are coefficients of friction models."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.friction.models import SHAPE
from sysid_ros.sysid.modifiers import AttributeModifier
from sysid_ros.sysid.parameter import Parameter
from sysid_ros.sysid.parameter_dict import ParameterDict


def late_components(params: ParameterDict) -> npt.NDArray[np.bool_]:
    """Which free scalars should wait until the others are about right, (p,).

    dtheta_stribeck and alpha say at which velocities the Stribeck terms act. As long as those are
    far off, a search makes the terms vanish by these two instead, and does not come back.
    """
    parts = [np.full(p.size, _attribute(p) in SHAPE) for p in params.free()]
    return np.concatenate([np.zeros(0, dtype=bool), *parts])


def _attribute(parameter: Parameter) -> str | None:
    modifier = parameter.modifier
    if isinstance(modifier, AttributeModifier) and modifier.element == "joint":
        return modifier.attribute
    return None
