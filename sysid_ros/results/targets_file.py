# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of a fit with what they are written into, kept while it runs.

A fit that is killed leaves the best values of its parameters. With this file its result also says
their units and bounds, and what they stand for, so that they can be written into a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.files import Record, read_regular_text, write_json
from sysid_ros.judgement import AppliedParameter
from sysid_ros.results.result_document import APPLIED, PARAMETERS

TARGETS_FILE = "targets.json"


@dataclass(frozen=True)
class Targets:
    """The parameters at their start."""

    applied: tuple[AppliedParameter, ...] = ()  # all of them, with what they are written into
    parameters: tuple[ParameterEstimate, ...] = ()  # the free scalars, with units and bounds

    def applied_with(self, values: Mapping[str, float]) -> tuple[AppliedParameter, ...]:
        """The parameters with other values.

        Args:
          values: Values of the free parameters' components, called ``name`` or ``name[0]`` and on;
            frozen ones keep theirs.
        """
        return tuple(
            replace(
                parameter,
                values=tuple(
                    values.get(name, float(value))
                    for name, value in zip(
                        _component_names(parameter), parameter.values, strict=True
                    )
                ),
            )
            for parameter in self.applied
        )


_TARGETS = Record(Targets, applied=APPLIED, parameters=PARAMETERS)


def write_targets(
    folder: Path, applied: Iterable[AppliedParameter], parameters: Sequence[ParameterEstimate]
) -> None:
    """Write what every parameter is, and what it is written into, into the work folder.

    Raises:
      OutputError: It cannot be written.
    """
    write_json(folder / TARGETS_FILE, _TARGETS.write(Targets(tuple(applied), tuple(parameters))))


def read_targets(folder: Path) -> Targets:
    """Read what :func:`write_targets` wrote; nothing where the folder lacks it or it is damaged."""
    try:
        return _TARGETS.read(json.loads(read_regular_text(folder / TARGETS_FILE)), "")
    except (OSError, ValueError, RecursionError):  # the values themselves matter more
        return Targets()


def _component_names(parameter: AppliedParameter) -> list[str]:
    count = len(parameter.values)
    return [parameter.name] if count == 1 else [f"{parameter.name}[{i}]" for i in range(count)]
