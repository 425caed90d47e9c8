# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Several structures of one model, fitted to the same data and judged by the same held-out data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sysid_ros.comparison.model_fits import (
    ModelTask,
    effective_samples_of,
    fit_models,
    misfits,
    outcomes_in,
)
from sysid_ros.comparison.paired import HeldOut, held_out, joints_of
from sysid_ros.comparison.pick import Pick, no_choice, pick
from sysid_ros.comparison.structures import parameter_names, structures
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.errors import DataError
from sysid_ros.experiment import Experiment, ValidationConfig
from sysid_ros.judgement import Outcome, SequenceFit, title_of
from sysid_ros.pipeline import FitTask
from sysid_ros.processes import IN_THIS_PROCESS, Workers

DEFAULT_FOLDS = 5
DEFAULT_FRACTION = 0.3


@dataclass(frozen=True)
class Comparison:
    """Several models of the same recordings."""

    title: str  # what was modelled
    outcomes: Mapping[str, Outcome]  # every model's fit and scores, in the order given
    failures: Mapping[str, str]  # why a model could not be fitted, by name
    # Bayesian information criterion by model: ``misfit + k ln(n)`` with k parameters and n
    # effective samples; only differences mean anything
    bic: Mapping[str, float]
    # that n: how many independent samples the best model's residuals are worth
    effective_samples: float
    overall: Pick  # the choice for the model as a whole
    joints: Mapping[str, Pick]  # the choice by joint, judged by the signals of that joint alone
    errors: HeldOut  # the held-out errors that ``overall`` was chosen by
    warnings: tuple[str, ...]  # what a careful reader must know


def compare(
    experiment: Experiment,
    names: Sequence[str],
    data_dir: Path | None = None,
    *,
    workers: Workers = IN_THIS_PROCESS,
    state_dir: Path | None = None,
    on_done: Callable[[str], None] = lambda text: None,
    should_stop: Callable[[], bool] | None = None,
) -> Comparison:
    """Fit several structures of a model and choose the simplest that predicts no worse.

    Args:
      experiment: What they have in common. Without a hold-out of its own it is cross-validated
        over its recordings, or where there is only one, predicts its last part.
      names: The structures, see :func:`sysid_ros.comparison.structures.structure`.
      data_dir: Where bags are found first.
      workers: What fits them.
      state_dir: A folder for the states of the fits, which carry on from what they find there.
      on_done: Told in a few words what has been fitted.
      should_stop: Asked while waiting.

    Raises:
      SysidError: No two models can be fitted.
      StopRequestedError: ``should_stop`` asked for it.
    """
    experiment, notes = _with_hold_out(experiment)
    threads = workers.threads_each(experiment.fit.threads)
    whole = FitTask.of(experiment, data_dir, threads=threads)
    models = {
        name: ModelTask(
            replace(whole, experiment=variant.anywhere(), state_dir=state_dir),
            parameter_names(variant, data_dir),
            label=name,
        )
        for name, variant in structures(experiment, names).items()
    }
    models = _within_limit(models, experiment.fit.time_limit, workers.count)
    found = fit_models(models, workers, on_done=on_done, should_stop=should_stop)
    outcomes = outcomes_in(found)
    failures = {name: text for name, text in found.items() if isinstance(text, str)}
    if len(outcomes) < 2:
        reasons = "; ".join(f"{name}: {text}" for name, text in failures.items())
        raise DataError(f"there are no two models to compare: {reasons}")
    return _judged(title_of(experiment), outcomes, failures, notes)


def _within_limit(
    models: Mapping[str, ModelTask], limit: float | None, workers: int
) -> dict[str, ModelTask]:
    """The fits with equal shares of the time limit, which is that of the whole comparison."""
    if limit is None:
        return dict(models)
    share = limit * workers / max(sum(len(model.parts()) for model in models.values()), workers)

    def shortened(model: ModelTask) -> ModelTask:
        experiment = model.task.experiment.with_fit(time_limit=min(share, limit))
        return replace(model, task=replace(model.task, experiment=experiment))

    return {name: shortened(model) for name, model in models.items()}


def _with_hold_out(experiment: Experiment) -> tuple[Experiment, tuple[str, ...]]:
    given = experiment.validation
    if given.bags or given.condition or given.fraction is not None or given.folds is not None:
        return experiment, ()
    count = len(experiment.sequences)
    if count > 1:
        folds = min(DEFAULT_FOLDS, count)
        chosen = ValidationConfig(folds=folds)
        note = f"Nothing is held out by the experiment, so it is cross-validated in {folds} folds."
    else:
        chosen = ValidationConfig(fraction=DEFAULT_FRACTION)
        note = (
            "Nothing is held out by the experiment, so the last "
            f"{DEFAULT_FRACTION:.0%} of its recording is."
        )
    return replace(experiment, validation=chosen), (note,)


def _judged(
    title: str, outcomes: Mapping[str, Outcome], failures: Mapping[str, str], notes: Sequence[str]
) -> Comparison:
    unfinished = {
        name: outcome.fit.message
        for name, outcome in outcomes.items()
        if outcome.fit.status is not FitStatus.CONVERGED
    }
    effective = sum(effective_samples_of(outcomes).values())
    sizes = {name: len(outcome.fit.parameters) for name, outcome in outcomes.items()}
    bic = {
        name: value + sizes[name] * math.log(max(effective, 1.0))
        for name, value in misfits(outcomes).items()
    }
    predictions = {name: predicted(outcome) for name, outcome in outcomes.items()}
    overall = held_out(predictions)
    if overall is None:
        ends = "; ".join(f"{name}: {message}" for name, message in unfinished.items())
        why = f"no model was scored ({ends})" if ends else "nothing is held out"
        raise DataError(f"{why} that the models could be compared by")
    by_joint = {
        joint: errors
        for joint in joints_of(next(iter(predictions.values())))
        if (errors := held_out(predictions, joint)) is not None
    }

    def choice(errors: HeldOut) -> Pick:
        found = pick(errors, sizes, bic)
        return no_choice(found, unfinished) if unfinished else found

    return Comparison(
        title=title,
        outcomes=outcomes,
        failures=failures,
        bic=bic,
        effective_samples=effective,
        overall=choice(overall),
        joints={joint: choice(errors) for joint, errors in by_joint.items()},
        errors=overall,
        warnings=tuple(dict.fromkeys((*notes, *_warnings(outcomes, failures, overall)))),
    )


def predicted(outcome: Outcome) -> tuple[SequenceFit, ...]:
    """The recordings that an outcome's fits have not seen."""
    return tuple(s for s in outcome.sequences if s.role == "validation")


def _warnings(
    outcomes: Mapping[str, Outcome], failures: Mapping[str, str], errors: HeldOut
) -> Iterator[str]:
    for name, text in failures.items():
        yield f"{name} could not be fitted: {text}"
    for name, outcome in outcomes.items():
        if outcome.fit.status is not FitStatus.CONVERGED:
            yield f"The fit of {name} did not converge: {outcome.fit.message}."
    if errors.blocks:
        yield (
            f"There are few held-out recordings, so the models are compared on {errors.units}; "
            "hold out more recordings for a test that does not depend on how they are cut."
        )
