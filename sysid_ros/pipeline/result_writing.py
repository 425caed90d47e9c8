# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One finished fit as a result folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import mujoco

from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.exports import MODEL, Identified, StartState, write_exports
from sysid_ros.files import replace_file, translated_os_errors, write_json
from sysid_ros.judgement import Outcome
from sysid_ros.processes import return_freed_memory
from sysid_ros.report import render_report
from sysid_ros.results import (
    CHECKPOINT_FILE,
    PARAMETERS,
    REPORT,
    RESIDUALS,
    RESULT,
    SEARCH_FILE,
    STATE_FILE,
    TARGETS_FILE,
    ResultFolder,
    clear,
    discard,
    document_from,
    open_work_folder,
    previous_results,
    publish,
    write_parameters,
    write_signals,
)
from sysid_ros.robots import LoadedModel
from sysid_ros.video import drawing

_DONE = (FitStatus.CONVERGED, FitStatus.STALLED)  # more of the same would change nothing


def write_results(
    outcome: Outcome,
    spec: mujoco.MjSpec,
    output_dir: str | os.PathLike[str],
    *,
    start_state: StartState | None = None,
    partial: Path | None = None,
    source: LoadedModel | None = None,
    robots: Mapping[str, mujoco.MjSpec] | None = None,
    draw: bool = True,
) -> ResultFolder:
    """Write everything about a fit into a new folder below ``output_dir``.

    The folder is put together under a hidden name and renamed when it is complete, so that it
    appears whole or not at all, and no earlier result is ever touched.

    Args:
      outcome: What the pipeline delivered.
      spec: The model with the identified values in place; not changed.
      output_dir: Holds the result folders; created if missing.
      start_state: The keyframe to add to the model.
      partial: The work folder in which the fit kept its checkpoint; it becomes the result.
      source: The model as given; ``model.xml`` is its text with the identified values in place.
      robots: The identified model of each of several robots, which gets a folder of its own.
      draw: Whether there is time for an animation.

    Returns:
      The paths of ``result.json``, ``parameters.yaml``, ``model.xml``, ``residuals.npz`` and
      ``report.html``; ``video.webp`` is beside them where it could be drawn. A model that cannot
      be written such that it loads is left out and becomes a warning: the numbers of a long fit
      are not lost for that.

    Raises:
      OutputError: If it cannot be written; nothing but ``partial`` with its checkpoint is left
        behind then.
    """
    work = partial or open_work_folder(output_dir, outcome.title)
    try:
        with translated_os_errors(Path(output_dir)):
            found = Identified(outcome, spec, source, start_state)
            outcome = write_exports(found, work)
            for robot, own in (robots or {}).items():
                (work / robot).mkdir(exist_ok=True)
                write_exports(replace(found, spec=own), work / robot, of_one_robot=True)
            del found  # a compiled model with all its meshes
            return_freed_memory()
            write_signals(work / RESIDUALS, outcome.sequences)
            # A fit that was stopped is not kept waiting.
            wanted = draw and outcome.fit.status is not FitStatus.CANCELED
            with drawing(work / MODEL, outcome.sequences, wanted=wanted) as video:
                write_json(work / RESULT, document_from(outcome))
                write_parameters(work / PARAMETERS, outcome)
                previous = previous_results(outcome, work.parent)
                page = render_report(outcome, previous, video())
            replace_file(work / REPORT, page)
            for name in (CHECKPOINT_FILE, TARGETS_FILE):
                (work / name).unlink(missing_ok=True)
            if outcome.fit.status in _DONE:
                for name in (STATE_FILE, SEARCH_FILE):
                    (work / name).unlink(missing_ok=True)
        return ResultFolder.at(publish(work))
    except BaseException:
        if partial is None:
            discard(work)
        else:
            clear(work)  # the checkpoint in it is still worth something
        raise
