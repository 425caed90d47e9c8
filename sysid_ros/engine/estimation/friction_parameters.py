# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Treatment in a fit of parameters that are coefficients of friction models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import BoolArray
from sysid_ros.engine.friction import (
    COEFFICIENTS,
    SHAPE,
    SOLIMP_FRICTION,
    SOLREF_FRICTION,
    STRIBECK_TERMS,
)
from sysid_ros.engine.parameters import WITHOUT_EFFECT, Parameter, ParameterDict, written_by
from sysid_ros.engine.uncertainty import ParameterEstimate

SIGNIFICANT = 2.0  # standard errors from zero that make a term one


def late_components(params: ParameterDict) -> BoolArray:
    """Mark the free scalars that should wait until the others are about right, (p,).

    dtheta_stribeck and alpha say at which velocities the Stribeck terms act. As long as those are
    far off, a search makes the terms vanish by these two instead, and does not come back.
    """
    parts = [np.full(p.size, bool(_joints(p, SHAPE))) for p in params.free()]
    return np.concatenate([np.zeros(0, dtype=bool), *parts])


def _joints(parameter: Parameter, attributes: Collection[str]) -> tuple[str, ...]:
    """The joints of which a parameter is one of some attributes; none of any other."""
    target = written_by(parameter)
    return target.names if target.element == "joint" and target.attribute in attributes else ()


def without_meaningless(
    estimates: Sequence[ParameterEstimate], params: ParameterDict
) -> tuple[ParameterEstimate, ...]:
    """The estimates, with no claim about where an effect acts that is not there.

    Where all Stribeck terms of a joint are zero within twice their standard error, or at their
    bound, dtheta_stribeck and alpha may be anything.
    """
    by_parameter = {parameter.name: estimates[own] for parameter, own in params.places()}
    present: set[str] = set()
    for parameter in params.values():
        found = by_parameter.get(parameter.name)
        if parameter.value[0] > 0.0 if found is None else _is_present(found[0]):
            present.update(_joints(parameter, STRIBECK_TERMS))
    empty = {
        name
        for name in by_parameter
        if (joints := _joints(params[name], SHAPE)) and not present.intersection(joints)
    }
    return tuple(
        replace(e, standard_error=None, flags=(*e.flags, WITHOUT_EFFECT)) if e.name in empty else e
        for e in estimates
    )


def _is_present(estimate: ParameterEstimate) -> bool:
    error = estimate.standard_error
    return error is not None and estimate.value > SIGNIFICANT * error


def friction_provenance(params: ParameterDict) -> dict[str, str]:
    """Return what friction models changed in the model besides their parameters, for the record."""
    joints = {joint for p in params.values() for joint in _joints(p, COEFFICIENTS)}
    if not joints:
        return {}
    solimp, solref = (" ".join(map(str, x)) for x in (SOLIMP_FRICTION, SOLREF_FRICTION))
    return {
        "friction constraint": f"solimpfriction {solimp}, solreffriction {solref} at "
        f"{', '.join(sorted(joints))}"
    }
