# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Judgements of ``sysid_ros trend`` for ``/diagnostics``."""

from __future__ import annotations

import json
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from sysid_ros.errors import DataError
from sysid_ros.files import read_regular_text

# By level of a trend. What too few results tell is no fault of the robot.
_LEVELS = {
    "OK": DiagnosticStatus.OK,
    "UNKNOWN": DiagnosticStatus.OK,
    "WARN": DiagnosticStatus.WARN,
    "ERROR": DiagnosticStatus.ERROR,
}


class TrendStatus:
    """The judgements in a file, which is read each time: no date tells that it has not changed."""

    def __init__(self, node: str, file: Path) -> None:
        """Prepare to read what ``sysid_ros trend --json`` printed into a file."""
        self._node, self._file = node, file

    def statuses(self) -> list[DiagnosticStatus]:
        """Return a status for every parameter, or one that says why there is none."""
        try:
            return trend_statuses(self._node, self._file)
        except (OSError, DataError) as error:
            name, message = f"{self._node}: trend", f"no trend to show: {error}"
            return [DiagnosticStatus(level=DiagnosticStatus.WARN, name=name, message=message)]


def trend_statuses(node: str, file: Path) -> list[DiagnosticStatus]:
    """Return a status for every parameter of a file that ``sysid_ros trend --json`` wrote.

    Raises:
      DataError: It is none.
    """
    try:
        parameters = json.loads(read_regular_text(file))["parameters"].items()
        return [
            DiagnosticStatus(
                level=_LEVELS[entry["level"]],
                name=f"{node}: trend of {name}",
                message=str(entry["reason"]),
                values=[
                    KeyValue(key=key, value=f"{entry[key]:.4g}")
                    for key in ("percent", "p")
                    if entry[key] is not None
                ],
            )
            for name, entry in parameters
        ]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{file} is not what `sysid_ros trend --json` prints: {type(error).__name__} {error}"
        ) from error
