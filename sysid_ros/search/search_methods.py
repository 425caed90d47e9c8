# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One search: methods, trials, and where a fit should start in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.errors import ExperimentError, StopRequestedError, unknown_name
from sysid_ros.experiment import SearchConfig
from sysid_ros.search.bipop import BipopCmaEs
from sysid_ros.search.methods import LatinHypercube, Method, Seed, Uniform
from sysid_ros.search.space import SearchSpace
from sysid_ros.search.study import Nsga2, Recorded, Study, nsga2_sampler
from sysid_ros.search.trials import Trials

Costs = Callable[[FloatArray], FloatArray]  # (n, p) to (n, n_costs)

# By name, each made from parameters, trials, a start in the unit cube (p,) and a seed.
METHODS: Mapping[str, Callable[[int, int, FloatArray, Seed], Method]] = {
    "starts": lambda size, trials, start, seed: LatinHypercube(size, max(1, trials - 1), seed),
    "cma-es": lambda size, trials, start, seed: BipopCmaEs(start, seed),
    "random": lambda size, trials, start, seed: Uniform(size, seed),
}
# Those of whose candidates several are fitted from, not the best alone.
FITTED_FROM_SEVERAL = ("starts",)
# Those that keep what they know in a study: its sampler from a seed, and the method.
STUDY_METHODS: Mapping[str, tuple[Callable[[int], Any], Callable[[SearchSpace, Study], Method]]] = {
    "nsga2": (nsga2_sampler, Nsga2)
}

DISTINCT = 0.05  # of the bounds' distance, in every parameter: closer candidates are one start


@dataclass(frozen=True)
class SearchEnd:
    """The outcome of a search."""

    trials: Trials  # everything it tried, the experiment's own start first
    elsewhere: Trials  # what other processes contributed to the study, the same costs; may be empty
    stopped: bool  # whether it was asked to end before its time

    def best(self, count: int, space: SearchSpace) -> FloatArray:
        """The best candidates that are not the same place twice, (at most ``count``, p)."""
        together = self.trials.extended(self.elsewhere.values, self.elsewhere.costs)
        chosen: list[FloatArray] = []
        for i in together.ranking():
            if not np.isfinite(together.costs[i]).all():
                break
            point = space.points(together.values[i])
            if all(np.abs(point - space.points(c)).max() > DISTINCT for c in chosen):
                chosen.append(together.values[i])
            if len(chosen) == count:
                break
        return np.array(chosen or [space.start])


def run_search(
    config: SearchConfig,
    space: SearchSpace,
    costs: Costs,
    *,
    earlier: Trials | None = None,
    on_trials: Callable[[Trials], None] = lambda trials: None,
    on_best: Callable[[Iteration], None] = lambda step: None,
) -> SearchEnd:
    """Try candidates until the budget is spent.

    Args:
      config: Method, budget and seed.
      space: Where to look.
      costs: Simulates candidates; may raise StopRequestedError.
      earlier: Trials of the same search before it was interrupted. They are not simulated again,
        and as the seed is the same the search goes on as if nothing had happened.
      on_trials: Given everything tried so far, after each batch.
      on_best: Told every candidate that is better than all before it, as a fit's iteration 0.

    Raises:
      ExperimentError: There is no such method, a package that it needs is absent, or the study
        does not fit.
    """
    count = max(1, len(config.costs))
    study = _study(config, space, count)
    method = _method(config, space, study)
    evaluate = _Replayed(costs, earlier)
    tried = Trials.none(space.names, count)
    if config.study is not None and earlier is not None:
        tried = earlier  # the study knows them, and has gone on since
    began = time.monotonic()
    stopped = False

    def tell(trials: Trials) -> Trials:
        on_trials(trials)
        if trials.ranking()[0] >= len(tried):
            on_best(_best_so_far(trials, time.monotonic() - began))
        return trials

    try:
        if not len(tried):
            first = space.start[np.newaxis]
            tried = tell(tried.extended(first, evaluate(first)))
            if study is not None:
                study.record(first, tried.costs)
        while len(tried) < config.trials:
            points = method.ask()[: config.trials - len(tried)]
            values = space.values(points)
            found = evaluate(values)
            method.tell(points, found)
            tried = tell(tried.extended(values, found))
    except StopRequestedError:
        stopped = True
    elsewhere = Trials.none(space.names, count)
    if study is not None:
        elsewhere = elsewhere.extended(*study.known())
    return SearchEnd(tried, elsewhere, stopped)


def _study(config: SearchConfig, space: SearchSpace, costs: int) -> Study | None:
    """Open the study that keeps and shares trials, if any; NSGA-II always has one."""
    known = (*METHODS, *STUDY_METHODS)
    if config.method not in known:
        raise ExperimentError(unknown_name("search method", config.method, known))
    sampler = None
    if config.method in STUDY_METHODS:
        sampler = STUDY_METHODS[config.method][0](config.seed)
    elif config.study is None:
        return None
    return Study(space, costs, storage=config.study, name=config.study_name, sampler=sampler)


def _method(config: SearchConfig, space: SearchSpace, study: Study | None) -> Method:
    start = space.points(space.start)
    seed: Seed = config.seed
    if study is not None:
        if config.method in STUDY_METHODS:
            return STUDY_METHODS[config.method][1](space, study)
        values, costs = study.known()
        if len(values):  # go on from the best, and not over the same points again
            start = space.points(values[int(np.argmin(costs.sum(axis=1)))])
            # Not their sum: seed 1 after one trial would repeat seed 2 after none.
            seed = (config.seed, len(values))
    method = METHODS[config.method](len(space.names), config.trials, start, seed)
    return method if study is None else Recorded(method, space, study)


class _Replayed:
    """Costs that were known before an interruption are looked up instead of simulated."""

    def __init__(self, costs: Costs, earlier: Trials | None) -> None:
        self._costs = costs
        self._earlier = earlier
        self._asked = 0

    def __call__(self, values: FloatArray) -> FloatArray:
        first, self._asked = self._asked, self._asked + len(values)
        if self._earlier is None or first >= len(self._earlier):
            return self._costs(values)
        then = self._earlier.values[first : self._asked]
        same = np.zeros(len(values), dtype=bool)
        same[: len(then)] = np.all(then == values[: len(then)], axis=1)
        costs = np.empty((len(values), self._earlier.costs.shape[1]))
        costs[same] = self._earlier.costs[first : self._asked][same[: len(then)]]
        if not same.all():
            costs[~same] = self._costs(values[~same])
        return costs


def _best_so_far(tried: Trials, elapsed: float) -> Iteration:
    best = tried.ranking()[0]
    cost = float(tried.costs[best].sum())
    return Iteration(0, cost, 0.0, tried.names, tried.values[best], elapsed)
