# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fitting parameters to recorded sequences: windows, noise levels, optimum, uncertainty."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.alternatives import (
    QUARTER,
    Alternative,
    alternatives,
    finer_step,
    groups_of,
)
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.fit_rounds import FitRounds, Listeners
from sysid_ros.engine.estimation.fit_settings import (
    DEFAULT_SETTINGS,
    NOTHING_KNOWN,
    FitSettings,
    SignalNoise,
)
from sysid_ros.engine.estimation.fit_start import (
    check_sample_count,
    check_starts_are_free,
    checked_start,
    first_point,
    problem_of,
    proposed_start,
)
from sysid_ros.engine.estimation.fit_state import FitState, check_state
from sysid_ros.engine.estimation.other_interpolations import other_interpolations
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import AddedRows
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import first_noise


def fit(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings = DEFAULT_SETTINGS,
    *,
    known: SignalNoise = NOTHING_KNOWN,
    on_iteration: Callable[[Iteration], None] | None = None,
    on_state: Callable[[FitState], None] | None = None,
    resume: FitState | None = None,
    start: FloatArray | None = None,
    should_stop: Callable[[], bool] | None = None,
    added: AddedRows | None = None,
    judged: bool = True,
) -> FitResult:
    """Fit parameters to measured sequences.

    Args:
      models_sequences: Models with their sequences; measurements are matched to sensors and
        controls to actuators by name.
      params: Start, bounds, priors and modifiers; not changed.
      settings: How to fit.
      known: Noise levels; a sensor's level that is not given is estimated from the residuals and
        the fit repeated until it settles.
      on_iteration: Told every accepted step.
      on_state: Given all that is needed to carry on from there, after every accepted step.
      resume: Where an earlier fit of the same data with the same settings stood; the limits may
        have been raised.
      start: Values to search from, (p,), where they are not those of ``params``; results still
        tell the initial values and cost of ``params``.
      should_stop: Asked between native calls; true ends the fit with its best point.
      added: Rows beside those of simulation, which also propose a start.
      judged: Whether the settings' ``model_error`` counts; a refit that asks what one choice does
        goes without.

    Returns:
      The best parameters found with their uncertainty.

    Raises:
      DataError: Too few samples, signals that the model lacks, or a state of another fit.
      ModelError: The model does not compile at the start.
    """
    began = time.monotonic() - (resume.elapsed if resume is not None else 0.0)
    check_starts_are_free(params)
    with single_blas_thread(), RolloutPool(settings.threads, should_stop=should_stop) as rollouts:
        groups = groups_of(models_sequences, params, settings)
        noise = first_noise(groups, known.levels)
        problem = problem_of(groups, params, rollouts, settings, noise, added)
        if start is None and resume is None:
            start = proposed_start(problem)
        check_sample_count(problem)
        first: list[FloatArray] | None = None
        if should_stop is None or not should_stop():
            first = checked_start(problem, first_point(problem, start))
        if resume is not None:
            check_state(resume, problem)
        asked = settings.model_error and judged
        others = _that_matter(models_sequences, params, settings) if asked else ()
        as_given = start is None or np.array_equal(start, params.as_vector())
        finer = None
        if added is not None and settings.model_error:
            finer = partial(groups_of, models_sequences, params, settings, extrapolated=True)
        rounds = FitRounds(
            problem, settings, known, Listeners(on_iteration, on_state), began, others,
            first if as_given else None, finer,
        )  # fmt: skip
        found = rounds.run(resume, start)
        if first is None or not as_given:
            return found
        keys = [(g, each.key) for g, group in enumerate(groups) for each in group.windows]
        return replace(found, first_errors=dict(zip(keys, first, strict=True)))


def _that_matter(
    models_sequences: Sequence[ModelSequences], params: ParameterDict, settings: FitSettings
) -> tuple[Alternative, ...]:
    """The alternatives that can move an estimate: starts that are estimated need no filter."""
    found = alternatives(models_sequences, settings)
    finest = finer_step(models_sequences, settings, QUARTER)
    chosen = found[:2] if settings.estimate_starts else found
    return (finest, *chosen, *other_interpolations(models_sequences, params, settings))
