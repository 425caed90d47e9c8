# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The fits of several model structures, simple ones first, with the folds of each.

A structure that contains a simpler one starts at the simpler one's optimum: it is near its own, and
where a search could be led astray it no longer is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.uncertainty import misfit
from sysid_ros.errors import OutputError, SysidError
from sysid_ros.judgement import Outcome
from sysid_ros.pipeline import FitTask, folds_of, run_fit_task, unfinished, with_folds
from sysid_ros.processes import TaskPool, Workers

# Of a misfit: as much as one parameter that means nothing takes off it on average (chi-squared).
BY_CHANCE = 1.0

Fitted = Mapping[str, Outcome]


@dataclass(frozen=True)
class ModelTask:
    """One structure to fit."""

    task: FitTask  # the fit of all sequences
    names: frozenset[str]  # its free parameters; empty where they are not known
    label: str = ""  # names the folders of its fits' states, where the task keeps any

    def parts(self) -> list[FitTask]:
        """The fit of everything, and one for each fold."""
        folds = self.task.experiment.validation.folds
        held_out = folds_of(len(self.task.experiment.sequences), folds) if folds else []
        parts = [self.task, *(replace(self.task, held_out=part) for part in held_out)]
        around = self.task.state_dir
        if around is None:
            return parts
        return [replace(p, state_dir=around / f"{self.label}_{i}") for i, p in enumerate(parts)]


def fit_models(
    models: Mapping[str, ModelTask],
    workers: Workers,
    *,
    on_done: Callable[[str], None],
    should_stop: Callable[[], bool] | None,
) -> dict[str, Outcome | str]:
    """Fit every structure, by name, and its folds; ``on_done`` hears in a few words of each fit.

    Returns:
      By name in the same order, the outcome or why there is none.

    Raises:
      StopRequestedError: ``should_stop`` asked for it.
    """
    found: dict[str, Outcome | str] = {}
    with TaskPool(workers) as pool:
        fits = _Fits(pool, sum(len(model.parts()) for model in models.values()), on_done)
        for level in levels({name: model.names for name, model in models.items()}):
            batch = {name: _starting_inside(models, name, outcomes_in(found)) for name in level}
            found.update(fits.run(batch, should_stop))
        again = {
            name: replace(models[name], label=f"{name}_again")
            for name in led_astray(outcomes_in(found))
        }
        for name, attempt in fits.run(again, should_stop).items():
            if isinstance(attempt, Outcome) and _is_better(name, attempt, outcomes_in(found)):
                found[name] = attempt
    return {name: found[name] for name in models}


def outcomes_in(found: Mapping[str, Outcome | str]) -> dict[str, Outcome]:
    """Those that could be fitted."""
    return {name: outcome for name, outcome in found.items() if isinstance(outcome, Outcome)}


def levels(names: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Models by fitting order, of these parameters: all that are inside a model come before it."""
    left = dict(names)
    ordered = []
    while left:
        level = [m for m in left if not any(inside(left[other], left[m]) for other in left)]
        ordered.append(level)
        left = {model: own for model, own in left.items() if model not in level}
    return ordered


def inside(names: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether parameters are a part of others, and known."""
    return bool(names) and names < others


def led_astray(outcomes: Fitted) -> Iterator[str]:
    """Models that fit worse than a simpler one inside them, which a search alone can explain.

    Less than :data:`BY_CHANCE` tells nothing that another search would be worth.
    """
    sizes = misfits(outcomes)
    names = {
        model: frozenset(parameter.name for parameter in outcome.fit.parameters)
        for model, outcome in outcomes.items()
    }
    for model in outcomes:
        simpler = [sizes[other] for other in outcomes if inside(names[other], names[model])]
        if sizes[model] > min(simpler, default=math.inf) + BY_CHANCE:
            yield model


def misfits(outcomes: Fitted) -> dict[str, float]:
    """The misfit of every model, by the same effective numbers of samples.

    That of a fit which was broken off and has no residuals is infinite.
    """
    worth = effective_samples_of(outcomes)
    return {
        name: misfit(o.fit.residuals, worth) if o.fit.residuals else math.inf
        for name, o in outcomes.items()
    }


def effective_samples_of(outcomes: Fitted) -> dict[str, float]:
    """Count each signal's independent samples by the residuals of the model that fits best."""

    def total(outcome: Outcome) -> float:
        sizes = outcome.fit.residuals
        return misfit(sizes, {name: float(size.samples) for name, size in sizes.items()})

    ended = [outcome for outcome in outcomes.values() if outcome.fit.residuals]
    if not ended:
        return {}
    best = min(ended, key=total)
    return {name: size.effective for name, size in best.fit.residuals.items()}


def _starting_inside(models: Mapping[str, ModelTask], name: str, fitted: Fitted) -> ModelTask:
    """A model that starts at the best simpler one inside it, if any was fitted."""
    model = models[name]
    simpler = {o: fit for o, fit in fitted.items() if inside(models[o].names, model.names)}
    if not simpler:
        return model
    sizes = misfits(simpler)
    best = min(simpler, key=lambda other: sizes[other])
    start = {p.name: p.value for p in simpler[best].fit.parameters}
    return replace(model, task=replace(model.task, start=start))


def _is_better(name: str, attempt: Outcome, outcomes: Fitted) -> bool:
    """Return whether another fit of a model lowers its misfit."""
    worth = effective_samples_of({**outcomes, name: attempt})
    return misfit(attempt.fit.residuals, worth) < misfit(outcomes[name].fit.residuals, worth)


class _Fits:
    """Runs fits, and counts them."""

    def __init__(self, pool: TaskPool, expected: int, on_done: Callable[[str], None]) -> None:
        self._pool = pool
        self._expected = expected
        self._on_done = on_done
        self._done = 0

    def run(
        self, models: Mapping[str, ModelTask], should_stop: Callable[[], bool] | None
    ) -> dict[str, Outcome | str]:
        """Every model's outcome with its folds, or why it has none."""
        listed = [(name, part) for name, model in models.items() for part in model.parts()]

        def told(index: int, result: Outcome | str) -> None:
            self._done += 1
            again = ", again" if self._done > self._expected else ""
            count = min(self._done, self._expected)
            self._on_done(f"fitted {listed[index][0]}{again} ({count} of {self._expected})")

        tasks = [task for _, task in listed]
        results = self._pool.run(_attempt, tasks, on_done=told, should_stop=should_stop)
        found: dict[str, list[Outcome | str]] = {name: [] for name in models}
        for (name, _), result in zip(listed, results, strict=True):
            found[name].append(result)
        return {name: _joined(parts) for name, parts in found.items()}


def _attempt(task: FitTask) -> Outcome | str:
    """The outcome of a fit, or why there is none: one model that fails is not the end."""
    try:
        return run_fit_task(task)
    except OutputError:
        raise  # no model is at fault, and the next one would fail likewise
    except SysidError as error:
        return str(error)


def _joined(parts: Sequence[Outcome | str]) -> Outcome | str:
    """The fit of everything with the scores of its folds, and with how the worst of them ended.

    All folds are needed: models are compared by the same recordings.
    """
    outcomes = [part for part in parts if isinstance(part, Outcome)]
    if len(outcomes) < len(parts):
        return next(part for part in parts if isinstance(part, str))
    whole, *folds = outcomes
    if not folds and whole.validation is None:
        return "it was not scored before its time limit passed; raise fit.time_limit"
    if any(fold.validation is None for fold in folds):
        return "a fold of its cross-validation was not scored; raise fit.time_limit"
    joined, ended = with_folds(whole, folds) if folds else whole, unfinished(folds)
    if not ended or joined.fit.status is not FitStatus.CONVERGED:
        return joined
    message = f"in a fold of its cross-validation, {ended[0].fit.message}"
    fit = replace(joined.fit, status=ended[0].fit.status, message=message)
    return replace(joined, fit=fit)
