# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fit of an experiment, scored on what it was fitted to and on what was held out."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import metadata

import sysid_ros
from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Dataset, FitInputs, SequenceSet
from sysid_ros.engine.estimation import (
    BiasCheck,
    FitResult,
    friction_provenance,
    sentences,
    servo_combinations,
)
from sysid_ros.engine.parameters import ParameterDict, modifier_to_dict
from sysid_ros.errors import DataError
from sysid_ros.experiment import Experiment
from sysid_ros.judgement.outcome import (
    AppliedParameter,
    Outcome,
    ResidualTrend,
    Score,
    SequenceFit,
)
from sysid_ros.judgement.plausibility import with_plausibility
from sysid_ros.judgement.residual_trends import residual_trends
from sysid_ros.judgement.scoring import (
    ScoringSettings,
    WindowErrors,
    open_loop_errors,
    score,
    traces,
)
from sysid_ros.judgement.torque_scoring import (
    torque_predictions,
    torque_score,
    torque_sequences,
    torque_trends,
)
from sysid_ros.judgement.verdict import verdict, warnings


def title_of(experiment: Experiment) -> str:
    """Return the title of an experiment's results: the folder that its file is in."""
    return experiment.path.absolute().parent.name if experiment.path else "fit"


def scoring_settings(experiment: Experiment, *, overlap: bool) -> ScoringSettings:
    """Return the cutting of an experiment's sequences for scores.

    Args:
      experiment: The experiment.
      overlap: Whether windows may overlap where it asks for that; for drawing they must not.
    """
    windows = experiment.scoring or experiment.windows
    return ScoringSettings(
        length=windows.length,
        overlap=windows.overlap if overlap else 0.0,
        velocity_filter=experiment.initial_state.velocity_filter,
        threads=experiment.fit.threads,
    )


def outcome_of(inputs: FitInputs, result: FitResult, bias: BiasCheck | None = None) -> Outcome:
    """Score a result on the data fitted and on what was held out.

    Args:
      inputs: What was fitted.
      result: The fit.
      bias: What other settings would have found, where that was asked for.
    """
    experiment, dataset, params = inputs.experiment, inputs.dataset, inputs.params
    values = result.values
    applied = applied_parameters(params, values)
    result, implausible = with_plausibility(result, applied)
    scored = (_torque_scores if result.torque is not None else _motion_scores)(inputs, result)
    combinations = servo_combinations(result, params, dataset.source_spec)
    return Outcome(
        title=title_of(experiment),
        fit=result,
        training=scored.training,
        validation=scored.validation,
        sequences=scored.sequences,
        quality=dataset.quality,
        verdict=verdict(result, scored.training, scored.validation),
        warnings=(
            *dataset.warnings,
            *warnings(experiment, result, scored.training, scored.validation),
            *implausible,
            *sentences(combinations, result),
            *(bias.sentences() if bias is not None else ()),
        ),
        provenance={**_provenance(experiment, dataset), **friction_provenance(params)},
        bias=bias,
        combinations=combinations,
        trends=scored.trends,
        applied=applied,
    )


@dataclass(frozen=True)
class _Scored:
    """Scores of a result, and what it predicts."""

    training: Score
    validation: Score | None
    sequences: tuple[SequenceFit, ...]
    trends: tuple[ResidualTrend, ...]


def _motion_scores(inputs: FitInputs, result: FitResult) -> _Scored:
    """Signals simulated window by window."""
    experiment, dataset, params = inputs.experiment, inputs.dataset, inputs.params
    values = result.values

    def errors(used: SequenceSet, *, overlap: bool) -> tuple[WindowErrors, ...]:
        if not used.groups:
            return ()
        settings = scoring_settings(experiment, overlap=overlap)
        return open_loop_errors(used.groups, params, values, settings, used.excluded)

    training = errors(dataset.training, overlap=True)
    held_out = errors(dataset.validation, overlap=True)
    apart = errors(dataset.training, overlap=False)
    apart_held_out = errors(dataset.validation, overlap=False)
    sequences = traces(apart, "training") + traces(apart_held_out, "validation")
    trends = residual_trends(
        apart_held_out or apart, velocity_filter=experiment.initial_state.velocity_filter
    )
    return _Scored(score(training), score(held_out) if held_out else None, sequences, trends)


def _torque_scores(inputs: FitInputs, result: FitResult) -> _Scored:
    """Torque predicted from the measured motion."""
    values, findings = result.values, result.torque
    training = torque_predictions(inputs, inputs.dataset.training, values, findings)
    held_out = torque_predictions(inputs, inputs.dataset.validation, values, findings)
    sequences = torque_sequences(training, "training") + torque_sequences(held_out, "validation")
    first = torque_score(training)
    if first is None:
        raise DataError("no torque of the recordings that were fitted can be predicted")
    return _Scored(first, torque_score(held_out), sequences, torque_trends(held_out or training))


def applied_parameters(params: ParameterDict, values: FloatArray) -> tuple[AppliedParameter, ...]:
    """Every parameter with what it is written into.

    Args:
      params: The parameters.
      values: Values of the free ones.
    """
    final = params.copy()
    final.update_from_vector(values)
    return tuple(
        AppliedParameter(
            parameter.name,
            tuple(parameter.as_vector().tolist()),
            {} if parameter.modifier is None else modifier_to_dict(parameter.modifier),
            parameter.robot,
        )
        for parameter in final.values()
    )


def with_provenance(outcome: Outcome, name: str, text: str) -> Outcome:
    """An outcome that also tells how it came about in one more respect."""
    return replace(outcome, provenance={**outcome.provenance, name: text})


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
