"""The straight line of the package: experiment, recordings, fit, scores, result folder."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

import sysid_ros
from sysid_ros.dataset import Dataset, SequenceSet, load_dataset
from sysid_ros.experiment import check_fittable
from sysid_ros.experiment.parameters import build_parameters
from sysid_ros.experiment.schema import Experiment
from sysid_ros.outcome import Outcome
from sysid_ros.results import StartState, check_writable, write_results
from sysid_ros.resume import Resume, inputs_of
from sysid_ros.run_folder import RunFolder
from sysid_ros.scoring import ScoringSettings, WindowErrors, open_loop_errors, score, traces
from sysid_ros.sysid.bias_check import BiasCheck, bias_check, flagged
from sysid_ros.sysid.candidate import CandidateBuilder
from sysid_ros.sysid.fit import FitSettings, SignalNoise, fit
from sysid_ros.sysid.fit_result import FitResult, FitStatus, Iteration
from sysid_ros.sysid.parameter_dict import ParameterDict
from sysid_ros.verdict import verdict, warnings

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RunReport:
    """A finished run and where its files are."""

    outcome: Outcome
    result_dir: Path
    report_file: Path | None
    model_file: Path | None  # None: the model could not be written, a warning says why


def run_experiment(
    experiment: Experiment,
    *,
    data_dir: Path | None = None,
    output_dir: Path | None = None,
    work_dir: Path | None = None,
    on_iteration: Callable[[Iteration], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_stage: Callable[[str], None] | None = None,
    resume: Resume | None = None,
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
      resume: Carry on with an interrupted fit of the same experiment and data.

    Returns:
      The outcome and its files.

    Raises:
      SysidError: Whatever is wrong with the experiment, its model, its data or its output.
    """
    stage = on_stage or (lambda _: None)
    check_fittable(experiment)
    output = output_dir if output_dir is not None else Path(experiment.output)
    check_writable(output)
    stage("reading recordings")
    dataset = load_dataset(experiment, data_dir)
    params = build_parameters(experiment, dataset.training.groups[0].spec)
    with RunFolder(output, title_of(experiment), work_dir) as folder:
        state = folder.begin(inputs_of(experiment, dataset), resume)
        stage("fitting" if state is None else f"carrying on after iteration {state.iteration}")
        result = fit(
            dataset.training.groups,
            params,
            _fit_settings(experiment),
            known=_known(dataset),
            on_iteration=folder.recording(on_iteration),
            on_state=folder.save,
            resume=state,
            should_stop=should_stop,
        )
        bias = _bias(experiment, dataset, params, result, stage, should_stop)
        if bias is not None:
            result = flagged(result, bias)
        stage("scoring")
        outcome = _outcome(experiment, dataset, params, result, bias)
        stage("writing results")
        files = write_results(
            outcome,
            _identified_spec(dataset, params, result),
            output,
            start_state=_start_state(dataset),
            partial=folder.path,
        )
    return RunReport(outcome, files.folder, files.report, files.model)


def title_of(experiment: Experiment) -> str:
    """What results of an experiment are called: the folder that its file is in."""
    return experiment.path.absolute().parent.name if experiment.path else "fit"


def _known(dataset: Dataset) -> SignalNoise:
    return SignalNoise(dataset.noise, dataset.training.excluded)


def _bias(
    experiment: Experiment,
    dataset: Dataset,
    params: ParameterDict,
    result: FitResult,
    stage: Callable[[str], None],
    should_stop: Callable[[], bool] | None,
) -> BiasCheck | None:
    """The bias check, where the experiment asks for it and the fit came to an end."""
    if not experiment.fit.bias_check or result.status is FitStatus.CANCELED:
        return None
    return bias_check(
        dataset.training.groups,
        params,
        result,
        _fit_settings(experiment),
        known=_known(dataset),
        should_stop=should_stop,
        on_refit=lambda change: stage(f"checking for bias: {change}"),
    )


def _fit_settings(experiment: Experiment) -> FitSettings:
    return FitSettings(
        window_length=experiment.windows.length,
        estimate_starts=experiment.initial_state.estimate,
        velocity_filter=experiment.initial_state.velocity_filter,
        optimizer=experiment.fit.optimizer,
        loss=experiment.fit.loss,
        max_iterations=experiment.fit.max_iterations,
        time_limit=experiment.fit.time_limit,
        threads=experiment.fit.threads,
        intervals=experiment.fit.intervals,
        landscapes=experiment.fit.landscapes,
        engine=experiment.fit.engine,
    )


def _outcome(
    experiment: Experiment,
    dataset: Dataset,
    params: ParameterDict,
    result: FitResult,
    bias: BiasCheck | None,
) -> Outcome:
    values = np.array([parameter.value for parameter in result.parameters])

    def errors(used: SequenceSet, *, overlap: bool) -> tuple[WindowErrors, ...]:
        if not used.groups:
            return ()
        windows = experiment.scoring or experiment.windows
        settings = ScoringSettings(
            length=windows.length,
            overlap=windows.overlap if overlap else 0.0,
            velocity_filter=experiment.initial_state.velocity_filter,
            threads=experiment.fit.threads,
        )
        return open_loop_errors(used.groups, params, values, settings, used.excluded)

    training = score(errors(dataset.training, overlap=True))
    held_out = errors(dataset.validation, overlap=True)
    validation = score(held_out) if held_out else None
    sequences = traces(errors(dataset.training, overlap=False), "training")
    sequences += traces(errors(dataset.validation, overlap=False), "validation")
    return Outcome(
        title=title_of(experiment),
        fit=result,
        training=training,
        validation=validation,
        sequences=sequences,
        quality=dataset.quality,
        verdict=verdict(result, training, validation),
        warnings=(
            *dataset.warnings,
            *warnings(experiment, result, training, validation),
            *(bias.sentences() if bias is not None else ()),
        ),
        provenance=_provenance(experiment, dataset),
        bias=bias,
    )


def _identified_spec(dataset: Dataset, params: ParameterDict, result: FitResult) -> mujoco.MjSpec:
    values = np.array([parameter.value for parameter in result.parameters])
    return CandidateBuilder(dataset.source_spec, params).spec(values)


def _start_state(dataset: Dataset) -> StartState | None:
    model = dataset.source_spec.copy().compile()
    state = dataset.training.groups[0].initial_state[0]
    return StartState(
        qpos=state[1 : 1 + model.nq].tolist(),
        qvel=state[1 + model.nq : 1 + model.nq + model.nv].tolist(),
        act=state[1 + model.nq + model.nv : 1 + model.nq + model.nv + model.na].tolist(),
    )


def _provenance(experiment: Experiment, dataset: Dataset) -> Mapping[str, str]:
    versions = {
        f"version {package}": metadata.version(package)
        for package in ("mujoco", "numpy", "scipy", "rosbags")
    }
    return {
        "version sysid_ros": sysid_ros.__version__,
        **versions,
        "version python": platform.python_version(),
        **{f"sha256 {name}": digest for name, digest in dataset.hashes.items()},
        "command": " ".join(sys.argv),
        "experiment file": str(experiment.path or ""),
        "experiment": experiment.text,
        "overrides": "; ".join(experiment.overrides),
    }
