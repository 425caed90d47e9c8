# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files that an experiment file asks to be written: below the output folder, or allowed.

An experiment file may come from a stranger. Without a word from whoever runs it, it writes below
the current folder, and a study of trials below the output folder.
"""

from __future__ import annotations

from pathlib import Path

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment.experiment_schema import Experiment


def output_of(experiment: Experiment, given: Path | None) -> Path:
    """Return the folder for result folders.

    Args:
      experiment: Its ``output`` counts where nothing is given.
      given: With ``--output``, which allows any folder, as ``--set output=...`` does.

    Raises:
      ExperimentError: The file names a folder that is not below the current one.
    """
    if given is not None:
        return given
    output = Path(experiment.output)
    if not _is_set(experiment, "output") and not _is_below(output, Path()):
        raise ExperimentError(
            f"output is {experiment.output!r}, which is not below the current folder; if the "
            f"experiment file may write there, say so with --output {experiment.output}"
        )
    return output


def check_study(experiment: Experiment, output: Path, *, overrides_count: bool) -> None:
    """Refuse a study outside the output folder that nobody allowed.

    Args:
      experiment: Its ``fit.search.study`` is a file or a URL.
      output: The folder for result folders.
      overrides_count: Whether overrides come from somebody who may allow it: the command line,
        but not the goal of an action.

    Raises:
      ExperimentError: The study is elsewhere.
    """
    study = experiment.fit.search.study if experiment.fit.search is not None else None
    if study is None:
        return
    if overrides_count and _is_set(experiment, "fit", "fit.search", "fit.search.study"):
        return
    if "://" in study or not _is_below(Path(study), output):
        how = (
            f"with --set fit.search.study={study}"
            if overrides_count
            else "with the server's parameter allow_outside_output"
        )
        raise ExperimentError(
            f"fit.search.study is {study!r}, which is not a file below the output folder {output}; "
            f"if the experiment file may write there, say so {how}"
        )


def _is_set(experiment: Experiment, *keys: str) -> bool:
    """Return whether an override sets one of some keys."""
    given = {override.partition("=")[0].removesuffix("+") for override in experiment.overrides}
    return not given.isdisjoint(keys)


def _is_below(path: Path, folder: Path) -> bool:
    """Return whether a path, links followed, lies in a folder or is it."""
    return path.expanduser().resolve().is_relative_to(folder.expanduser().resolve())
