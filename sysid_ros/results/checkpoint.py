# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The best parameters so far, kept on disk while a fit runs, for the case that it never ends."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sysid_ros.engine.estimation import FitResult, FitState
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.engine.parameters import NO_UNCERTAINTY
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.errors import OutputError
from sysid_ros.files import read_regular_text, translated_os_errors, write_json
from sysid_ros.judgement import Outcome
from sysid_ros.results.parameters_file import write_parameters
from sysid_ros.results.reading import ResultError
from sysid_ros.results.result_document import document_from, trace_entry, trace_from
from sysid_ros.results.result_folder import PARAMETERS, RESULT, ResultFolder, clear
from sysid_ros.results.state_file import SEARCH_FILE, STATE_FILE, read_state, write_state
from sysid_ros.results.targets_file import TARGETS_FILE, Targets, read_targets
from sysid_ros.results.work_folder import is_work_folder, publish

CHECKPOINT_FILE = "checkpoint.json"


class Checkpoint:
    """Keeps every accepted step of one fit, each written once.

    ``state.npz`` holds the steps of a fit that can be carried on; ``checkpoint.json`` those that
    come without a state, of a search or of a regression. The first step is kept as the start, so
    that a cancelled fit can still say what it changed.

    Args:
      folder: An existing folder, usually from
        :func:`~sysid_ros.results.work_folder.open_work_folder`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._steps: list[Iteration] = []
        self._has_state = False

    def add(self, step: Iteration) -> None:
        """Append the step that was just accepted, unless the state holds it already.

        Raises:
          OutputError: If it cannot be written; the former checkpoint is then still whole.
        """
        if not self._has_state:
            self._steps.append(step)
            write_json(self._folder / CHECKPOINT_FILE, trace_entry(self._steps))

    def save(self, state: FitState, inputs: Mapping[str, str]) -> None:
        """Replace the state, which holds every step of the fit and outdates those of a search.

        Raises:
          OutputError: If it cannot be written; what was kept before is then still whole.
        """
        write_state(self._folder, state, inputs)
        if not self._has_state:
            self._has_state = True
            for name in (SEARCH_FILE, CHECKPOINT_FILE):
                (self._folder / name).unlink(missing_ok=True)


def finalize_checkpoint(
    folder: Path,
    *,
    status: FitStatus = FitStatus.CANCELED,
    message: str = "the fit was cancelled; these are the best parameters so far",
    title: str = "fit",
) -> ResultFolder:
    """Turn the checkpoint of a fit that did not end into ``result.json`` and ``parameters.yaml``.

    Args:
      folder: Of a :class:`Checkpoint`; a work folder is published under its final
        name.
      status: How it ended.
      message: Why it ended, in one sentence.
      title: The result's title.

    Returns:
      The result's paths, without a model and a report.

    Raises:
      OutputError: If there is no checkpoint (no iteration was finished) or no way to write.
    """
    outcome = _outcome(_steps(folder), read_targets(folder), status, message, title)
    with translated_os_errors(folder):
        clear(folder)  # the fit may have been killed while it wrote its results
        write_json(folder / RESULT, document_from(outcome))
        write_parameters(folder / PARAMETERS, outcome)
        for name in (CHECKPOINT_FILE, TARGETS_FILE):
            (folder / name).unlink(missing_ok=True)
    final = publish(folder) if is_work_folder(folder) else folder
    return ResultFolder.at(final)


def _steps(folder: Path) -> tuple[Iteration, ...]:
    """The steps that were kept, at least one of them with a finite cost."""
    path = folder / CHECKPOINT_FILE
    try:
        if (folder / STATE_FILE).is_file():
            steps = read_state(folder).state.trace
        elif path.exists():
            steps = trace_from(json.loads(read_regular_text(path)), "the document")
        else:
            raise OutputError(f"{folder} holds no {CHECKPOINT_FILE}: no iteration was finished")
    except (OSError, ValueError, RecursionError, ResultError) as error:
        raise OutputError(f"cannot read the checkpoint in {folder}: {error}") from error
    if not any(np.isfinite(step.cost) for step in steps):
        raise OutputError(f"the checkpoint in {folder} holds no finished iteration")
    return steps


def _outcome(
    trace: Sequence[Iteration], targets: Targets, status: FitStatus, message: str, title: str
) -> Outcome:
    first, names = trace[0], trace[0].names
    best = [step for step in trace if np.isfinite(step.cost)][-1]
    # Between rounds the noise levels change and with them the scale of the cost, so that the
    # last accepted step is the best one, whatever the costs say.
    rounds = sum(b.iteration <= a.iteration for a, b in itertools.pairwise(trace))
    values = dict(zip(names, best.values.tolist(), strict=True))
    known = {parameter.name: parameter for parameter in targets.parameters}
    for name, start in zip(names, first.values.tolist(), strict=True):
        known.setdefault(
            name, ParameterEstimate(name, "", start, start, -math.inf, math.inf, None, math.inf)
        )
    parameters = tuple(
        replace(known[name], value=value, flags=(NO_UNCERTAINTY,)) for name, value in values.items()
    )
    fit = FitResult(
        status=status,
        message=message,
        parameters=parameters,
        covariance=np.full((len(names), len(names)), np.nan),
        cost_initial=math.nan if rounds else first.cost,
        cost_final=best.cost,
        iterations=trace[-1].iteration,
        evaluations=0,
        jacobians=0,
        elapsed=trace[-1].elapsed,
        trace=tuple(trace),
        noise={},
        interval_method="none",
        singular_values=np.empty(0),
        unidentifiable=(),
        optimizer="",
    )
    return Outcome(
        title=title,
        fit=fit,
        training=None,
        validation=None,
        sequences=(),
        quality=(),
        verdict=f"The fit did not end, so its parameters are not validated: {message}.",
        warnings=("No held-out error and no uncertainty: the fit did not end.",),
        provenance={},
        applied=targets.applied_with(values),
    )
