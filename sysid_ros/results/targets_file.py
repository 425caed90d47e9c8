# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The elements that parameters are written into, kept while a fit runs.

A fit that is killed leaves the best values of its parameters. With this file its result also says
what they stand for, so that they can be written into a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from sysid_ros.files import read_regular_text, write_json
from sysid_ros.judgement import AppliedParameter
from sysid_ros.results.result_document import APPLIED

TARGETS_FILE = "targets.json"


def write_targets(folder: Path, applied: Iterable[AppliedParameter]) -> None:
    """Write what every parameter is written into.

    Args:
      folder: The work folder.
      applied: All parameters, at any value.

    Raises:
      OutputError: It cannot be written.
    """
    write_json(folder / TARGETS_FILE, APPLIED.write(applied))


def read_targets(folder: Path, values: Mapping[str, float]) -> tuple[AppliedParameter, ...]:
    """The parameters with other values.

    Args:
      folder: The work folder.
      values: Values of the free parameters' components, called ``name`` or ``name[0]`` and on;
        frozen ones keep theirs.

    Returns:
      The parameters; none where the folder lacks the file or it is damaged.
    """
    try:
        entries = json.loads(read_regular_text(folder / TARGETS_FILE))
        parameters: tuple[AppliedParameter, ...] = APPLIED.read(entries, "targets")
    except (OSError, ValueError, RecursionError):  # the values themselves matter more
        return ()
    return tuple(
        replace(
            parameter,
            values=tuple(
                values.get(name, float(value))
                for name, value in zip(_component_names(parameter), parameter.values, strict=True)
            ),
        )
        for parameter in parameters
    )


def _component_names(parameter: AppliedParameter) -> list[str]:
    count = len(parameter.values)
    return [parameter.name] if count == 1 else [f"{parameter.name}[{i}]" for i in range(count)]
