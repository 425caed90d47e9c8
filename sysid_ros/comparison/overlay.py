# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Several parameter files on the same recordings, whichever structure of the model each is of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sysid_ros.comparison.structures import default_structures, parameter_names, structure
from sysid_ros.engine.friction import MODELS
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import Experiment
from sysid_ros.files import labels_of
from sysid_ros.judgement import Evaluation, Score, evaluate, evaluate_model
from sysid_ros.report import number, overlay_content, render_page, unit
from sysid_ros.results import friction_creep, read_values

UNTUNED = "untuned model"
_MODELS = (".xml", ".mjcf", ".urdf")  # files that are scored as they are written


def evaluate_files(
    experiment: Experiment,
    files: Sequence[Path],
    data_dir: Path | None = None,
    *,
    held_out_only: bool = False,
    on_reading: Callable[[float], None] | None = None,
) -> dict[str, Evaluation]:
    """Score several parameter files on the same recordings.

    Args:
      experiment: The experiment. A file may belong to one of its alternatives, or to the same
        joints with a friction model; its parameters tell.
      files: What :func:`sysid_ros.results.parameters_file.read_values` reads, or model files
        to score as they are written; none for the untuned model.
      data_dir: Where bags are found first.
      held_out_only: As for :func:`sysid_ros.judgement.evaluation.evaluate`.
      on_reading: Told how much of the recordings has been read, 0 to 1, for each file.

    Returns:
      Scores by a short name of each file.

    Raises:
      SysidError: A file cannot be read, no structure has its parameters, or the data is unusable.
    """
    how: dict[str, Any] = {
        "data_dir": data_dir, "held_out_only": held_out_only, "on_reading": on_reading,
    }  # fmt: skip

    if not files:
        return {UNTUNED: evaluate(experiment, {}, **how)}
    found = {}
    for label, file in labels_of(files).items():
        if file.suffix.lower() in _MODELS:
            found[label] = evaluate_model(experiment, file, **how)
            continue
        values = read_values(file)
        fitting = structure_of(experiment, values, data_dir)
        found[label] = evaluate(fitting, values, creep=friction_creep(file), **how)
    return found


def structure_of(
    experiment: Experiment, values: Mapping[str, float], data_dir: Path | None
) -> Experiment:
    """The structure of the model whose parameters a file has.

    Args:
      experiment: It, one of its alternatives, or the same with a friction model.
      values: The file's values by parameter name.
      data_dir: Where models and bags are found first.

    Returns:
      The structure with exactly these parameters, or else the first that has them all, or else
      the experiment.
    """
    wanted = frozenset(values)
    having_all = []
    for name in (*default_structures(experiment), *MODELS):
        try:
            candidate = structure(experiment, name)
        except ExperimentError:  # not one that this experiment can have
            continue
        names = parameter_names(candidate, data_dir)
        if names == wanted:
            return candidate
        if names > wanted:
            having_all.append(candidate)
    return having_all[0] if having_all else experiment


def render_overlay(title: str, evaluations: Mapping[str, Evaluation]) -> str:
    """Render what several parameter files predict as one HTML document that loads nothing."""
    scores = {
        name: evaluation.validation or evaluation.training
        for name, evaluation in evaluations.items()
    }
    signals = dict.fromkeys(s for score in scores.values() if score for s in score.rmse)
    return render_page(
        "overlay.html.j2",
        "overlay.js",
        title=title,
        signals=list(signals),
        rows=[_row(name, score, signals) for name, score in scores.items()],
        **overlay_content({name: found.sequences for name, found in evaluations.items()}),
    )


def _row(name: str, score: Score | None, signals: Mapping[str, None]) -> dict[str, Any]:
    return {
        "name": name,
        "all": number(score.rmse_all if score else None, zeros=True),
        "untuned": number(score.rmse_all_initial if score else None, zeros=True),
        "unit": unit(score.unit_all) if score else "",
        "errors": [number(score.rmse.get(s) if score else None, zeros=True) for s in signals],
    }
