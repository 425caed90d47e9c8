# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tasks that a search sends to other processes, each of which reads the recordings once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import FitInputs, FitSource
from sysid_ros.engine.uncertainty import misfit
from sysid_ros.errors import SysidError
from sysid_ros.processes import TaskPool
from sysid_ros.search.costs import CandidateCosts

CHUNK = 8  # candidates per task at most: small enough that no worker waits long for another


@dataclass(frozen=True)
class TrialTask:
    """Some candidates of a search, (n, p)."""

    source: FitSource
    values: FloatArray


def run_trial_task(task: TrialTask) -> FloatArray:
    """The costs of a task's candidates, (n, n_costs).

    Raises:
      SysidError: Whatever is wrong with the experiment, its model or its data.
    """
    return _costs_of(task.source)(task.values)


@dataclass(frozen=True)
class StartTask:
    """A fit from one start, (p,)."""

    source: FitSource
    start: FloatArray


@dataclass(frozen=True)
class Refined:
    """The end of a fit from one start."""

    values: FloatArray  # the parameters, (p,)
    misfit: float  # by which fits from several starts compare; infinite where it failed
    told: str  # how it ended, in words


def run_start_task(task: StartTask) -> Refined:
    """Fit from a task's start.

    Raises:
      SysidError: Whatever is wrong with the experiment, its model or its data.
    """
    return refined(_read(task.source), task.start)


def refined(
    inputs: FitInputs, start: FloatArray, should_stop: Callable[[], bool] | None = None
) -> Refined:
    """Fit from one start; a failure is a result too, as others may succeed."""
    try:
        result = inputs.fitted(start=start, landscapes=False, should_stop=should_stop)
    except SysidError as error:
        return Refined(start, math.inf, str(error))
    if not result.residuals:
        return Refined(result.values, math.inf, result.message)
    counts = {name: float(size.samples) for name, size in result.residuals.items()}
    return Refined(result.values, misfit(result.residuals, counts), result.status.value)


@lru_cache(maxsize=1)
def _read(source: FitSource) -> FitInputs:
    return source.read()


@lru_cache(maxsize=1)
def _costs_of(source: FitSource) -> CandidateCosts:
    return candidate_costs(_read(source))


def candidate_costs(
    inputs: FitInputs, should_stop: Callable[[], bool] | None = None
) -> CandidateCosts:
    """The costs that an experiment's search compares candidates by."""
    search = inputs.experiment.fit.search
    return CandidateCosts(
        inputs.dataset.training,
        inputs.params,
        inputs.settings,
        inputs.known,
        search.costs if search is not None else (),
        should_stop=should_stop,
    )


class SpreadCosts:
    """Costs computed wherever the workers are."""

    def __init__(
        self, source: FitSource, pool: TaskPool, should_stop: Callable[[], bool] | None
    ) -> None:
        self._source = source
        self._pool = pool
        self._should_stop = should_stop

    def __call__(self, values: FloatArray) -> FloatArray:
        """Costs of parameter values (n, p), (n, n_costs).

        Raises:
          StopRequestedError: ``should_stop`` asked for it.
        """
        parts = np.array_split(values, math.ceil(len(values) / CHUNK))
        tasks = [TrialTask(self._source, part) for part in parts]
        return np.concatenate(self._pool.run(run_trial_task, tasks, should_stop=self._should_stop))
