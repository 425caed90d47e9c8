# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An experiment tried on robots whose parameters are known, before or after the real one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import FitInputs, model_with_payload
from sysid_ros.diagnosis import check_dataset
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.errors import DataError, SysidError
from sysid_ros.excitation import TrajectoryTable
from sysid_ros.experiment import Experiment
from sysid_ros.processes import IN_THIS_PROCESS, Workers, run_tasks
from sysid_ros.rehearsal.altered_recording import retell, true_motions
from sysid_ros.rehearsal.commanded import command_anew

_FACTOR = 2.0  # by which a value without a prior is drawn off its start, at most
_OF_BOUNDS = 0.1  # of the distance of the bounds, where the start is zero
_HAD = 0.5  # of the repetitions that must give an interval
_SHARP = 0.5  # standard error over the spread of the truth, at most


@dataclass(frozen=True)
class Attempt:
    """One rehearsal."""

    truth: dict[str, float]  # by parameter the value that was drawn
    value: dict[str, float]  # by parameter what the fit found
    # by parameter its standard error; ``None`` where none is claimed
    error: dict[str, float | None]
    # by parameter its 95 % interval; ``None`` likewise
    interval: dict[str, tuple[float, float] | None]
    findings: tuple[str, ...]  # kinds of what the check found
    failure: str = ""  # why there was no fit; empty where there was one


@dataclass(frozen=True)
class _Task:
    experiment: Experiment
    data_dir: Path | None
    seed: int
    motion: TrajectoryTable | None


def rehearse(
    experiment: Experiment,
    data_dir: Path | None,
    *,
    repeats: int,
    seed: int = 0,
    motion: TrajectoryTable | None = None,
    workers: Workers = IN_THIS_PROCESS,
    on_done: Callable[[int], None] = lambda count: None,
) -> list[Attempt]:
    """Draw true parameters, record the robot that has them, check and fit; again and again.

    A value with a prior is drawn from it. Others are drawn within a factor of two of their start,
    or within a tenth of their bounds where that is zero.

    Args:
      experiment: Its model, recordings, signals, parameters and settings are used as they are.
      data_dir: Where bags are found first.
      repeats: How often.
      seed: Of the first repetition; the same seed gives the same answer.
      motion: What the robots are told to do in every recording, instead of what was recorded.
      workers: Where repetitions run.
      on_done: Told how many have ended.

    Raises:
      SysidError: The experiment cannot be rehearsed at all.
    """
    threads = workers.threads_each(experiment.fit.threads)
    prepared = experiment.with_fit(threads=threads)
    tasks = [_Task(prepared, data_dir, seed + k, motion) for k in range(repeats)]
    count = 0

    def told(_index: int, _attempt: Attempt) -> None:
        nonlocal count
        count += 1
        on_done(count)

    return run_tasks(_attempted, tasks, workers, on_done=told)


def drawn(params: ParameterDict, random: np.random.Generator) -> FloatArray:
    """Draw true values of all free scalars, (p,), within their bounds."""
    parts = []
    for parameter in params.values():
        if parameter.frozen:
            continue
        low, high = np.ravel(parameter.min_value), np.ravel(parameter.max_value)
        start = np.ravel(parameter.value)
        if parameter.prior is not None:
            mean, std = (np.ravel(part) for part in parameter.prior)
            value = mean + std * random.standard_normal(start.size)
        else:
            scaled = start * _FACTOR ** random.uniform(-1.0, 1.0, start.size)
            reach = 0.5 * _OF_BOUNDS * (high - low)
            # Clipped, half of what starts at a bound, such as a delay, would lie on it.
            least, most = np.maximum(low, start - reach), np.minimum(high, start + reach)
            near = least + (most - least) * random.uniform(0.0, 1.0, start.size)
            value = np.where(start != 0.0, scaled, near)
        parts.append(np.clip(value, low, high))
    return np.concatenate(parts) if parts else np.empty(0)


def _attempted(task: _Task) -> Attempt:
    """One repetition, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="sysid_ros_rehearsal_") as name:
        experiment, data_dir, folder = task.experiment, task.data_dir, Path(name)
        if task.motion is not None:
            spec = model_with_payload(experiment, data_dir).given.spec
            new = {
                bag: folder / f"commanded_{number}" for number, bag in enumerate(_bags(experiment))
            }
            for bag, place in new.items():
                command_anew(experiment, bag, task.motion, spec.compile(), place, data_dir)
            experiment = _on_other_bags(experiment, new)
        return _rehearsed(experiment, data_dir, task.seed, folder)


def _rehearsed(experiment: Experiment, data_dir: Path | None, seed: int, folder: Path) -> Attempt:
    random = np.random.default_rng(seed)
    inputs = FitInputs.read(experiment, data_dir)
    theta = drawn(inputs.params, random)
    truth = dict(zip(inputs.params.scalar_names(), theta.tolist(), strict=True))
    motions = true_motions(inputs.dataset, inputs.params, theta)
    new = {bag: folder / f"bag_{number}" for number, bag in enumerate(_bags(experiment))}
    names = {one.bag: one.name for one in reversed(experiment.recordings)}
    for bag, place in new.items():
        if names[bag] not in motions:
            raise DataError(f"{names[bag]} has no usable motion to rehearse")
        retell(experiment, bag, motions[names[bag]], place, data_dir, random)
    # Intervals are those of `fit`, model errors included; what only the report shows is left out.
    rehearsed = _on_other_bags(experiment, new).with_fit(landscapes=0)
    try:
        again = FitInputs.read(rehearsed, None)
        findings = check_dataset(rehearsed, again.dataset)
        result = again.fitted()
    except SysidError as error:
        return Attempt(truth, {}, {}, {}, (), str(error))
    return Attempt(
        truth,
        {one.name: one.value for one in result.parameters},
        {one.name: one.standard_error for one in result.parameters},
        {one.name: one.interval() for one in result.parameters},
        tuple(finding.kind.value for finding in findings),
    )


def _bags(experiment: Experiment) -> list[str]:
    """Every recording of an experiment once."""
    return list(dict.fromkeys(one.bag for one in experiment.recordings))


def _on_other_bags(experiment: Experiment, new: Mapping[str, Path]) -> Experiment:
    """The experiment with other recordings of the same names."""
    validation = experiment.validation
    return replace(
        experiment,
        sequences=tuple(replace(one, bag=str(new[one.bag])) for one in experiment.sequences),
        validation=replace(
            validation, bags=tuple(replace(one, bag=str(new[one.bag])) for one in validation.bags)
        ),
    )


@dataclass(frozen=True)
class Prospect:
    """The repetitions' answer for one parameter."""

    name: str  # of the parameter
    spread: float  # standard deviation of the drawn values
    error: float  # root mean square of what the fits found minus the truth
    bias: float  # mean of it
    intervals: int  # how many fits gave an interval
    covered: int  # how many of these had the truth in them
    repeats: int  # how many fits there were

    @property
    def can_be_had(self) -> bool:
        """True if most fits give an interval and their errors are small beside the spread."""
        return self.intervals > _HAD * self.repeats and self.error < _SHARP * self.spread


def prospects(attempts: list[Attempt]) -> list[Prospect]:
    """Sum up the repetitions that ended in a fit, parameter by parameter."""
    fitted = [attempt for attempt in attempts if not attempt.failure]
    found = []
    for name in fitted[0].value if fitted else ():
        truth = np.array([attempt.truth[name] for attempt in fitted])
        error = np.array([attempt.value[name] for attempt in fitted]) - truth
        pairs = [
            (attempt.truth[name], interval)
            for attempt in fitted
            if (interval := attempt.interval[name]) is not None
        ]
        covered = sum(interval[0] <= value <= interval[1] for value, interval in pairs)
        found.append(
            Prospect(
                name, float(np.std(truth)), float(np.sqrt(np.mean(error**2))),
                float(np.mean(error)), len(pairs), covered, len(fitted),
            )
        )  # fmt: skip
    return found
