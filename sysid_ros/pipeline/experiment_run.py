# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The straight line of the package: experiment, recordings, fit, scores, result folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco

from sysid_ros.dataset import FitInputs
from sysid_ros.engine.estimation import BiasCheck, FitResult, FitState, WindowCheck, flagged
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec
from sysid_ros.engine.inverse_dynamics import sharpen_friction
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.engine.measured_torque import bias_check_by_method, window_check_by_method
from sysid_ros.engine.simulation import CandidateBuilder
from sysid_ros.engine.uncertainty import unfitted
from sysid_ros.errors import ExperimentError, StopRequestedError
from sysid_ros.experiment import Experiment, check_fittable
from sysid_ros.exports import StartState
from sysid_ros.judgement import (
    Outcome,
    applied_parameters,
    forecast_check,
    outcome_of,
    scored_windows,
    title_of,
    with_provenance,
)
from sysid_ros.pipeline.chunked_fit import fitted_in_chunks, in_first_chunk, scored_in_part
from sysid_ros.pipeline.cross_validation import cross_validated
from sysid_ros.pipeline.deadline import Deadline, either
from sysid_ros.pipeline.result_writing import write_results
from sysid_ros.pipeline.resume import Resume, inputs_of
from sysid_ros.pipeline.run_folder import RunFolder
from sysid_ros.processes import IN_THIS_PROCESS, Workers, return_freed_memory
from sysid_ros.results import ResultFolder, check_writable, write_targets
from sysid_ros.run_logs import settings_of
from sysid_ros.search import FoundStart, SearchListener, Trials, find_start


@dataclass(frozen=True)
class RunReport:
    """A finished run and its files."""

    outcome: Outcome
    files: ResultFolder


def run_experiment(
    experiment: Experiment,
    *,
    data_dir: Path | None = None,
    output_dir: Path | None = None,
    work_dir: Path | None = None,
    on_iteration: Callable[[Iteration], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_stage: Callable[[str], None] | None = None,
    on_reading: Callable[[float], None] | None = None,
    resume: Resume | None = None,
    workers: Workers = IN_THIS_PROCESS,
) -> RunReport:
    """Read the recordings, fit the parameters, score them and write the result folder.

    Args:
      experiment: The validated experiment.
      data_dir: Where bags are found, before the experiment file's own folder.
      output_dir: Where the result folder is made; default the experiment's ``output``.
      work_dir: An open work folder that becomes the result folder.
      on_iteration: Told every step of the optimizer.
      should_stop: Asked while simulating; true ends the fit with its best parameters, which are
        scored and written like any others.
      on_stage: Told in a few words what is being done.
      on_reading: Told how much of the recordings has been read, 0 to 1.
      resume: Carry on with an interrupted fit of the same experiment and data.
      workers: What runs fits that do not depend on each other, such as folds.

    Raises:
      SysidError: Whatever is wrong with the experiment, its model, its data or its output.
    """
    from sysid_ros.engine.derivatives import compilation_told  # takes a second

    tell = on_stage or (lambda _: None)
    deadline = Deadline(experiment.fit.time_limit)
    check_fittable(experiment)
    output = output_dir if output_dir is not None else Path(experiment.output)
    check_writable(output)
    tell("reading recordings")
    if experiment.fit.chunk is not None and resume is not None:
        raise ExperimentError("a fit in chunks keeps no state to resume from: leave out --resume")
    here = in_first_chunk(experiment)
    inputs = FitInputs.read(here, data_dir, deadline.while_reading(on_reading))
    deadline.reading_ended()
    with (
        compilation_told(tell) as stage,
        RunFolder(output, title_of(experiment), work_dir) as folder,
    ):
        run = _Run(experiment, inputs, data_dir, workers, stage, should_stop, deadline)
        folder.open_logs(experiment.logs, title_of(experiment), settings_of(experiment))
        earlier = folder.begin(inputs_of(experiment, inputs.dataset), resume)
        applied = applied_parameters(inputs.params, inputs.params.as_vector())
        write_targets(folder.path, applied, unfitted(inputs.params))
        found = run.found_start(folder, earlier, on_iteration)
        result = run.fitted(folder, earlier, found, on_iteration)
        outcome = run.scored(folder, result, found)
        folder.end_logs(outcome)
        return RunReport(outcome, run.written(folder, outcome, result, output))


@dataclass(frozen=True)
class _Run:
    """The steps between reading and writing, which share what they work on."""

    experiment: Experiment  # with all its sequences; inputs may have read a chunk of them
    inputs: FitInputs
    data_dir: Path | None
    workers: Workers
    stage: Callable[[str], None]
    should_stop: Callable[[], bool] | None
    deadline: Deadline

    def found_start(
        self,
        folder: RunFolder,
        earlier: FitState | Trials | None,
        on_iteration: Callable[[Iteration], None] | None,
    ) -> FoundStart | None:
        """Return the start that a search finds, if the experiment asks for one still to be done."""
        if self.inputs.experiment.fit.search is None or isinstance(earlier, FitState):
            return None
        recording = folder.recording(on_iteration)
        return find_start(
            self.inputs,
            self.data_dir,
            workers=self.workers,
            earlier=earlier,
            listener=SearchListener(folder.save_trials, recording, self.stage),
            should_stop=either(self.should_stop, self.deadline.fit_is_overdue),
        )

    def fitted(
        self,
        folder: RunFolder,
        earlier: FitState | Trials | None,
        found: FoundStart | None,
        on_iteration: Callable[[Iteration], None] | None,
    ) -> FitResult:
        """The fit, from the search's start or from where an earlier run stood."""
        state = earlier if isinstance(earlier, FitState) else None
        self.stage("fitting" if state is None else f"carrying on after iteration {state.iteration}")
        told: dict[str, Any] = {
            "on_iteration": folder.recording(on_iteration),
            "should_stop": either(self.should_stop, self.deadline.fit_is_overdue),
            "time_limit": self.deadline.for_fit(state.elapsed if state is not None else 0.0),
        }
        if self.experiment.fit.chunk is not None:
            given = self.experiment, self.inputs, self.data_dir, self.workers
            result = fitted_in_chunks(*given, **told)
        else:
            start = found.values if found is not None else None
            result = self.inputs.fitted(on_state=folder.save, resume=state, start=start, **told)
        asked = self.should_stop is not None and self.should_stop()
        return self.deadline.explained(result, asked=asked)

    def scored(self, folder: RunFolder, result: FitResult, found: FoundStart | None) -> Outcome:
        """The fit with its bias check, its scores and those of its folds."""
        bias = self._bias(result)
        if bias is not None:
            result = flagged(result, bias)
        windows = self._windows(result)
        self.stage("scoring")
        outcome = outcome_of(self.inputs, result, bias, should_stop=self.deadline.passed)
        if windows is not None:
            windows = scored_windows(self.inputs, windows, self.deadline.passed)
        outcome = replace(
            outcome,
            window_check=windows,
            warnings=(
                *folder.warnings,
                *scored_in_part(self.experiment),
                *outcome.warnings,
                *(windows.warnings() if windows is not None else ()),
            ),
            forecast=forecast_check(self.inputs, result, self.data_dir),
        )
        if found is not None:
            outcome = with_provenance(outcome, "search", found.summary)
        if self.inputs.experiment.validation.folds and result.status is not FitStatus.CANCELED:
            with folder.folds() as states:
                return self._cross_validated(outcome, states)
        return outcome

    def written(
        self, folder: RunFolder, outcome: Outcome, result: FitResult, output: Path
    ) -> ResultFolder:
        """The files, with the model that each robot turned out to be."""
        return_freed_memory()  # of models with all their meshes, which exports compile as well
        self.stage("writing results")
        groups = self.inputs.dataset.training
        specs = {each.robot: self._identified_spec(result, each.robot) for each in groups}
        return write_results(
            outcome,
            specs[groups[0].robot],
            output,
            start_state=StartState.of(groups[0].spec, groups[0].initial_state[0]),
            partial=folder.path,
            draw=self.deadline.allows_drawing,
            source=self.inputs.dataset.source,
            robots={robot: spec for robot, spec in specs.items() if robot is not None},
        )

    def _identified_spec(self, result: FitResult, robot: str | None) -> mujoco.MjSpec:
        """The model with the values that are common to all robots, and those of one."""
        params = self.inputs.params.for_robot(robot)
        spec = CandidateBuilder(self.inputs.dataset.source.spec, params).spec(result.values)
        if result.torque is not None:
            for joint, (viscous, dry) in result.torque.plain_friction.items():
                apply_friction_to_spec(spec, joint, FrictionParameters(viscous, dry))
            if result.torque.sharp_friction:
                sharpen_friction(spec, result.torque.creep)
        return spec

    def _bias(self, result: FitResult) -> BiasCheck | None:
        """The bias check, where the experiment asks for it and the fit came to an end."""
        if not (self.inputs.experiment.fit.bias_check and _ended(result)):
            return None
        return self.inputs.checked(
            bias_check_by_method,
            result,
            should_stop=self.should_stop,
            on_refit=lambda change: self.stage(f"checking for bias: {change}"),
        )

    def _windows(self, result: FitResult) -> WindowCheck | None:
        """The check of other windows, likewise."""
        if not (self.inputs.experiment.fit.window_check and _ended(result)):
            return None
        self.stage("comparing windows")
        return self.inputs.checked(window_check_by_method, result, should_stop=self.should_stop)

    def _cross_validated(self, outcome: Outcome, states: Path) -> Outcome:
        """The outcome with the scores of its folds, or a warning where they were not awaited."""
        self.stage("cross-validating")
        try:
            return cross_validated(
                _within(self.inputs.experiment, self.deadline),
                outcome,
                self.data_dir,
                workers=self.workers,
                state_dir=states,
                on_fold=lambda k, folds: self.stage(f"cross-validating: fold {k} of {folds}"),
                should_stop=either(self.should_stop, self.deadline.passed),
            )
        except StopRequestedError:
            stopped = "The cross-validation was stopped, so nothing held out was predicted."
            return replace(outcome, warnings=(stopped, *outcome.warnings))


def _ended(result: FitResult) -> bool:
    """Return whether a fit was neither stopped nor out of time."""
    return result.status not in (FitStatus.CANCELED, FitStatus.TIME_LIMIT)


def _within(experiment: Experiment, deadline: Deadline) -> Experiment:
    """The experiment with what is left of its time limit."""
    if experiment.fit.time_limit is None:
        return experiment
    return experiment.with_fit(time_limit=max(deadline.remaining, 1e-3))
