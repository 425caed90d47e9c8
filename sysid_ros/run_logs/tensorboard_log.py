# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Event files for TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sysid_ros.errors import ExperimentError

FOLDER = "tensorboard"


class TensorBoardLog:
    """Writes scalars below ``tensorboard`` in the result folder.

    Raises:
      ExperimentError: tensorboardX is absent.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise ExperimentError(
                "the log tensorboard needs the package 'tensorboardX': "
                "pip install 'sysid_ros[tensorboard]'"
            ) from error
        # Written at once: the folder is renamed in the end, with the file open or not.
        self._writer: Any = SummaryWriter(str(folder / FOLDER), max_queue=1, flush_secs=1)

    def step(self, number: int, numbers: Mapping[str, float]) -> None:
        """One point of every curve."""
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, number)

    def end(self, summary: Mapping[str, float | str]) -> None:
        """The scores as points, the rest as text; then close."""
        for name, value in summary.items():
            if isinstance(value, str):
                self._writer.add_text(name, value)
            else:
                self._writer.add_scalar(name, value)
        self._writer.close()
