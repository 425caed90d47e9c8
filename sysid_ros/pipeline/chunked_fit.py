# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An experiment of more recordings than memory holds: chunks for processes or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sysid_ros.dataset import FitInputs, FitSource
from sysid_ros.engine.estimation import FitResult, fit_in_chunks
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.engine.measured_torque import torque_beside_simulation
from sysid_ros.engine.problem import ChunkPoint, ChunkSums
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import Experiment, SequenceConfig
from sysid_ros.pipeline.chunk_task import Chunk, ChunkTask, run_chunk_task, survey_chunk
from sysid_ros.processes import TaskPool, Workers
from sysid_ros.robots import have_own_parameters


def in_first_chunk(experiment: Experiment) -> Experiment:
    """The experiment as it is read here: its first chunk, and all that is held out.

    Raises:
      ExperimentError: It asks for what needs all recordings at once.
    """
    size = experiment.fit.chunk
    if size is None:
        return experiment
    for what, asked in (
        ("validation.folds", experiment.validation.folds),
        ("validation.fraction", experiment.validation.fraction),
        ("fit.search", experiment.fit.search),
        ("fit.bias_check", experiment.fit.bias_check),
        ("fit.window_check", experiment.fit.window_check),
        ("parameters of each robot", have_own_parameters(experiment)),
    ):
        if asked:
            raise ExperimentError(f"fit.chunk does not go with {what}: leave out one of the two")
    fitted = _fitted(experiment)
    held_out = tuple(each for each in experiment.sequences if each not in fitted)
    return replace(experiment, sequences=(*fitted[:size], *held_out))


def scored_in_part(experiment: Experiment) -> tuple[str, ...]:
    """Say that only some of the recordings that were fitted are scored and shown, if so."""
    size, count = experiment.fit.chunk, len(_fitted(experiment))
    if size is None or size >= count:
        return ()
    return (
        f"Fitted in chunks: scores and pictures of training are of the first {size} of {count} "
        "recordings, and intervals do not allow for model errors.",
    )


def fitted_in_chunks(
    experiment: Experiment,
    inputs: FitInputs,
    data_dir: Path | None,
    workers: Workers,
    *,
    on_iteration: Callable[[Iteration], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    time_limit: float | None = None,
) -> FitResult:
    """Fit all sequences of an experiment that are not held out.

    Args:
      experiment: With all its sequences.
      inputs: Of :func:`in_first_chunk`.
      data_dir: Where bags are found first.
      workers: What reads and simulates; a worker that dies takes no result with it.
      on_iteration: Told every step of the optimizer.
      should_stop: Asked while waiting; true ends the fit with its best parameters.
      time_limit: s.

    Raises:
      SysidError: Whatever is wrong with a recording, or the workers failed.
    """
    settings = replace(inputs.settings, time_limit=time_limit)
    beside = inputs.settings.torque.beside_simulation and torque_beside_simulation(
        inputs.dataset.training, inputs.params, settings, inputs.known
    )
    if beside:
        raise ExperimentError(
            "fit.chunk compares simulations alone, and torque is measured: set "
            "fit.inverse_dynamics.beside_simulation=false, or leave out fit.chunk"
        )
    own = replace(settings, threads=workers.threads_each(settings.threads))
    chunks = [Chunk(FitSource.of(part, data_dir), own) for part in _parts(experiment)]
    with TaskPool(workers) as pool:

        def evaluate(points: Sequence[ChunkPoint]) -> list[ChunkSums]:
            tasks = [ChunkTask(chunk, here) for chunk, here in zip(chunks, points, strict=True)]
            return pool.run(run_chunk_task, tasks, should_stop=should_stop)

        surveys = pool.run(survey_chunk, chunks, should_stop=should_stop)
        return fit_in_chunks(
            surveys, evaluate, inputs.params, settings, inputs.known, on_iteration=on_iteration
        )


def _fitted(experiment: Experiment) -> tuple[SequenceConfig, ...]:
    """The sequences that are not held out by their conditions."""
    condition = experiment.validation.condition
    return tuple(
        each for each in experiment.sequences if condition is None or not each.meets(condition)
    )


def _parts(experiment: Experiment) -> list[Experiment]:
    """The experiment over a chunk of its sequences each, with nothing held out."""
    fitted, size = _fitted(experiment), experiment.fit.chunk or 1
    alone = replace(experiment, validation=type(experiment.validation)(), text="", overrides=())
    return [
        replace(alone, sequences=fitted[first : first + size])
        for first in range(0, len(fitted), size)
    ]
