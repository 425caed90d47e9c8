# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The problem of a fit, the point where it begins, and what must hold there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.fit_settings import FitSettings
from sysid_ros.engine.least_squares import Point, loss_named
from sysid_ros.engine.parameters import ParameterDict, StartModifier
from sysid_ros.engine.problem import AddedRows, WindowedProblem
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import WindowGroup
from sysid_ros.errors import DataError, ModelError, ParameterError, StopRequestedError


def check_starts_are_free(params: ParameterDict) -> None:
    """Refuse parameters that are the start of a recording.

    Raises:
      ParameterError: There is one.
    """
    for parameter in params.free():
        if isinstance(parameter.modifier, StartModifier):
            raise ParameterError(
                f"parameter {parameter.name!r} is the start of a recording; this fit estimates the "
                "start of every window by itself, so leave it out"
            )


def problem_of(
    groups: Sequence[WindowGroup],
    params: ParameterDict,
    rollouts: RolloutPool,
    settings: FitSettings,
    noise: Mapping[str, float],
    added: AddedRows | None = None,
) -> WindowedProblem:
    """The function that a fit with these settings minimizes."""
    return WindowedProblem(
        groups,
        params,
        rollouts,
        loss=loss_named(settings.loss),
        noise=noise,
        engine=settings.engine,
        hold=True,
        added=added,
    )


def check_sample_count(problem: WindowedProblem) -> None:
    """Refuse a problem with fewer samples than parameters.

    Raises:
      DataError: It is one.
    """
    samples = problem.n_samples
    if samples <= problem.lower.size:
        raise DataError(
            f"{samples} samples cannot determine {problem.lower.size} parameters; "
            "record longer or free fewer parameters"
        )


def proposed_start(problem: WindowedProblem) -> FloatArray | None:
    """Values that rows beside those of simulation propose, if the objective is lower there."""
    if problem.added is None:
        return None
    proposal = np.clip(problem.added.proposal, problem.lower, problem.upper)
    point = problem.initial_point()
    try:
        better = problem.cost(replace(point, theta=proposal)) < problem.cost(point)
    except (ModelError, StopRequestedError):
        return None
    return proposal if better else None


def first_point(problem: WindowedProblem, start: FloatArray | None) -> Point:
    """Return the point where the search begins, with every window's start as measured."""
    point = problem.initial_point()
    return point if start is None else replace(point, theta=np.asarray(start, dtype=np.float64))


def checked_start(problem: WindowedProblem, point: Point) -> list[FloatArray] | None:
    """The residuals where a search starts, which must be possible to simulate, by window.

    None where the rollouts were asked to stop.

    Raises:
      DataError: The simulation of a window diverges.
    """
    try:
        residuals = problem.residuals(point)
    except StopRequestedError:
        return None
    diverged = [
        f"{window.sequence.name} from {window.window.start:.3f} s"
        for window, residual in zip(problem.windows, residuals, strict=True)
        if not np.all(np.isfinite(residual))
    ]
    if diverged:
        raise DataError(
            f"with the initial parameters the simulation diverges in {len(diverged)} of "
            f"{len(problem.windows)} windows, first in {diverged[0]}; check the units and signs of "
            "the signals, start elsewhere, or lower the model's timestep"
        )
    return residuals
