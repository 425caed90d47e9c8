# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Given parameters scored on given recordings, without fitting anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import FitInputs, SequenceSet
from sysid_ros.experiment import Experiment
from sysid_ros.judgement.outcome import Evaluation, Score, SequenceFit
from sysid_ros.judgement.scored_fit import scoring_settings
from sysid_ros.judgement.scoring import open_loop_errors, score, traces
from sysid_ros.judgement.torque_scoring import (
    torque_predictions,
    torque_score,
    torque_sequences,
)
from sysid_ros.robots import INVERSE_DYNAMICS, set_values


def evaluate(
    experiment: Experiment,
    values: Mapping[str, float],
    data_dir: Path | None = None,
    *,
    held_out_only: bool = False,
    on_reading: Callable[[float], None] | None = None,
) -> Evaluation:
    """Score parameter values in physical units, beside the untuned model.

    Args:
      experiment: The experiment; nothing in it is fitted.
      values: By parameter name; the others keep their initial value. Empty for the untuned model.
      data_dir: Where bags are found first.
      held_out_only: Whether the experiment's sequences are recordings to judge by, not to learn
        from.
      on_reading: Told how much of the recordings has been read, 0 to 1.

    Returns:
      The scores.

    Raises:
      SysidError: A parameter is unknown, or the model or the data cannot be used.
    """
    inputs = FitInputs.read(experiment, data_dir, on_reading)
    dataset, params = inputs.dataset, inputs.params
    tried = params.copy()
    set_values(tried, values)
    theta = tried.as_vector()
    first, training = _scored(inputs, dataset.training, theta, held_out_only)
    second, validation = _scored(inputs, dataset.validation, theta, True)
    return Evaluation(
        parameters=dict(zip(params.scalar_names(), theta.tolist(), strict=True)),
        training=None if held_out_only else training,
        validation=training if held_out_only else validation,
        sequences=(*first, *second),
    )


def _scored(
    inputs: FitInputs, used: SequenceSet, theta: FloatArray, held_out: bool
) -> tuple[tuple[SequenceFit, ...], Score | None]:
    experiment, params = inputs.experiment, inputs.params
    if not used.groups:
        return (), None
    role = "validation" if held_out else "training"
    if experiment.fit.method == INVERSE_DYNAMICS:
        torque = torque_predictions(inputs, used, theta)
        return torque_sequences(torque, role), torque_score(torque)
    settings = scoring_settings(experiment, overlap=True)
    errors = open_loop_errors(used.groups, params, theta, settings, used.excluded)
    apart = errors
    if settings.overlap:
        settings = scoring_settings(experiment, overlap=False)
        apart = open_loop_errors(used.groups, params, theta, settings, used.excluded)
    return traces(apart, role), score(errors)
