# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One fit as a task that runs anywhere: plain data in, an outcome out, no files but its state."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import FitInputs
from sysid_ros.engine.estimation import FitState
from sysid_ros.experiment import Experiment, ValidationConfig, check_fittable
from sysid_ros.judgement import Outcome, outcome_of
from sysid_ros.pipeline.deadline import Deadline
from sysid_ros.pipeline.resume import inputs_of, kept_state
from sysid_ros.results import write_state
from sysid_ros.robots import vector_of
from sysid_ros.search import find_start


@dataclass(frozen=True)
class FitTask:
    """The data and settings of one fit."""

    experiment: Experiment  # the experiment; its path is absolute, for models beside it
    data_dir: Path | None = None  # where bags are found first, absolute; ``None`` for nowhere
    # positions of the sequences to score instead of fitting them; where given, they take the place
    # of the experiment's own validation
    held_out: tuple[int, ...] = ()
    # values to start from by parameter name; others start as the experiment says
    start: Mapping[str, float] = field(default_factory=dict)
    threads: int | None = None  # simulation threads; ``None`` lets the experiment decide
    # where the fit keeps its state, and carries on from one of the same inputs; the folder around
    # it exists, but for workers on other machines. ``None`` keeps nothing
    state_dir: Path | None = None
    # a token that tasks of the same recordings and signals share; a process reads their recordings
    # once. Empty where nothing is known of others
    reading: str = ""

    @classmethod
    def of(
        cls, experiment: Experiment, data_dir: Path | None, *, threads: int | None = None
    ) -> FitTask:
        """The fit of an experiment as it is."""
        return cls(
            experiment=experiment.anywhere(),
            data_dir=data_dir.absolute() if data_dir else None,
            threads=threads,
            reading=secrets.token_hex(8),
        )

    def resolved(self) -> Experiment:
        """The experiment with this task's hold-out and threads."""
        experiment = self.experiment
        if self.threads is not None:
            experiment = experiment.with_fit(threads=self.threads)
        return _holding_out(experiment, self.held_out) if self.held_out else experiment


def run_fit_task(task: FitTask) -> Outcome:
    """Fit and score, on whatever machine this runs.

    Raises:
      SysidError: Whatever is wrong with the experiment, its model or its data.
    """
    experiment = task.resolved()
    deadline = Deadline(experiment.fit.time_limit)
    check_fittable(experiment)
    on_reading = deadline.while_reading(None)
    inputs = FitInputs.read(experiment, task.data_dir, on_reading, reading=task.reading)
    deadline.reading_ended()
    memory = _Memory(task.state_dir, inputs_of(experiment, inputs.dataset))
    earlier = memory.recall()
    result = inputs.fitted(
        start=None if earlier else _start(task, inputs, deadline.fit_is_overdue),
        resume=earlier,
        landscapes=False,
        on_state=memory.keep,
        time_limit=deadline.for_fit(earlier.elapsed if earlier else 0.0),
        should_stop=deadline.fit_is_overdue,
    )
    result = deadline.explained(result, asked=False)
    return outcome_of(inputs, result, of_a_part=True, should_stop=deadline.passed)


@dataclass(frozen=True)
class _Memory:
    """The state of one fit in a folder of its own, if it has one."""

    folder: Path | None
    inputs: Mapping[str, str]

    def recall(self) -> FitState | None:
        """Return the state of an earlier fit of the same inputs."""
        return kept_state(self.folder, self.inputs) if self.folder is not None else None

    def keep(self, state: FitState) -> None:
        """Replace the state; on a machine without the folder around it nothing is kept."""
        if self.folder is not None and self.folder.parent.is_dir():
            self.folder.mkdir(exist_ok=True)
            write_state(self.folder, state, self.inputs)


def _start(task: FitTask, inputs: FitInputs, should_stop: Callable[[], bool]) -> FloatArray | None:
    """The task's start, or where the experiment's search finds one."""
    if not task.start and inputs.experiment.fit.search is not None:
        return find_start(inputs, task.data_dir, should_stop=should_stop).values
    return vector_of(inputs.params, task.start)


def _holding_out(experiment: Experiment, held_out: tuple[int, ...]) -> Experiment:
    kept = [s for i, s in enumerate(experiment.sequences) if i not in held_out]
    validation = ValidationConfig(bags=tuple(experiment.sequences[i] for i in held_out))
    return replace(experiment, sequences=tuple(kept), validation=validation)
