# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Carrying on with a fit that was interrupted: finding its state and recognising its inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco

from sysid_ros.dataset import Dataset, compiled_digest, setting_digests
from sysid_ros.engine.estimation import FitState
from sysid_ros.errors import ExperimentError, listed
from sysid_ros.experiment import Experiment
from sysid_ros.results import (
    SEARCH_FILE,
    STATE_FILE,
    ResultError,
    claimed,
    folders_with_state,
    read_state,
)
from sysid_ros.robots import hook_file
from sysid_ros.search import Trials, read_search_state


@dataclass(frozen=True)
class Resume:
    """The state to carry on with."""

    # a result folder or a work folder; ``None`` for the latest that fits the experiment
    folder: Path | None = None


def inputs_of(experiment: Experiment, dataset: Dataset) -> dict[str, str]:
    """A digest of everything that a fit's course depends on, by a name that people understand.

    Args:
      experiment: The experiment; comments and the order of keys do not count.
      dataset: Its models and recordings.
    """
    inputs = setting_digests(experiment)
    inputs.update({f"the file {name}": digest for name, digest in dataset.hashes.items()})
    for group in dataset.training:  # what a model file includes, meshes too
        inputs[f"the model {group.name} as compiled"] = compiled_digest(group.spec)
    hook = hook_file(experiment)
    if hook is not None:
        inputs[f"the file {hook.name}"] = hashlib.sha256(hook.read_bytes()).hexdigest()
    inputs["the version of MuJoCo"] = mujoco.__version__
    return inputs


@dataclass(frozen=True)
class Found:
    """The state of an interrupted run, and its folder."""

    folder: Path  # a result folder or a work folder
    inputs: Mapping[str, str]  # a digest of every input by name
    state: FitState | Trials  # the fit, or what its search had tried when it was still searching
    passed_over: tuple[str, ...] = ()  # why newer folders could not be used

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about states that were passed over, in sentences."""
        return tuple(
            f"The newest state could not be used ({reason}), so the fit in {self.folder.name} was "
            "carried on."
            for reason in self.passed_over
        )


def _found(folder: Path) -> Found:
    if (folder / SEARCH_FILE).is_file() and not (folder / STATE_FILE).is_file():
        trials, inputs = read_search_state(folder)
        return Found(folder, inputs, trials)
    saved = read_state(folder)
    return Found(folder, saved.inputs, saved.state)


def find_state(
    resume: Resume, output_dir: Path, inputs: Mapping[str, str], held: ExitStack
) -> Found:
    """The state of an interrupted fit of the same inputs.

    Args:
      resume: What to carry on with.
      output_dir: Where folders are looked for.
      inputs: What :func:`inputs_of` gives now.
      held: Keeps the folder claimed until it is closed.

    Returns:
      The newest state that is whole and of these inputs.

    Raises:
      ExperimentError: There is none, the inputs have changed, or its fit is still running.
      ResultError: The folder named holds no readable state.
    """
    if resume.folder is not None:
        found = _found(resume.folder)
        changed = _changes(found.inputs, inputs)
        if changed:
            raise ExperimentError(_refusal(resume.folder, changed))
        if not held.enter_context(claimed(resume.folder)):
            raise ExperimentError(f"resume: the fit in {resume.folder} is still running")
        return found
    refusal = ""
    damaged: list[str] = []
    for folder in folders_with_state(output_dir):
        if not held.enter_context(claimed(folder)):
            continue
        try:
            found = _found(folder)
        except ResultError as error:
            damaged.append(str(error))
            refusal = refusal or f"resume: {error}"
            continue
        changed = _changes(found.inputs, inputs)
        if not changed:
            return replace(found, passed_over=tuple(damaged))
        refusal = refusal or _refusal(folder, changed)
    raise ExperimentError(
        refusal
        or f"resume: there is no interrupted fit in {output_dir}; run it without resuming, or name "
        "the folder where its results went"
    )


def kept_state(folder: Path, inputs: Mapping[str, str]) -> FitState | None:
    """The state that a fit of the same inputs left in a folder, ``None`` where there is none."""
    try:
        saved = read_state(folder)
    except ResultError:
        return None
    return None if _changes(saved.inputs, inputs) else saved.state


def _changes(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of inputs that differ."""
    names = [*now, *(name for name in then if name not in now)]
    return [name for name in names if then.get(name) != now.get(name)]


def _refusal(folder: Path, changed: list[str]) -> str:
    return (
        f"resume: since the interrupted fit in {folder}, {listed(changed)} changed; "
        "restore what it was, or fit anew without resuming"
    )
