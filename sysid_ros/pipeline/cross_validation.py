# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cross-validation over recordings: every one is predicted by a fit that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.experiment import Experiment
from sysid_ros.judgement import Outcome, Score, scored_warnings, with_verdict
from sysid_ros.pipeline.fit_task import FitTask, run_fit_task
from sysid_ros.processes import Workers, run_tasks


def folds_of(sequences: int, folds: int) -> list[tuple[int, ...]]:
    """List the sequences that each fold holds out: every ``folds``-th, to mix sessions."""
    return [tuple(range(first, sequences, folds)) for first in range(folds)]


def cross_validated(
    experiment: Experiment,
    outcome: Outcome,
    data_dir: Path | None,
    *,
    workers: Workers,
    state_dir: Path | None,
    on_fold: Callable[[int, int], None],
    should_stop: Callable[[], bool] | None,
) -> Outcome:
    """Fit every fold and give the fit of all sequences their held-out scores.

    Args:
      experiment: Its ``validation.folds`` says how many.
      outcome: The fit of all sequences.
      data_dir: Where bags are found first.
      workers: What fits the folds.
      state_dir: A folder for the states of the folds, which carry on from what they find there.
      on_fold: Told how many of how many folds are done.
      should_stop: Asked while waiting.

    Returns:
      What :func:`with_folds` gives.

    Raises:
      SysidError: A fold cannot be fitted.
      StopRequestedError: ``should_stop`` asked for it.
    """
    parts = folds_of(len(experiment.sequences), experiment.validation.folds or 2)
    threads = workers.threads_each(experiment.fit.threads)
    whole = FitTask.of(experiment, data_dir, threads=threads)
    done: list[int] = []

    def count(index: int, fold: Outcome) -> None:
        done.append(index)
        on_fold(len(done), len(parts))

    start = {}
    if experiment.fit.search is not None:  # one search is enough
        start = {p.name: p.value for p in outcome.fit.parameters}
    tasks = [
        replace(whole, held_out=part, start=start, state_dir=state_dir and state_dir / f"{i}")
        for i, part in enumerate(parts)
    ]
    folds = run_tasks(run_fit_task, tasks, workers, on_done=count, should_stop=should_stop)
    return with_folds(outcome, folds)


def with_folds(outcome: Outcome, folds: Sequence[Outcome]) -> Outcome:
    """Give the fit of all sequences the held-out scores of its folds.

    Args:
      outcome: The fit of all sequences.
      folds: A fit for each part of them that was held out.

    Returns:
      The outcome with a validation score over all folds that were scored, and each sequence as it
      was predicted while it was held out.
    """
    scores = [fold.validation for fold in folds if fold.validation is not None]
    validation = combined(scores) if scores else None
    held_out = [s for fold in folds for s in fold.sequences if s.role == "validation"]
    before = scored_warnings(outcome.training, outcome.validation)
    others = [sentence for sentence in outcome.warnings if sentence not in before]
    return with_verdict(
        replace(
            outcome,
            validation=validation,
            sequences=(*outcome.sequences, *held_out),
            warnings=(
                *others, *scored_warnings(outcome.training, validation), *_fold_warnings(folds),
            ),
        )
    )  # fmt: skip


def unfinished(folds: Sequence[Outcome]) -> list[Outcome]:
    """The folds whose fit has not converged."""
    return [fold for fold in folds if fold.fit.status is not FitStatus.CONVERGED]


def _fold_warnings(folds: Sequence[Outcome]) -> Iterator[str]:
    """Sentences about folds of which the held-out error knows nothing, or too much."""
    unscored = sum(fold.validation is None for fold in folds)
    if unscored:
        yield (
            f"{unscored} of {len(folds)} folds were not scored, as the time limit passed; the "
            "held-out error is without them."
        )
    ended = unfinished(folds)
    if ended:
        yield (
            f"The fits of {len(ended)} of {len(folds)} folds did not converge "
            f"({ended[0].fit.message}); their held-out errors may be too large."
        )


def combined(scores: Sequence[Score]) -> Score:
    """Scores of separate recordings as one, weighted by their windows.

    Args:
      scores: At least one, of the same signals.
    """
    weights = [score.windows for score in scores]

    def squares(values: Sequence[float]) -> float:
        total = sum(w * v**2 for w, v in zip(weights, values, strict=True))
        return float((total / sum(weights)) ** 0.5)

    def mean(values: Sequence[float]) -> float:
        return float(sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights))

    def pooled(
        pool: Callable[[Sequence[float]], float], values: Callable[[Score], Mapping[str, float]]
    ) -> dict[str, float]:
        return {name: pool([values(s)[name] for s in scores]) for name in values(scores[0])}

    return Score(
        rmse=pooled(squares, lambda s: s.rmse),
        rmse_initial=pooled(squares, lambda s: s.rmse_initial),
        units=scores[0].units,
        rmse_all=squares([s.rmse_all for s in scores]),
        rmse_all_initial=squares([s.rmse_all_initial for s in scores]),
        unit_all=scores[0].unit_all,
        windows=sum(weights),
        mae=pooled(mean, lambda s: s.mae),
        mae_initial=pooled(mean, lambda s: s.mae_initial),
        mae_all=mean([s.mae_all for s in scores]),
        mae_all_initial=mean([s.mae_all_initial for s in scores]),
        rmse_still=pooled(squares, lambda s: s.rmse_still),
        rmse_mean=pooled(squares, lambda s: s.rmse_mean),
        rmse_still_all=squares([s.rmse_still_all for s in scores]),
        rmse_mean_all=squares([s.rmse_mean_all for s in scores]),
    )
