# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameter values from files, and into the parameters of an experiment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sysid_ros.errors import ExperimentError, unknown_name
from sysid_ros.results.result_folder import PARAMETERS
from sysid_ros.sysid.parameter_dict import ParameterDict


def read_values(path: Path) -> dict[str, float]:
    """The values that a file holds, by parameter name.

    Args:
      path: ``parameters.yaml``, ``result.json``, a result folder, or a plain mapping of names to
        numbers as YAML or JSON.

    Returns:
      The values.

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
        values[str(name)] = float(value)
    return values


def _document(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8")
        return json.loads(text) if file.suffix == ".json" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ExperimentError(f"cannot read parameters from {file}: {reason}") from error


def set_values(params: ParameterDict, values: Mapping[str, float]) -> None:
    """Put values into the free parameters, in place; others keep theirs.

    Raises:
      ExperimentError: There is no free parameter of a name.
    """
    names = params.scalar_names()
    theta = params.as_vector()
    for name, value in values.items():
        if name not in names:
            raise ExperimentError(unknown_name("parameter", name, names, limit=20))
        theta[names.index(name)] = value
    params.update_from_vector(theta)
