# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimates over time as a table (``.csv``)."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from sysid_ros.engine.moving_horizon import HorizonEstimate
from sysid_ros.files import replace_file


class EstimateTable:
    """Collects estimates; a row for each, three columns for each parameter."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._head: list[str] = []

    def add(self, estimate: HorizonEstimate) -> None:
        """Append an estimate."""
        row = [repr(estimate.time)]
        head = ["time"]
        for parameter in estimate.parameters:
            low, high = parameter.interval() or ("", "")
            head += [f"{parameter.name}{end}" for end in ("", "_lower", "_upper")]
            row += [repr(parameter.value), *(str(end) for end in (low, high))]
        self._head = head
        self._rows.append(row)

    def write(self, path: Path) -> None:
        """Write the table, whole or not at all.

        Raises:
          OutputError: The file cannot be written.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self._head)
        writer.writerows(self._rows)
        replace_file(path, text.getvalue())
