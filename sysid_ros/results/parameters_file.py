# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``parameters.yaml``: the numbers a person copies into a model or a controller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.errors import ExperimentError
from sysid_ros.files import plain, read_regular_text, read_yaml, replace_file, yaml_text
from sysid_ros.judgement import Outcome
from sysid_ros.results.result_document import parameter_entry
from sysid_ros.results.result_folder import PARAMETERS, RESULT

_LINE = 80  # characters
_FARTHEST = 1e30  # as of bounds: no quantity of a robot is larger


def parameters_yaml(outcome: Outcome) -> str:
    """The parameters of ``outcome`` as YAML text.

    Returns:
      A comment with the verdict, then one entry per parameter with ``value``, ``unit``,
      ``initial``, ``bounds`` (null: unbounded), ``standard_error``, ``interval`` (95 %, null
      where none can be claimed) and ``flags``.
    """
    entries = {}
    for parameter in outcome.fit.parameters:
        entry = plain(parameter_entry(parameter))
        entry["bounds"] = [entry.pop("lower"), entry.pop("upper")]
        order = ("value", "unit", "initial", "bounds", "standard_error", "interval", "flags")
        entries[parameter.name] = {key: entry[key] for key in order}
    comment = f"{outcome.title}: {outcome.fit.status.value}. {outcome.verdict}"
    head = "# " + " ".join(comment.split())  # one line, whatever the texts contain
    body = yaml_text({"parameters": entries}, width=_LINE)
    return f"{head}\n# interval: 95 %\n{body}"


def write_parameters(path: Path, outcome: Outcome) -> None:
    """Write :func:`parameters_yaml` to ``path`` atomically."""
    replace_file(path, parameters_yaml(outcome))


def read_values(path: Path) -> dict[str, float]:
    """The values that a file holds, by parameter name.

    Args:
      path: ``parameters.yaml``, ``result.json``, a result folder, or a plain mapping of names to
        numbers as YAML or JSON.

    Raises:
      ExperimentError: There is no such file, or it holds something else.
    """
    file = path / PARAMETERS if path.is_dir() else path
    document = _document(file)
    entries = document.get("parameters", document) if isinstance(document, dict) else None
    if not isinstance(entries, dict) or not entries:
        raise ExperimentError(f"{file} holds no parameters")
    values = {}
    for name, entry in entries.items():
        value = entry.get("value") if isinstance(entry, dict) else entry
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ExperimentError(f"{file}: the value of parameter {name!r} is no number")
        if not abs(value) <= _FARTHEST:  # nan as well
            raise ExperimentError(
                f"{file}: the value of parameter {name!r} is not finite, or of no quantity of a "
                "robot"
            )
        values[str(name)] = float(value)
    return values


def friction_creep(path: Path) -> Mapping[str, float] | None:
    """The speeds from which on dry friction was whole that values were fitted to torque with.

    Returns:
      By joint what the ``result.json`` that is it, or that lies beside it, says; nothing where
      there is none, and ``None`` where friction was as soft as the model has it.
    """
    result = (path if path.is_dir() else path.parent) / RESULT
    if path.suffix == ".json":
        result = path
    if not result.is_file():
        return {}
    document = _document(result)
    torque = document.get("torque") if isinstance(document, dict) else None
    if not isinstance(torque, dict):
        return {}
    if torque.get("sharp_friction") is False:
        return None
    creep = torque.get("creep")
    return {
        str(joint): float(speed)
        for joint, speed in (creep.items() if isinstance(creep, dict) else ())
        if isinstance(speed, int | float) and np.isfinite(speed) and speed > 0.0
    }


def _document(file: Path) -> Any:
    try:
        return json.loads(read_regular_text(file)) if file.suffix == ".json" else read_yaml(file)
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ExperimentError(f"cannot read parameters from {file}: {reason}") from error
