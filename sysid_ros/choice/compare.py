"""Several structures of one model, fitted to the same data and judged by the same held-out data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sysid_ros.choice.paired import HeldOut, held_out, joints_of
from sysid_ros.choice.pick import Pick, pick
from sysid_ros.choice.structures import structures
from sysid_ros.cross_validation import folds_of, with_folds
from sysid_ros.errors import DataError, SysidError
from sysid_ros.execution import IN_THIS_PROCESS, Workers, run_tasks
from sysid_ros.experiment.schema import Experiment, ValidationConfig
from sysid_ros.fit_task import FitTask, run_fit_task
from sysid_ros.outcome import Outcome, SequenceFit
from sysid_ros.scored import title_of
from sysid_ros.sysid.residual_size import misfit

DEFAULT_FOLDS = 5
DEFAULT_FRACTION = 0.3


@dataclass(frozen=True)
class Comparison:
    """Several models of the same recordings.

    Attributes:
      title: What was modelled.
      outcomes: Every model's fit and scores, in the order given.
      failures: Why a model could not be fitted, by name.
      bic: Bayesian information criterion by model: ``misfit + k ln(n)`` with k parameters and n
        effective samples; only differences mean anything.
      effective_samples: That n: how many independent samples the best model's residuals are worth.
      overall: The choice for the model as a whole.
      joints: The choice by joint, judged by the signals of that joint alone.
      errors: The held-out errors that ``overall`` was chosen by.
      warnings: What a careful reader must know.
    """

    title: str
    outcomes: Mapping[str, Outcome]
    failures: Mapping[str, str]
    bic: Mapping[str, float]
    effective_samples: float
    overall: Pick
    joints: Mapping[str, Pick]
    errors: HeldOut
    warnings: tuple[str, ...]


def compare(
    experiment: Experiment,
    names: Sequence[str],
    data_dir: Path | None = None,
    *,
    workers: Workers = IN_THIS_PROCESS,
    on_done: Callable[[str], None] = lambda text: None,
    should_stop: Callable[[], bool] | None = None,
) -> Comparison:
    """Fit several structures of a model and choose the simplest that predicts no worse.

    Args:
      experiment: What they have in common. Without a hold-out of its own it is cross-validated
        over its recordings, or where there is only one, predicts its last part.
      names: The structures, see :func:`sysid_ros.choice.structures.structure`.
      data_dir: Where bags are found first.
      workers: What fits them.
      on_done: Told in a few words what has been fitted.
      should_stop: Asked while waiting.

    Returns:
      The fits and the choice.

    Raises:
      SysidError: No two models can be fitted.
      StopRequestedError: ``should_stop`` asked for it.
    """
    experiment, notes = _with_hold_out(experiment)
    threads = workers.threads_each(experiment.fit.threads)
    tasks = {
        name: FitTask.of(variant, data_dir, threads=threads)
        for name, variant in structures(experiment, names).items()
    }
    fits = _Fits(workers, on_done, should_stop)
    found = fits.run(tasks)
    again = {name: replace(tasks[name], start=s) for name, s in better_starts(_fitted(found))}
    for name, attempt in fits.run(again).items():
        if isinstance(attempt, Outcome) and _fits_better(name, attempt, _fitted(found)):
            found[name] = attempt
    outcomes = _fitted(found)
    failures = {name: text for name, text in found.items() if isinstance(text, str)}
    if len(outcomes) < 2:
        listed = "; ".join(f"{name}: {text}" for name, text in failures.items())
        raise DataError(f"there are no two models to compare: {listed}")
    return _judged(title_of(experiment), outcomes, failures, notes)


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


@dataclass(frozen=True)
class _Fits:
    """Runs the fits of several models at once."""

    workers: Workers
    on_done: Callable[[str], None]
    should_stop: Callable[[], bool] | None

    def run(self, models: Mapping[str, FitTask]) -> dict[str, Outcome | str]:
        """Every model's outcome with its folds, or why it has none."""
        listed = [(name, part) for name, task in models.items() for part in _parts(task)]
        done: list[str] = []

        def told(index: int, result: Outcome | str) -> None:
            done.append(listed[index][0])
            self.on_done(f"{done[-1]} ({len(done)} of {len(listed)} fits)")

        results = run_tasks(
            _attempt,
            [task for _, task in listed],
            self.workers,
            on_done=told,
            should_stop=self.should_stop,
        )
        found: dict[str, list[Outcome | str]] = {name: [] for name in models}
        for (name, _), result in zip(listed, results, strict=True):
            found[name].append(result)
        return {name: _joined(models[name].experiment, parts) for name, parts in found.items()}


def _parts(task: FitTask) -> Iterator[FitTask]:
    """The fit of everything, and one for each fold."""
    yield task
    folds = task.experiment.validation.folds
    if folds is not None:
        for part in folds_of(len(task.experiment.sequences), folds):
            yield replace(task, held_out=part)


def _attempt(task: FitTask) -> Outcome | str:
    """The outcome of a fit, or why there is none: one model that fails is not the end."""
    try:
        return run_fit_task(task)
    except SysidError as error:
        return str(error)


def _joined(experiment: Experiment, parts: Sequence[Outcome | str]) -> Outcome | str:
    outcomes = [part for part in parts if isinstance(part, Outcome)]
    if len(outcomes) < len(parts):
        return next(part for part in parts if isinstance(part, str))
    whole, *folds = outcomes
    return with_folds(experiment, whole, folds) if folds else whole


def _fitted(found: Mapping[str, Outcome | str]) -> dict[str, Outcome]:
    return {name: outcome for name, outcome in found.items() if isinstance(outcome, Outcome)}


def better_starts(outcomes: Mapping[str, Outcome]) -> Iterator[tuple[str, dict[str, float]]]:
    """Where to start models anew that fit worse than a simpler one inside them.

    A model that has all parameters of another one and more can fit no worse; if it does, its
    search ended in a local minimum.

    Args:
      outcomes: Fits by name.

    Yields:
      A model and the parameter values of the best model inside it.
    """
    misfits = _misfits(outcomes)
    names = {model: {p.name for p in o.fit.parameters} for model, o in outcomes.items()}
    for model in outcomes:
        inside = [other for other in outcomes if names[other] < names[model]]
        best = min(inside, key=lambda other: misfits[other], default=model)
        if misfits[best] < misfits[model]:
            yield model, {p.name: p.value for p in outcomes[best].fit.parameters}


def _fits_better(name: str, attempt: Outcome, outcomes: Mapping[str, Outcome]) -> bool:
    """Whether another fit of a model lowers its misfit."""
    effective = _effective({**outcomes, name: attempt})
    before = misfit(outcomes[name].fit.residuals, effective)
    return misfit(attempt.fit.residuals, effective) < before


def _effective(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    """What each signal's samples are worth, by the residuals of the model that fits best."""

    def total(outcome: Outcome) -> float:
        sizes = outcome.fit.residuals
        return misfit(sizes, {name: float(size.samples) for name, size in sizes.items()})

    best = min(outcomes.values(), key=total)
    return {name: size.effective for name, size in best.fit.residuals.items()}


def _misfits(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    effective = _effective(outcomes)
    return {name: misfit(o.fit.residuals, effective) for name, o in outcomes.items()}


def _judged(
    title: str,
    outcomes: Mapping[str, Outcome],
    failures: Mapping[str, str],
    notes: Sequence[str],
) -> Comparison:
    effective = sum(_effective(outcomes).values())
    sizes = {name: len(outcome.fit.parameters) for name, outcome in outcomes.items()}
    bic = {
        name: value + sizes[name] * math.log(max(effective, 1.0))
        for name, value in _misfits(outcomes).items()
    }
    predictions = {name: predicted(outcome) for name, outcome in outcomes.items()}
    overall = held_out(predictions)
    if overall is None:
        raise DataError("nothing is held out that the models could be compared by")
    by_joint = {
        joint: errors
        for joint in joints_of(next(iter(predictions.values())))
        if (errors := held_out(predictions, joint)) is not None
    }
    return Comparison(
        title=title,
        outcomes=outcomes,
        failures=failures,
        bic=bic,
        effective_samples=effective,
        overall=pick(overall, sizes, bic),
        joints={joint: pick(errors, sizes, bic) for joint, errors in by_joint.items()},
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
        if outcome.fit.status.value != "CONVERGED":
            yield f"The fit of {name} did not converge: {outcome.fit.message}."
    if errors.blocks:
        yield (
            f"There are few held-out recordings, so the models are compared on {errors.units}; "
            "hold out more recordings for a test that does not depend on how they are cut."
        )
