# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One interface for everything that records the course of a run."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sysid_ros.engine.least_squares import Iteration
from sysid_ros.errors import ExperimentError, unknown_name
from sysid_ros.experiment import Experiment
from sysid_ros.judgement import Outcome
from sysid_ros.run_logs.csv_log import CsvLog
from sysid_ros.run_logs.mlflow_log import MlflowLog
from sysid_ros.run_logs.tensorboard_log import TensorBoardLog
from sysid_ros.run_logs.wandb_log import WandbLog

_LOG = logging.getLogger(__name__)


class RunLog(Protocol):
    """Records one run."""

    def step(self, number: int, numbers: Mapping[str, float]) -> None:
        """Record where the run stands.

        Args:
          number: Counts steps, those of a search included.
          numbers: ``iteration``, ``cost``, ``gradient_norm``, ``elapsed`` [s], and
            ``parameters/<name>`` for each parameter, in an order that stays.
        """

    def end(self, summary: Mapping[str, float | str]) -> None:
        """Record what came out, and close; without a summary nothing did."""


@dataclass(frozen=True)
class Run:
    """The run that a log is made for."""

    title: str  # the result's
    folder: Path  # where its files are put together; it is renamed when they are complete
    output: Path  # the folder that it will stand in
    settings: Mapping[str, str]  # what tells this run from others, by name


LOGS: Mapping[str, Callable[[Run], RunLog]] = {
    "tensorboard": lambda run: TensorBoardLog(run.folder),
    "wandb": lambda run: WandbLog(run.title, run.folder, run.settings),
    "mlflow": lambda run: MlflowLog(run.title, run.output, run.settings),
}


class RunLogs:
    """The CSV file that every run has, and the logs that its experiment asks for.

    A log that fails, as when a server goes away, is given up with a warning: the fit goes on.

    Raises:
      ExperimentError: There is no such log, its package is absent, or it cannot be opened.
    """

    def __init__(self, names: Sequence[str], run: Run) -> None:
        self._logs: dict[str, RunLog] = {"csv": CsvLog(run.folder)}
        self._steps = 0
        for name in names:
            if name not in LOGS:
                raise ExperimentError(unknown_name("log", name, LOGS))
            try:
                self._logs[name] = LOGS[name](run)
            except ExperimentError:
                raise
            except Exception as error:  # of the log's own kind, which may be any
                raise ExperimentError(f"cannot open the log {name}: {error}") from error

    def step(self, step: Iteration) -> None:
        """Record one accepted step of the optimizer, or the best candidate of a search."""
        numbers = {
            "iteration": float(step.iteration),
            "cost": step.cost,
            "gradient_norm": step.gradient_norm,
            "elapsed": step.elapsed,
        }
        for name, value in zip(step.names, step.values, strict=True):
            numbers[f"parameters/{name}"] = float(value)
        number, self._steps = self._steps, self._steps + 1
        self._each(lambda log: log.step(number, numbers))

    def end(self, outcome: Outcome | None) -> None:
        """Record what came out, ``None`` where the run was broken off, and close."""
        summary = {} if outcome is None else summary_of(outcome)
        self._each(lambda log: log.end(summary))
        self._logs = {}

    def _each(self, action: Callable[[RunLog], None]) -> None:
        for name, log in list(self._logs.items()):
            try:
                action(log)
            except Exception as error:  # of the log's own kind, which may be any
                _LOG.warning("the log %s is given up: %s", name, error)
                del self._logs[name]


def settings_of(experiment: Experiment) -> dict[str, str]:
    """Return the settings that tell a run from others."""
    search = experiment.fit.search
    return {
        "model": experiment.model or "",
        "sequences": str(len(experiment.sequences)),
        "window": str(experiment.windows.length or "whole"),
        "optimizer": experiment.fit.optimizer,
        "loss": experiment.fit.loss,
        "search": search.method if search is not None else "none",
        "overrides": "; ".join(experiment.overrides),
    }


def summary_of(outcome: Outcome) -> dict[str, float | str]:
    """The scores and parameters of an outcome by name."""
    summary: dict[str, float | str] = {
        "status": outcome.fit.status.value,
        "verdict": outcome.verdict,
        "cost_final": outcome.fit.cost_final,
    }
    for role, score in (("training", outcome.training), ("validation", outcome.validation)):
        if score is not None:
            summary[f"{role}/rmse_all"] = score.rmse_all
            summary[f"{role}/rmse_all_initial"] = score.rmse_all_initial
            summary.update({f"{role}/rmse/{name}": v for name, v in score.rmse.items()})
    for parameter in outcome.fit.parameters:
        summary[f"final/{parameter.name}"] = parameter.value
        if parameter.standard_error is not None:
            summary[f"standard_error/{parameter.name}"] = parameter.standard_error
    return {k: v for k, v in summary.items() if isinstance(v, str) or math.isfinite(v)}
