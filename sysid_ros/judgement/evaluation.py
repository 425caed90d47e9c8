# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Given parameters scored on given recordings, without fitting anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import FitInputs
from sysid_ros.engine.estimation import WindowCheck, WindowEstimate
from sysid_ros.engine.regressor import SHARP
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import ExperimentError, StopRequestedError
from sysid_ros.experiment import Experiment
from sysid_ros.judgement.outcome import Evaluation, Score, SequenceFit
from sysid_ros.judgement.scored_fit import window_errors
from sysid_ros.judgement.scoring import score, traces
from sysid_ros.judgement.torque_scoring import torque_predictions, torque_score, torque_sequences
from sysid_ros.robots import vector_of


def evaluate(
    experiment: Experiment,
    values: Mapping[str, float],
    data_dir: Path | None = None,
    *,
    held_out_only: bool = False,
    creep: Mapping[str, float] | None = SHARP,
    on_reading: Callable[[float], None] | None = None,
) -> Evaluation:
    """Score parameter values in physical units, beside the untuned model.

    Args:
      experiment: The experiment; nothing in it is fitted.
      values: By parameter name; the others keep their initial value. Empty for the untuned model.
      data_dir: Where bags are found first.
      held_out_only: Whether the experiment's sequences are recordings to judge by, not to learn
        from.
      creep: Torque is predicted with dry friction that follows velocity as closely as MuJoCo
        allows, as most fits to torque choose, and is whole at once but for the joints named here,
        at a speed; ``None`` for friction as soft as the model has it.
      on_reading: Told how much of the recordings has been read, 0 to 1.

    Raises:
      SysidError: A parameter is unknown, or the model or the data cannot be used.
    """
    inputs = FitInputs.read(experiment, data_dir, on_reading)
    dataset, params = inputs.dataset, inputs.params
    theta = vector_of(params, values)
    scored = partial(_scored, inputs, theta=theta, creep=creep)
    first, training = scored(dataset.training, held_out=held_out_only)
    second, validation = scored(dataset.validation, held_out=True)
    return Evaluation(
        parameters=dict(zip(params.scalar_names(), theta.tolist(), strict=True)),
        training=None if held_out_only else training,
        validation=training if held_out_only else validation,
        sequences=(*first, *second),
    )


def evaluate_model(
    experiment: Experiment,
    file: Path,
    data_dir: Path | None = None,
    *,
    held_out_only: bool = False,
    on_reading: Callable[[float], None] | None = None,
) -> Evaluation:
    """Score a model file as it is written, beside the experiment's untuned model.

    Torque is predicted with the file's own law of dry friction, as ``mj_inverse`` has it.

    Args:
      experiment: The experiment; nothing in it is fitted, and of its parameters only those of
        the untuned model count.
      file: MJCF or URDF, such as a result's ``model.xml``.
      data_dir: Where bags are found first.
      held_out_only: As for :func:`evaluate`.
      on_reading: Told how much of the recordings has been read, 0 to 1.

    Raises:
      SysidError: The model or the data cannot be used, or the recordings are of several models.
    """
    if any(one.model for one in experiment.recordings):
        raise ExperimentError(
            f"{file} stands for one model, but the experiment has sequences with a model of their "
            "own; give parameters.yaml instead, or the bags of one model with --bag"
        )
    written = replace(
        experiment,
        model=str(file.absolute()),
        model_topic=None,
        parameters=(),
        modifiers=None,
        payload=None,
        couplings=(),  # the file has them
    )
    score = partial(evaluate, values={}, data_dir=data_dir, held_out_only=held_out_only)
    untuned = score(experiment)
    found = score(written, creep=None, on_reading=on_reading)
    return Evaluation(
        parameters={},
        training=_beside(found.training, untuned.training),
        validation=_beside(found.validation, untuned.validation),
        sequences=tuple(
            replace(
                sequence,
                signals=tuple(
                    replace(signal, initial=other.fitted)
                    for signal, other in zip(sequence.signals, first.signals, strict=True)
                ),
            )
            for sequence, first in zip(found.sequences, untuned.sequences, strict=True)
        ),
    )


def scored_windows(
    inputs: FitInputs, check: WindowCheck, should_stop: Callable[[], bool] | None
) -> WindowCheck:
    """The check with the open-loop error of each estimate; as it is where that was stopped."""
    dataset = inputs.dataset
    used = dataset.validation if dataset.validation else dataset.training
    unit = ""
    found: list[WindowEstimate] = []
    for each in check.estimates:
        if not each.problem:
            try:
                scored, _ = window_errors(inputs, used, each.values, should_stop)
            except StopRequestedError:
                return check
            total = score(scored)
            each, unit = replace(each, error=total.rmse_all), total.unit_all
        found.append(each)
    scored_on = "held out" if dataset.validation else "training"
    return replace(check, estimates=tuple(found), unit=unit, scored_on=scored_on)


def _beside(found: Score | None, untuned: Score | None) -> Score | None:
    """A score with another one's as the initial."""
    if found is None or untuned is None:
        return None
    return replace(
        found,
        rmse_initial=untuned.rmse,
        rmse_all_initial=untuned.rmse_all,
        mae_initial=untuned.mae,
        mae_all_initial=untuned.mae_all,
    )


def _scored(
    inputs: FitInputs,
    used: Sequence[ModelSequences],
    *,
    theta: FloatArray,
    held_out: bool,
    creep: Mapping[str, float] | None,
) -> tuple[tuple[SequenceFit, ...], Score | None]:
    if not used:
        return (), None
    role = "validation" if held_out else "training"
    if not inputs.experiment.fit.simulates:
        torque = torque_predictions(inputs, used, theta, creep=creep)
        return torque_sequences(torque, role), torque_score(torque)
    scored, apart = window_errors(inputs, used, theta)
    return traces(apart, role), score(scored)
