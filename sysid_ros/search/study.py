# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Optuna studies: searches that other processes take part in and that later ones continue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ExperimentError
from sysid_ros.search.methods import Method
from sysid_ros.search.space import SearchSpace

NAME = "sysid_ros"  # of a study that has none
POPULATION = 50  # of NSGA-II
_WORST = 1e30  # what a diverged simulation counts as; databases know no infinity


class Study:
    """The trials of an Optuna study as arrays.

    Args:
      space: The parameters and their bounds.
      costs: How many costs a trial has.
      storage: A database file, a journal (``.log``), an URL of Optuna's, or ``None`` for memory.
      name: The study's name in its storage; by default that of the only one there is, or
        ``sysid_ros`` for a new one.
      sampler: One of Optuna's; ``None`` where points come from elsewhere.

    Raises:
      ExperimentError: Optuna is absent, the storage cannot be opened, or the study is of other
        parameters or costs.
    """

    def __init__(
        self,
        space: SearchSpace,
        costs: int,
        *,
        storage: str | None = None,
        name: str | None = None,
        sampler: Any = None,
    ) -> None:
        self._optuna = optuna = _optuna()
        self._space = space
        self._distributions = {
            parameter: optuna.distributions.FloatDistribution(low, high, log=bool(logarithmic))
            for parameter, low, high, logarithmic in zip(
                space.names, space.lower, space.upper, space.logarithmic, strict=True
            )
        }
        with _quiet(optuna):
            try:
                opened = _storage(optuna, storage)
                self._study = optuna.create_study(
                    storage=opened,
                    study_name=name or _name_in(optuna, opened),
                    directions=["minimize"] * costs,
                    sampler=sampler,
                    load_if_exists=True,
                )
            except ExperimentError:
                raise
            except Exception as error:  # of Optuna's, SQLAlchemy's and the database's own kinds
                raise ExperimentError(f"cannot open the study {storage!r}: {error}") from error
        self._costs = costs
        self._check()

    def known(self) -> tuple[FloatArray, FloatArray]:
        """Parameter values (n, p) and costs (n, n_costs) of all trials that were completed."""
        trials = [t for t in self._study.get_trials(deepcopy=False) if t.state.name == "COMPLETE"]
        values = [[t.params[name] for name in self._space.names] for t in trials]
        costs = [t.values for t in trials]
        shape = (len(trials), len(self._space.names))
        found = np.reshape(values, shape)
        inside = np.all((found >= self._space.lower) & (found <= self._space.upper), axis=1)
        known = np.reshape(costs, (len(trials), self._costs))[inside]
        return found[inside], np.where(known >= _WORST, np.inf, known)

    def record(self, values: FloatArray, costs: FloatArray) -> None:
        """Add trials that were run elsewhere."""
        with _quiet(self._optuna):
            self._study.add_trials(
                [
                    self._optuna.create_trial(
                        params=dict(zip(self._space.names, row.tolist(), strict=True)),
                        distributions=self._distributions,
                        values=_storable(cost),
                    )
                    for row, cost in zip(values, costs, strict=True)
                ]
            )

    def ask(self, count: int) -> tuple[list[Any], FloatArray]:
        """Let the sampler choose: trials to be told about, and their values, (n, p)."""
        with _quiet(self._optuna):
            trials = [self._study.ask(self._distributions) for _ in range(count)]
        return trials, np.array([[t.params[name] for name in self._space.names] for t in trials])

    def tell(self, trials: list[Any], costs: FloatArray) -> None:
        """The costs of the trials asked for, (n, n_costs)."""
        with _quiet(self._optuna):
            for trial, cost in zip(trials, costs, strict=True):
                self._study.tell(trial, _storable(cost))

    def _check(self) -> None:
        if len(self._study.directions) != self._costs:
            raise ExperimentError(
                f"the study {self._study.study_name!r} has {len(self._study.directions)} costs, "
                f"this search {self._costs}"
            )
        for trial in self._study.get_trials(deepcopy=False):
            if trial.params and set(trial.params) != set(self._space.names):
                raise ExperimentError(
                    f"the study {self._study.study_name!r} is of the parameters "
                    f"{', '.join(sorted(trial.params))}, not of {', '.join(self._space.names)}; "
                    "give search.study_name"
                )
            for name, distribution in trial.distributions.items():
                self._adopt(name, distribution)

    def _adopt(self, name: str, theirs: Any) -> None:
        """Take over what a study may not change: whether a parameter is logarithmic."""
        floats = self._optuna.distributions.FloatDistribution
        own = self._distributions[name]
        if (
            not isinstance(theirs, floats)
            or theirs.step is not None
            or (theirs.log and own.low <= 0)
        ):
            raise ExperimentError(
                f"the study {self._study.study_name!r} has {name} as {theirs}; "
                f"this search needs real numbers from {own.low:g} to {own.high:g}"
            )
        self._distributions[name] = floats(own.low, own.high, log=theirs.log)


class Nsga2:
    """The non-dominated sorting genetic algorithm (Deb et al. 2002), as Optuna has it."""

    def __init__(self, space: SearchSpace, study: Study) -> None:
        self._space = space
        self._study = study
        self._trials: list[Any] = []

    def ask(self) -> FloatArray:
        """One generation."""
        self._trials, values = self._study.ask(POPULATION)
        return self._space.points(values)

    def tell(self, points: FloatArray, costs: FloatArray) -> None:
        """Let the study know."""
        self._study.tell(self._trials[: len(costs)], costs)


def nsga2_sampler(seed: int) -> Any:
    """The sampler of a study for :class:`Nsga2`."""
    return _optuna().samplers.NSGAIISampler(population_size=POPULATION, seed=seed)


class Recorded:
    """Another method, which chooses the points, and whose trials a study keeps."""

    def __init__(self, method: Method, space: SearchSpace, study: Study) -> None:
        self._method = method
        self._space = space
        self._study = study

    def ask(self) -> FloatArray:
        """The method's points."""
        return self._method.ask()

    def tell(self, points: FloatArray, costs: FloatArray) -> None:
        """Let the method and the study know."""
        self._method.tell(points, costs)
        self._study.record(self._space.values(points), costs)


def _storable(costs: FloatArray) -> list[float]:
    return [float(cost) for cost in np.where(np.isfinite(costs), costs, _WORST)]


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ExperimentError(
            "studies and the search method nsga2 need the package 'optuna': "
            "pip install 'sysid_ros[search]'"
        ) from error
    return optuna


def _name_in(optuna: Any, storage: Any) -> str:
    """The name of the study that is meant where none is given.

    Raises:
      ExperimentError: There are several.
    """
    names = [] if storage is None else optuna.get_all_study_names(storage)
    if len(names) > 1 and NAME not in names:
        raise ExperimentError(
            f"there are several studies, {', '.join(sorted(names))}; "
            "say which one with search.study_name"
        )
    return str(names[0]) if len(names) == 1 else NAME


def _storage(optuna: Any, given: str | None) -> Any:
    if given is None or "://" in given:
        return given
    path = Path(given).expanduser().absolute()
    if path.suffix == ".log":
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))
    return f"sqlite:///{path}"


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without a line on standard error for every trial."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
