# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Determined combinations of a servo's kt, R and viscous friction that cannot be separated.

Below its limits a servo is a spring of stiffness kp vin kt / R with a damping of kt^2 / R + Kv:
motion determines kt / R and kt^2 / R + Kv, whatever the three are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sysid_ros.engine.elements import find
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.parameters import POORLY_DETERMINED, AttributeModifier, ParameterDict

Formula = Callable[[Mapping[str, float]], float]

_STEP = 1e-6  # relative, for derivatives of the formulas
_VISCOUS = ("friction_viscous", "damping")


@dataclass(frozen=True)
class Combination:
    """A function of parameters that is determined where they may not be."""

    name: str  # such as ``servo: kt / R``
    unit: str  # of the value
    value: float  # with the identified parameters
    standard_error: float | None  # by the parameters' covariance; ``None`` where that is not known
    parameters: tuple[str, ...]  # names of the parameters in it


def servo_combinations(
    result: FitResult, params: ParameterDict, spec: Any
) -> tuple[Combination, ...]:
    """Kt / R and kt^2 / R + Kv of every servo of which kt and R are identified.

    Args:
      result: A fit.
      params: Its parameters.
      spec: The model that they were written into, which tells the servos' joints.
    """
    return tuple(_combinations(result, params, spec))


def sentences(combinations: Sequence[Combination], result: FitResult) -> tuple[str, ...]:
    """Return sentences about combinations whose parameters the data does not separate."""
    vague = {
        estimate.name
        for estimate in result.parameters
        if estimate.unidentifiable or POORLY_DETERMINED in estimate.flags
    }
    return tuple(
        f"{c.name} is {c.value:.4g}{_error(c)} {c.unit}: recordings determine this combination, "
        f"but not {', '.join(c.parameters)} one by one; freeze one at its data sheet's value, give "
        "it a prior, or record the current, or the same motion with power and without."
        for c in combinations
        if vague.intersection(c.parameters)
    )


def _error(combination: Combination) -> str:
    error = combination.standard_error
    return "" if error is None else f" (standard error {error:.2g})"


def _combinations(result: FitResult, params: ParameterDict, spec: Any) -> Iterator[Combination]:
    named = {}
    for parameter in params.free():
        modifier = parameter.modifier
        if isinstance(modifier, AttributeModifier) and parameter.size == 1:
            for name in modifier.names:
                named[modifier.element, name, modifier.attribute] = parameter.name
    for element, actuator, attribute in list(named):
        if (element, attribute) != ("actuator", "servo_kt"):
            continue
        kt = named[element, actuator, attribute]
        resistance = named.get(("actuator", actuator, "servo_R"))
        if resistance is None:
            continue
        joint = find(spec, "actuator", actuator).target
        viscous = [named[key] for a in _VISCOUS if (key := ("joint", joint, a)) in named]
        ratio, damping = _formulas(kt, resistance, viscous)
        yield _combined(result, f"{actuator}: kt / R", "N m/V", ratio, (kt, resistance))
        if viscous:
            members = (kt, resistance, *viscous)
            yield _combined(result, f"{actuator}: kt^2 / R + Kv", "N m s/rad", damping, members)


def _formulas(kt: str, resistance: str, viscous: Sequence[str]) -> tuple[Formula, Formula]:
    def ratio(p: Mapping[str, float]) -> float:
        return p[kt] / p[resistance]

    def damping(p: Mapping[str, float]) -> float:
        return p[kt] ** 2 / p[resistance] + sum(p[name] for name in viscous)

    return ratio, damping


def _combined(
    result: FitResult, name: str, unit: str, formula: Formula, members: tuple[str, ...]
) -> Combination:
    """The value, and its standard error by the delta method."""
    values = {estimate.name: estimate.value for estimate in result.parameters}
    names = [estimate.name for estimate in result.parameters]
    value = formula(values)
    gradient = np.zeros(len(names))
    for member in members:
        step = _STEP * max(abs(values[member]), _STEP)
        moved = formula({**values, member: values[member] + step})
        gradient[names.index(member)] = (moved - value) / step
    used = [names.index(member) for member in members]
    covariance = result.covariance[np.ix_(used, used)]
    variance = float(gradient[used] @ covariance @ gradient[used])
    known = math.isfinite(variance) and variance >= 0.0
    return Combination(name, unit, value, math.sqrt(variance) if known else None, members)
