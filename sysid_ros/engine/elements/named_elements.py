# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finding elements of an MjSpec by name and by shell pattern, with errors that list the names."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import ModelError, unknown_name

# What holds the elements of each kind: the spec's list, and its look-up by name.
_LISTS = {
    "joint": "joints",
    "body": "bodies",
    "actuator": "actuators",
    "geom": "geoms",
    "pair": "pairs",
    "site": "sites",
    "tendon": "tendons",
    "sensor": "sensors",
}

OPTION = "option"
SIGNAL = "signal"


class UnknownElementError(ModelError, ValueError):
    """A model lacks the named element."""


def names(spec: Any, element: str) -> list[str]:
    """Names of all elements of one kind, in the spec's order; unnamed ones are left out.

    Args:
      spec: An MjSpec.
      element: joint, body, actuator, geom, pair, site, tendon, sensor, option (one, so named) or
        signal (sensors, then actuators).

    Raises:
      UnknownElementError: There is no such kind of element.
    """
    if element == OPTION:
        return [OPTION]
    if element == SIGNAL:
        return list(dict.fromkeys(names(spec, "sensor") + names(spec, "actuator")))
    if element not in _LISTS:
        raise UnknownElementError(unknown_name("element", element, [*_LISTS, OPTION, SIGNAL]))
    return [item.name for item in getattr(spec, _LISTS[element]) if item.name]


def find(spec: Any, element: str, name: str) -> Any:
    """The element called ``name``, for example an MjsJoint; ``spec.option`` for options.

    Raises:
      UnknownElementError: There is none; the message lists those there are.
    """
    if element == OPTION:
        return spec.option
    if element not in _LISTS:
        raise UnknownElementError(unknown_name("element", element, [*_LISTS, OPTION]))
    found = getattr(spec, element)(name)
    if found is None:
        raise UnknownElementError(
            f"{element.capitalize()} '{name}' not found in spec: "
            + unknown_name(element, name, names(spec, element))
        )
    return found


def pairs(before: Any, after: Any, element: str) -> Iterator[tuple[Any, Any]]:
    """The elements of one kind that two specs have by the same name, in the first's order."""
    for old in getattr(before, _LISTS[element]):
        new = getattr(after, element)(old.name) if old.name else None
        if new is not None:
            yield old, new


def matching(spec: Any, element: str, pattern: str) -> list[str]:
    """Names of the elements that match a shell pattern, in the spec's order.

    Args:
      spec: An MjSpec.
      element: As for :func:`names`.
      pattern: For example ``"*"``, ``"left_*"``, ``"joint[12]"``; matched case-sensitively. The
        world body never matches: it cannot move.

    Raises:
      UnknownElementError: Nothing matches; the message lists the names there are.
    """
    valid = [name for name in names(spec, element) if (element, name) != ("body", "world")]
    matches = matching_names(valid, pattern)
    if not matches:
        raise UnknownElementError(unknown_name(element, pattern, valid))
    return matches


def matching_names(valid: Iterable[str], pattern: str) -> list[str]:
    """Those of ``valid`` that match a shell pattern, in order; possibly none."""
    return [name for name in valid if fnmatch.fnmatchcase(name, pattern)]


def linear(coefficients: npt.ArrayLike) -> float:
    """The linear coefficient of a force, which is a polynomial since MuJoCo 3.5."""
    return float(np.ravel(coefficients)[0])
