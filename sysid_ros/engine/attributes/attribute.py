# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One identifiable attribute: a row of :mod:`sysid_ros.engine.attributes.attribute_table`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import is_straight
from sysid_ros.engine.signals import unit_in, unit_of_sensor_named

# nominal value -> (lower, upper), all of the attribute's size
BoundsRule = Callable[[FloatArray], "tuple[FloatArray, FloatArray]"]

# Units of a rotation's attributes, and of the same attributes along a straight line.
_LINEAR_UNITS = {
    "kg m^2": "kg",
    "N m s/rad": "N s/m",
    "N m s^2/rad^2, N m s^3/rad^3": "N s^2/m^2, N s^3/m^3",
    "N m/rad": "N/m",
    "N m/rad^2, N m/rad^3": "N/m^2, N/m^3",
    "N m": "N",
    "rad": "m",
    "rad/s": "m/s",
}
_TURNING_UNITS = {linear: turning for turning, linear in _LINEAR_UNITS.items()}


@dataclass(frozen=True)
class Attribute:
    """One attribute of one kind of model element that can be identified."""

    element: str  # joint, body, actuator, geom, pair, site, tendon, option or signal
    name: str  # the attribute's name, as in an experiment file
    # of its components; of a joint or an actuator that turns, and of a tendon that does not
    unit: str
    size: int  # number of scalar components
    bounds: BoundsRule  # default bounds from the nominal value
    # ``read(spec, name)`` gives the model's value, (size,) in ``unit``
    read: Callable[[Any, str], FloatArray]
    # ``write(spec, name, value)`` changes the spec, nothing but this attribute
    write: Callable[[Any, str, FloatArray], None]
    components: tuple[str, ...] = ()  # names of the components where there are several
    # signs (size,) of the components of elements after the first that share the value, where they
    # are its mirror images; none where they are alike
    mirror: tuple[float, ...] = ()
    least: float = -math.inf  # what nothing that exists is below, of the first component

    def unit_for(self, spec: Any, name: str) -> str:
        """The unit for one element, by what slides, what a sensor reads and what lengths are."""
        if self.element == "signal" and self.name.startswith("bias"):
            return unit_of_sensor_named(spec, name)
        unit = self.unit
        if self.element in ("joint", "actuator", "tendon"):
            if is_straight(spec, self.element, name):
                unit = _LINEAR_UNITS.get(unit, unit)
            elif self.element == "tendon":
                unit = _TURNING_UNITS.get(unit, unit)
        return unit_in(spec.option.gravity, unit)


def _times(factor: float, nominal: FloatArray) -> FloatArray:
    """A multiple as a bound: none, infinite, where no number is as large."""
    with np.errstate(over="ignore"):
        return factor * nominal


def non_negative(at_least: float) -> BoundsRule:
    """Bounds from zero to ten times the nominal value, or to ``at_least``."""

    def rule(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.zeros_like(nominal), np.maximum(_times(10.0, nominal), at_least)

    return rule


def scaled(low: float = 0.1, high: float = 10.0) -> BoundsRule:
    """Bounds from ``low`` to ``high`` times the nominal value, which keeps its sign.

    A nominal value of zero gives plus and minus one.
    """

    def rule(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
        ends = np.stack([_times(low, nominal), _times(high, nominal)])
        zero = nominal == 0.0
        lower, upper = ends.min(axis=0), ends.max(axis=0)
        return np.where(zero, -1.0, lower), np.where(zero, 1.0, upper)

    return rule


def around(at_least: float, fraction: float = 1.0) -> BoundsRule:
    """Bounds at a distance of ``fraction`` of the nominal's size, or ``at_least``."""

    def rule(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
        reach = np.maximum(fraction * np.abs(nominal), at_least)
        return nominal - reach, nominal + reach

    return rule


def fixed(low: float, high: float) -> BoundsRule:
    """The same bounds whatever the nominal value, widened to contain it."""

    def rule(nominal: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.minimum(nominal, low), np.maximum(nominal, high)

    return rule


def scalar(value: float) -> FloatArray:
    """A float64 array of shape (1,)."""
    return np.array([value], dtype=np.float64)
