# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MLflow, on a tracking server or in a database file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sysid_ros.errors import ExperimentError

DATABASE = "mlflow.db"  # beside the results, unless MLFLOW_TRACKING_URI says otherwise
ARTIFACTS = "mlartifacts"
_LONGEST = 500  # characters of a setting


class MlflowLog:
    """A run of an MLflow experiment called after the result.

    Args:
      title: The experiment's name.
      output: The folder of the result folders.
      settings: The run's parameters, as MLflow calls them.

    Raises:
      ExperimentError: mlflow is absent.
    """

    def __init__(self, title: str, output: Path, settings: Mapping[str, str]) -> None:
        try:
            from mlflow.entities import Metric
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise ExperimentError(
                "the log mlflow needs the package 'mlflow': pip install 'sysid_ros[mlflow]'"
            ) from error
        self._metric: Any = Metric
        server = os.environ.get("MLFLOW_TRACKING_URI")
        here = output.absolute()
        self._client: Any = MlflowClient(tracking_uri=server or f"sqlite:///{here / DATABASE}")
        known = self._client.get_experiment_by_name(title)
        identity = (
            known.experiment_id
            if known
            else self._client.create_experiment(
                title, artifact_location=None if server else (here / ARTIFACTS).as_uri()
            )
        )
        self._run = self._client.create_run(identity).info.run_id
        for name, text in settings.items():
            self._client.log_param(self._run, name, text[:_LONGEST])

    def step(self, number: int, numbers: Mapping[str, float]) -> None:
        """One point of every metric."""
        now = int(1000 * time.time())
        self._client.log_batch(
            self._run,
            metrics=[self._metric(_allowed(k), v, now, number) for k, v in numbers.items()],
        )

    def end(self, summary: Mapping[str, float | str]) -> None:
        """The scores as metrics, the rest as tags; then close."""
        for name, value in summary.items():
            if isinstance(value, str):
                self._client.set_tag(self._run, name, value)
            else:
                self._client.log_metric(self._run, _allowed(name), value)
        self._client.set_terminated(self._run, "FINISHED" if summary else "FAILED")


def _allowed(name: str) -> str:
    """A name that MLflow takes: ``inertia[3]`` has characters that it does not."""
    return re.sub(r"[^\w./ -]", ".", name)
