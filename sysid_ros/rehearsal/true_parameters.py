# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The values that a simulated robot hides, and that a fit of its motion is to find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sysid_ros.errors import ExperimentError
from sysid_ros.files import read_yaml

_ELEMENTS = ("joint", "body", "actuator", "geom", "pair", "site", "option", "signal")


@dataclass(frozen=True)
class TrueParameter:
    """One hidden value, such as the armature of the joint ``elbow``."""

    element: str
    pattern: str
    attribute: str
    value: float

    @property
    def name(self) -> str:
        """The name the identified parameter has, wildcards left out."""
        return "_".join([*self.pattern.replace("*", " ").strip("_ ").split(), self.attribute])


_FARTHEST = 1e30  # no quantity of a robot is larger


def read_true_parameters(path: Path) -> tuple[TrueParameter, ...]:
    """Read a list of hidden values.

    Args:
      path: YAML, a list of entries such as ``{joint: elbow, armature: 0.02, damping: 0.3}``.

    Raises:
      ExperimentError: The file cannot be read or an entry is not of that form.
    """
    try:
        entries = read_yaml(path)
    except (OSError, ValueError) as error:
        raise ExperimentError(f"true parameters {path} cannot be read: {error}") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ExperimentError(f"{path}: expected a list of entries such as {{joint: elbow, ...}}")
    return tuple(value for entry in entries for value in _true_values(path, entry))


def _true_values(path: Path, entry: dict[str, Any]) -> Iterator[TrueParameter]:
    elements = [key for key in entry if key in _ELEMENTS]
    if len(elements) != 1:
        raise ExperimentError(f"{path}: {entry} needs exactly one of {', '.join(_ELEMENTS)}")
    element = elements[0]
    for attribute, value in entry.items():
        if attribute == element:
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (is_number and abs(value) <= _FARTHEST):  # nan as well
            raise ExperimentError(f"{path}: {attribute} of {entry} must be a finite number")
        yield TrueParameter(element, str(entry[element]), attribute, float(value))
