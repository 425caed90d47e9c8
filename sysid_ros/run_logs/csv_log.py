# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``progress.csv``: one row per step, as it happens."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

PROGRESS = "progress.csv"


class CsvLog:
    """Appends rows to ``progress.csv``.

    Args:
      folder: An existing folder; the file is opened for every row, so that it may be renamed.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / PROGRESS

    def step(self, number: int, numbers: Mapping[str, float]) -> None:
        """Append a row; the first one is preceded by the names."""
        with self._path.open("a" if number else "w", newline="", encoding="utf-8") as stream:
            rows = csv.writer(stream)
            if not number:
                rows.writerow(["step", *(name.removeprefix("parameters/") for name in numbers)])
            rows.writerow([number, int(numbers["iteration"]), *list(numbers.values())[1:]])

    def end(self, summary: Mapping[str, float | str]) -> None:
        """Nothing is left to do: the summary is in ``result.json``."""
