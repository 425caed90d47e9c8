# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identified parameters written into another model of the same robot, by the names of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes import INERTIAS, PLACES, lookup
from sysid_ros.errors import DataError, OutputError, SysidError, unknown_name
from sysid_ros.exports.formats import URDF
from sysid_ros.exports.model_file import MODEL
from sysid_ros.exports.source_model import write_source_model
from sysid_ros.exports.urdf_edits import edited_urdf
from sysid_ros.files import replace_file, translated_os_errors
from sysid_ros.judgement import AppliedParameter
from sysid_ros.robots import ModelText

# What a URDF can hold, by element.
URDF_ATTRIBUTES = {
    "joint": ("damping", "frictionloss"),
    "body": ("mass", "mass_ipos", "gyration", "com_x", "com_y", "com_z", *INERTIAS, *PLACES),
}

_CODE = "is written by Python code, which a file cannot hold"
_NO_PLACE = {
    "start": "belongs to the start of a recording, not to the model",
    "body_inertia": "is a body's mass without saying whether its inertia follows; declare it as "
    "the body's mass or mass_ipos, or its whole inertia",
}


@dataclass(frozen=True)
class WrittenValue:
    """One attribute of one element that got an identified value."""

    parameter: str  # the parameter's name
    element: str  # joint, body, ..
    name: str  # the element's name
    attribute: str  # of the element
    before: FloatArray  # what the model had, (n,)
    after: FloatArray  # what was identified, (n,)


def of_robot(
    applied: Iterable[AppliedParameter], robot: str | None
) -> tuple[AppliedParameter, ...]:
    """Return the values of one of several robots, shared ones and its own.

    Raises:
      DataError: The result is of several robots and ``robot`` is none of them, or the other way
        round.
    """
    parameters = tuple(applied)
    robots = sorted({p.robot for p in parameters if p.robot is not None})
    if robots and robot is None:
        raise DataError(f"the result is of several robots; choose --robot {' or '.join(robots)}")
    if robot is not None and robot not in robots:
        raise DataError(unknown_name("robot", robot, robots))
    return tuple(p for p in parameters if p.robot in (None, robot))


def apply_parameters(
    spec: Any, applied: Iterable[AppliedParameter], *, urdf: bool
) -> tuple[Any, tuple[WrittenValue, ...], tuple[str, ...]]:
    """Write the parameters of a result into a model.

    Args:
      spec: The model (an MjSpec); it is not changed.
      applied: The parameters and what they are written into.
      urdf: Whether the model has to be written as URDF, which can hold few of them.

    Returns:
      The changed copy of the model, what was written, and a sentence for each parameter, or part
      of one, that the model has no place for.
    """
    changed = spec.copy()
    written: list[WrittenValue] = []
    left_out: list[str] = []
    for parameter in applied:
        target = parameter.target
        if target.element == "signal":
            left_out.append(f"{parameter.name} belongs to a signal, not to the model")
        elif target.attribute:
            _apply(changed, parameter, urdf, written, left_out)
        else:
            left_out.append(f"{parameter.name} {_NO_PLACE.get(target.kind, _CODE)}")
    return changed, tuple(written), tuple(left_out)


def _apply(
    spec: Any,
    parameter: AppliedParameter,
    urdf: bool,
    written: list[WrittenValue],
    left_out: list[str],
) -> None:
    element, attribute = parameter.target.element, parameter.target.attribute
    if urdf and attribute not in URDF_ATTRIBUTES.get(element, ()):
        left_out.append(f"{parameter.name}: URDF has no place for the {attribute} of {element}s")
        return
    row, value = lookup(element, attribute), np.array(parameter.values)
    for name in parameter.target.names:
        try:
            before = row.read(spec, name)
            row.write(spec, name, value)
        except SysidError as error:
            left_out.append(f"{parameter.name}: {error}")
        else:
            written.append(WrittenValue(parameter.name, element, name, attribute, before, value))


def write_applied(
    text: ModelText, before: mujoco.MjSpec, after: mujoco.MjSpec, folder: Path
) -> Path:
    """Write a model file with other values into a new folder.

    Args:
      text: The file.
      before: What MuJoCo reads from it.
      after: The model with the new values, made from ``before``.
      folder: Created; it must not hold a model already.

    Returns:
      The path of ``model.xml`` or ``model.urdf``.

    Raises:
      ModelError: The text cannot say what changed; the message says why.
      OutputError: The folder cannot be written or holds a model.
    """
    path = folder / (URDF if text.is_urdf else MODEL)
    with translated_os_errors(folder):
        if path.exists():
            raise OutputError(f"{path} exists; choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        if text.is_urdf:
            replace_file(path, edited_urdf(text, before, after))
        else:
            write_source_model(text, before, after, folder)
    return path
