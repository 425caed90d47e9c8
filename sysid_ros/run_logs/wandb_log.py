# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Weights & Biases, online or offline."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sysid_ros.errors import ExperimentError

PROJECT = "sysid_ros"  # unless WANDB_PROJECT says otherwise


class WandbLog:
    """A run of Weights & Biases, whose own environment variables say where it goes.

    Without an API key it is recorded offline, below ``wandb`` in the result folder, for
    ``wandb sync``.

    Raises:
      ExperimentError: wandb is absent.
    """

    def __init__(self, title: str, folder: Path, settings: Mapping[str, str]) -> None:
        try:
            import wandb
        except ImportError as error:
            raise ExperimentError(
                "the log wandb needs the package 'wandb': pip install 'sysid_ros[wandb]'"
            ) from error
        module: Any = wandb
        self._run: Any = module.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=title,
            dir=str(folder),
            config=dict(settings),
            mode=os.environ.get("WANDB_MODE") or _mode(module),
            settings=module.Settings(silent=True, console="off"),
            reinit="create_new",
        )

    def step(self, number: int, numbers: Mapping[str, float]) -> None:
        """One point of every curve."""
        self._run.log(dict(numbers), step=number)

    def end(self, summary: Mapping[str, float | str]) -> None:
        """The scores, then close."""
        self._run.summary.update(dict(summary))
        self._run.finish(exit_code=0 if summary else 1)


def _mode(wandb: Any) -> str:
    """Online for those who are logged in; nobody is asked for a key."""
    return "online" if wandb.login(prompt=False) else "offline"
