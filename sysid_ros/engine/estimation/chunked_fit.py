# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fit of more recordings than memory holds: chunks of them answer with sums, wherever they are.

The rounds are those of every fit, and so is the answer. What compares simulations beyond a
linearization, such as choices that should not matter and pictures of the cost, is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.fit_rounds import FitRounds, Listeners
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.estimation.fit_start import (
    check_sample_count,
    check_starts_are_free,
    checked_start,
    problem_of,
)
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import (
    ChunkedProblem,
    ChunkPoint,
    ChunkSums,
    ChunkSurvey,
    Evaluate,
)
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import first_noise, needs_blocks
from sysid_ros.engine.windows import WindowGroup
from sysid_ros.errors import DataError, ExperimentError


def survey_of(
    groups: Sequence[WindowGroup], params: ParameterDict, settings: FitSettings, known: SignalNoise
) -> ChunkSurvey:
    """Look at a chunk of the recordings, and simulate it with the initial parameters.

    Raises:
      DataError: The simulation of a window diverges.
    """
    noise = first_noise(groups, known.levels)
    with single_blas_thread(), RolloutPool(settings.threads) as rollouts:
        problem = problem_of(groups, params, rollouts, settings, noise)
        residuals = iter(checked_start(problem, problem.initial_point()) or ())
    squares: dict[str, tuple[float, int]] = {}
    for batch in (batch for group in groups for batch in group.batches):
        own = np.concatenate([next(residuals) for _ in batch.windows])
        for name, (total, count) in batch.squares(own).items():
            before = squares.get(name, (0.0, 0))
            squares[name] = before[0] + total, before[1] + count
    return ChunkSurvey(problem.start_sizes, problem.n_samples, noise, problem.spreads, squares)


def sums_at(
    groups: Sequence[WindowGroup], params: ParameterDict, settings: FitSettings, here: ChunkPoint
) -> ChunkSums:
    """Linearize a chunk of the recordings at a point."""
    with single_blas_thread(), RolloutPool(settings.threads) as rollouts:
        problem = problem_of(groups, params, rollouts, settings, here.noise)
        problem.check_derivatives(here.point)
        found = problem.linearize(here.point)
    prior = problem.prior_rows(here.point.theta)[:, -1]
    return ChunkSums(
        found.cost - 0.5 * float(prior @ prior),
        found.grams,
        found.squares,
        problem.derivative_sources(),
    )


def fit_in_chunks(
    surveys: Sequence[ChunkSurvey],
    evaluate: Evaluate,
    params: ParameterDict,
    settings: FitSettings,
    known: SignalNoise,
    *,
    on_iteration: Callable[[Iteration], None] | None = None,
) -> FitResult:
    """Fit parameters to chunks of recordings.

    Args:
      surveys: Of all chunks, from :func:`survey_of`.
      evaluate: Answers for all chunks as :func:`sums_at` does; it may raise
        :class:`~sysid_ros.errors.StopRequestedError`, which ends the fit with its best point.
      params: Start, bounds, priors and modifiers; not changed.
      settings: How to fit.
      known: Noise levels that are given.
      on_iteration: Told every accepted step.

    Returns:
      The best parameters found with their uncertainty, without what model errors add to it.

    Raises:
      ExperimentError: The settings ask for what needs all residuals at once.
      DataError: Too few samples or windows.
    """
    began = time.monotonic()
    check_settings(settings)
    check_starts_are_free(params)
    settings = replace(settings, landscapes=0, model_error=False)
    noise: dict[str, float] = {}
    for survey in surveys:  # of the first recording that has the signal, as in every fit
        noise = {**survey.noise, **noise}
    with RolloutPool(1) as unused:
        problem = ChunkedProblem(surveys, evaluate, params, unused, noise=noise)
        check_sample_count(problem)
        if settings.intervals == "clustered" and needs_blocks(problem):
            raise DataError(
                f"{len(problem.start_sizes)} windows are too few for a fit in chunks of "
                f"{params.size} parameters; leave out fit.chunk"
            )
        listeners = Listeners(on_iteration, None)
        return FitRounds(problem, settings, known, listeners, began, (), []).run(None, None)


def check_settings(settings: FitSettings) -> None:
    """Refuse settings that need the residuals of all recordings at once.

    Raises:
      ExperimentError: There are such.
    """
    for name, given, valid in (
        ("method", settings.method, "forward"),
        ("optimizer", settings.optimizer, "auto"),
        ("loss", settings.loss, "linear"),
    ):
        if given != valid:
            raise ExperimentError(f"fit.chunk goes with fit.{name}: {valid} only, not {given}")
