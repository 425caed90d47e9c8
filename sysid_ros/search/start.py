# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The start of an experiment's fit, by the search that it asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.choices import INVERSE_DYNAMICS
from sysid_ros.dataset import FitInputs, FitSource
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.errors import DataError, StopRequestedError
from sysid_ros.experiment import Experiment, SearchConfig
from sysid_ros.processes import IN_THIS_PROCESS, TaskPool, Workers
from sysid_ros.search.search_methods import FITTED_FROM_SEVERAL, Costs, SearchEnd, run_search
from sysid_ros.search.space import SearchSpace
from sysid_ros.search.torque_start import torque_start
from sysid_ros.search.trial_task import (
    Refined,
    SpreadCosts,
    StartTask,
    candidate_costs,
    refined,
    run_start_task,
)
from sysid_ros.search.trials import Trials


@dataclass(frozen=True)
class FoundStart:
    """The start that a search ended with."""

    values: FloatArray  # where to start, (p,)
    trials: Trials  # everything that was tried
    summary: str  # the search in one sentence


@dataclass(frozen=True)
class SearchListener:
    """The listener to a search's progress."""

    # given everything tried so far, after each batch
    trials: Callable[[Trials], None] = lambda trials: None
    # told every candidate that is better than all before it
    best: Callable[[Iteration], None] = lambda step: None
    stage: Callable[[str], None] = lambda text: None  # told in a few words what is being done


def find_start(
    inputs: FitInputs,
    data_dir: Path | None = None,
    *,
    workers: Workers = IN_THIS_PROCESS,
    earlier: Trials | None = None,
    listener: SearchListener = SearchListener(),
    should_stop: Callable[[], bool] | None = None,
) -> FoundStart:
    """Search, and fit from several of the best candidates where the method asks for it.

    Args:
      inputs: What will be fitted; the experiment's ``fit.search`` says how.
      data_dir: Where bags are found first, for other processes.
      workers: What simulates candidates and fits from the best ones.
      earlier: Trials of the same search before it was interrupted.
      listener: Told how it gets on.
      should_stop: True ends the search with its best candidate.

    Raises:
      SysidError: A parameter has no bounds, no candidate can be simulated, or a package is absent.
    """
    search = _Search(inputs, listener, should_stop)
    if search.config.method == INVERSE_DYNAMICS:
        listener.stage("searching by inverse dynamics")
        values, summary = torque_start(inputs)
        return FoundStart(values, Trials.none(inputs.params.scalar_names(), 1), summary)
    source = _source(inputs.experiment, data_dir, workers)
    with TaskPool(workers) as pool:
        end = search.run(pool, source, earlier)
        config, space = search.config, search.space
        summary = f"{config.method}, {len(end.trials)} trials, seed {config.seed}"
        if end.stopped:
            return FoundStart(end.best(1, space)[0], end.trials, f"{summary}, stopped")
        _check_simulated(end.trials, end.elsewhere)
        starts = end.best(config.starts if config.method in FITTED_FROM_SEVERAL else 1, space)
        if len(starts) == 1:
            return FoundStart(starts[0], end.trials, summary)
        try:
            best = search.best_fit(pool, source, starts)
        except StopRequestedError:
            return FoundStart(starts[0], end.trials, f"{summary}, stopped")
    return FoundStart(best.values, end.trials, f"{summary}, the best of {len(starts)} fits")


@dataclass(frozen=True)
class _Search:
    """The two halves of a search: candidates, and fits from the best of them."""

    inputs: FitInputs
    listener: SearchListener
    should_stop: Callable[[], bool] | None

    @property
    def config(self) -> SearchConfig:
        return self.inputs.experiment.fit.search or SearchConfig()

    @property
    def space(self) -> SearchSpace:
        return SearchSpace.of(self.inputs.params)

    def run(self, pool: TaskPool, source: FitSource, earlier: Trials | None) -> SearchEnd:
        """Try candidates."""
        if not pool.is_here:
            return self._run(SpreadCosts(source, pool, self.should_stop), earlier)
        with candidate_costs(self.inputs, self.should_stop) as costs:
            return self._run(costs, earlier)

    def _run(self, costs: Costs, earlier: Trials | None) -> SearchEnd:
        def told(trials: Trials) -> None:
            self.listener.trials(trials)
            self.listener.stage(
                f"searching by {self.config.method}: {len(trials)} of {self.config.trials} trials"
            )

        return run_search(
            self.config,
            self.space,
            costs,
            earlier=earlier,
            on_trials=told,
            on_best=self.listener.best,
        )

    def best_fit(self, pool: TaskPool, source: FitSource, starts: FloatArray) -> Refined:
        """Fit from several starts; the end of the best fit.

        Raises:
          DataError: None came to an end.
          StopRequestedError: It was asked for.
        """

        def told(index: int, result: Refined) -> None:
            self.listener.stage(f"fitted from start {index + 1} of {len(starts)}: {result.told}")

        if pool.is_here:  # the recordings are here too
            ends = pool.run(
                lambda start: refined(self.inputs, start, self.should_stop),
                list(starts),
                on_done=told,
                should_stop=self.should_stop,
            )
        else:
            tasks = [StartTask(source, start) for start in starts]
            ends = pool.run(run_start_task, tasks, on_done=told, should_stop=self.should_stop)
        best = min(ends, key=lambda result: result.misfit)
        if best.misfit == math.inf and (self.should_stop is None or not self.should_stop()):
            raise DataError(f"no fit from any of {len(starts)} starts came to an end: {best.told}")
        return best


def _source(experiment: Experiment, data_dir: Path | None, workers: Workers) -> FitSource:
    """The experiment as other processes need it."""
    threads = workers.threads_each(experiment.fit.threads)
    return FitSource.of(experiment.with_fit(threads=threads), data_dir)


def _check_simulated(*tried: Trials) -> None:
    if not any(np.isfinite(trials.costs).all(axis=1).any() for trials in tried):
        count = sum(len(trials) for trials in tried)
        raise DataError(
            f"none of {count} candidates could be simulated; check the units and signs of the "
            "signals, narrow the bounds, or lower the model's timestep"
        )
