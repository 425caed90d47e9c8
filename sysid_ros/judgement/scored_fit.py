# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fit of an experiment, scored on what it was fitted to and on what was held out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Dataset, FitInputs, repeated_recordings
from sysid_ros.engine.elements import undrawn
from sysid_ros.engine.estimation import (
    BiasCheck,
    FitResult,
    changed_at_once,
    friction_provenance,
    sentences,
    servo_combinations,
)
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.parameters import ParameterDict, modifier_to_dict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import CandidateBuilder
from sysid_ros.engine.windows import WindowKey
from sysid_ros.errors import DataError, StopRequestedError, as_sentence
from sysid_ros.experiment import Experiment
from sysid_ros.judgement.findings import unexplained
from sysid_ros.judgement.outcome import (
    HASH_PREFIX,
    RECORDED_PREFIX,
    AppliedParameter,
    JointTorque,
    Outcome,
    ResidualTrend,
    Score,
    SequenceFit,
    versions,
)
from sysid_ros.judgement.physical_limits import impossible_values
from sysid_ros.judgement.plausibility import absent_effects, with_plausibility
from sysid_ros.judgement.residual_trends import residual_trends
from sysid_ros.judgement.scoring import (
    NOTHING,
    ScoringSettings,
    WindowErrors,
    open_loop_errors,
    score,
    traces,
)
from sysid_ros.judgement.signal_corrections import corrections_warning
from sysid_ros.judgement.torque_scoring import (
    torque_predictions,
    torque_score,
    torque_sequences,
    torque_trends,
)
from sysid_ros.judgement.verdict import warnings, with_verdict
from sysid_ros.recording.mapping import doubts_of

_EARLIEST_NS = 946_684_800 * 10**9  # the year 2000
_HARDLY_ANYTHING = 0.05  # of the motion, left by a model whose signals are right
_UNSCORED = (
    "Not scored: the time limit passed before the recordings were simulated with the parameters "
    "found; raise fit.time_limit."
)


def title_of(experiment: Experiment) -> str:
    """Return the title of an experiment's results: the folder that its file is in."""
    return experiment.path.absolute().parent.name if experiment.path else "fit"


def window_errors(
    inputs: FitInputs,
    used: Sequence[ModelSequences],
    values: FloatArray,
    should_stop: Callable[[], bool] | None = None,
    *,
    overlap: bool = True,
    first: Mapping[tuple[int, WindowKey], FloatArray] = NOTHING,
) -> tuple[tuple[WindowErrors, ...], tuple[WindowErrors, ...]]:
    """Errors of the windows as they are scored, then of windows without overlap, for drawing.

    Args:
      inputs: The experiment.
      used: Its sequences of one purpose; may be empty.
      values: Of the free parameters, (p,).
      should_stop: Asked while simulating.
      overlap: Whether scored windows overlap as the experiment says.
      first: As of :func:`open_loop_errors`.

    Raises:
      StopRequestedError: ``should_stop`` asked for it.
    """
    if not used:
        return (), ()
    experiment = inputs.experiment
    windows = experiment.scoring or experiment.windows
    settings = ScoringSettings(
        length=windows.length,
        overlap=windows.overlap if overlap else 0.0,
        velocity_filter=experiment.initial_state.velocity_filter,
        threads=experiment.fit.threads,
    )
    simulate = partial(open_loop_errors, used, inputs.params, values)
    scored = simulate(settings, should_stop, first=first)
    if not settings.overlap:
        return scored, scored
    settings = replace(settings, overlap=0.0)
    return scored, simulate(settings, should_stop, known=scored)


@dataclass(frozen=True)
class _Simulated:
    """Scores of a result, and what it predicts; nothing by default."""

    training: Score | None = None
    validation: Score | None = None
    sequences: tuple[SequenceFit, ...] = ()
    trends: tuple[ResidualTrend, ...] = ()
    torques: tuple[JointTorque, ...] = ()
    mistaken: tuple[str, ...] = ()


def outcome_of(
    inputs: FitInputs,
    result: FitResult,
    bias: BiasCheck | None = None,
    *,
    of_a_part: bool = False,
    should_stop: Callable[[], bool] | None,
) -> Outcome:
    """Score a result on the data fitted and on what was held out.

    Args:
      inputs: What was fitted.
      result: The fit.
      bias: What other settings would have found, where that was asked for.
      of_a_part: Whether this is one of several fits of the same recordings, of which the whole one
        is asked what is wrong with their signals.
      should_stop: Asked while simulating; true ends it without scores.
    """
    experiment, dataset, params = inputs.experiment, inputs.dataset, inputs.params
    applied = applied_parameters(params, result.values)
    own = params.for_robot(dataset.training[0].robot)
    builder = CandidateBuilder(undrawn(dataset.source.spec), own)
    before = builder.build(params.as_vector()).model
    after = builder.build(result.values).model
    impossible = impossible_values(before, after, by_torque=result.torque is not None)
    result, unusual = with_plausibility(result, applied, impossible)
    simulated = _simulated(inputs, result, of_a_part, should_stop)
    result = replace(result, first_errors={})  # which are scored now
    repeats = [] if of_a_part else _repeats(dataset)
    combinations = servo_combinations(result, params, dataset.source.spec)
    outcome = Outcome(
        title=title_of(experiment),
        fit=result,
        training=simulated.training,
        validation=simulated.validation,
        sequences=simulated.sequences,
        quality=dataset.quality,
        verdict=_UNSCORED,
        warnings=(),
        provenance={**_provenance(experiment, dataset), **friction_provenance(params)},
        bias=bias,
        combinations=combinations,
        trends=simulated.trends,
        applied=applied,
        doubts=(*repeats, *(simulated.mistaken or _changed(result)), *doubts_of(dataset.quality)),
        undriven=dataset.undriven,
        implausible=tuple(one.clause for one in impossible),
        absent=absent_effects(result, applied, dataset.source.spec),
        torques=simulated.torques,
    )
    said = (
        *(f"{as_sentence(one)}: see sysid_ros check." for one in simulated.mistaken),
        *(f"{sentence}." for sentence in repeats), *dataset.warnings,
        *warnings(experiment, outcome, before), *corrections_warning(applied), *unusual,
        *sentences(combinations, result), *(bias.sentences() if bias is not None else ()),
    )  # fmt: skip
    return with_verdict(replace(outcome, warnings=said))


def _simulated(
    inputs: FitInputs, result: FitResult, of_a_part: bool, should_stop: Callable[[], bool] | None
) -> _Simulated:
    """Predict and judge by motion or torque; nothing where that was broken off."""
    predicted = _motion if result.torque is None else _torque
    try:
        simulated = predicted(inputs, result, should_stop)
        if result.status is FitStatus.CANCELED or of_a_part:  # which is not kept waiting
            return simulated
        return replace(simulated, mistaken=_mistaken(inputs, result, simulated))
    except StopRequestedError:
        return _Simulated()


def _torque(
    inputs: FitInputs, result: FitResult, should_stop: Callable[[], bool] | None
) -> _Simulated:
    """Predict and judge the torque of every recording from its measured motion.

    Raises:
      DataError: Nothing can be predicted.
    """
    del should_stop  # a few seconds at most
    values, findings = result.values, result.torque
    training = torque_predictions(inputs, inputs.dataset.training, values, findings)
    held_out = torque_predictions(inputs, inputs.dataset.validation, values, findings)
    first = torque_score(training)
    if first is None:
        raise DataError("no torque of the recordings that were fitted can be predicted")
    return _Simulated(
        training=first,
        validation=torque_score(held_out),
        sequences=torque_sequences(training, "training") + torque_sequences(held_out, "validation"),
        trends=torque_trends(held_out or training),
    )


def _motion(
    inputs: FitInputs, result: FitResult, should_stop: Callable[[], bool] | None
) -> _Simulated:
    """Simulate and judge every recording.

    Raises:
      StopRequestedError: ``should_stop`` asked for it.
    """
    from sysid_ros.judgement.torque_check import torque_errors  # loads diagnosis, as below

    dataset, values = inputs.dataset, result.values
    # Overlap makes a few recordings that are held out say more; of the others there are enough.
    fitted, apart = window_errors(
        inputs, dataset.training, values, should_stop,
        overlap=not dataset.validation, first=result.first_errors,
    )  # fmt: skip
    held_out, apart_held_out = window_errors(inputs, dataset.validation, values, should_stop)
    training = score(fitted)
    judged = dataset.validation or dataset.training
    return _Simulated(
        training=training,
        validation=score(held_out) if held_out else None,
        sequences=traces(apart, "training") + traces(apart_held_out, "validation"),
        trends=residual_trends(
            apart_held_out or apart, velocity_filter=inputs.experiment.initial_state.velocity_filter
        ),
        torques=torque_errors(judged, inputs.params, values),
    )


def _mistaken(inputs: FitInputs, result: FitResult, simulated: _Simulated) -> tuple[str, ...]:
    """Say what is wrong with the signals, as far as the recordings tell.

    A fit that leaves hardly anything of the motion has signals that are right, up to names, what
    drives add and a load for a while, which a fit can make up for.
    """
    # Here, as it loads 70 modules that who reads or evaluates a result does without.
    from sysid_ros.diagnosis import (
        FindingKind,
        beside_odd_effort,
        changed_loads,
        drive_parts,
        joints_beyond_ranges,
        mistaken_values,
        settled,
    )

    of_drives = (FindingKind.INTEGRAL, FindingKind.SMOOTHED)
    score = simulated.validation or simulated.training
    explained = score is not None and unexplained(score) < _HARDLY_ANYTHING
    tests = drive_parts if explained else mistaken_values
    mistakes = tests(inputs.experiment, inputs.dataset)
    swapped = [one for one in mistakes if one.kind is FindingKind.SWAP]
    exchanged: tuple[str, ...] = ()
    if swapped or all(one.kind in of_drives for one in mistakes):
        by_robot = explained and result.torque is not None
        exchanged = _exchanged(inputs, explained=by_robot)
    if result.torque is not None and result.torque.doubts and not (exchanged or settled(mistakes)):
        return (*result.torque.doubts, *(one.claim for one in beside_odd_effort(mistakes)))
    if result.torque is None and not (exchanged or mistakes):
        mistakes = joints_beyond_ranges(inputs.experiment, inputs.dataset)
        if not mistakes:
            mistakes = changed_loads(inputs.experiment, inputs.dataset)
    others = (one.claim for one in mistakes if not exchanged or one not in swapped)
    return (*exchanged, *others)


def _changed(result: FitResult) -> tuple[str, ...]:
    """Say that the robot is another from some instant on, if its estimates do.

    Where its motion is another as well, what the model lacks may be all that changes with it.
    """
    found = result.model_error
    alike = found is not None and all(one.alike for one in found.drifts)
    clause = changed_at_once(result.parameters, found) if found is not None and alike else ""
    return (clause,) if clause else ()


def _repeats(dataset: Dataset) -> list[str]:
    """Name the recordings that are copies of others, in whole or in part."""
    held_out = {name for group in dataset.validation for name in group.sequence_name}
    held_out -= {name for group in dataset.training for name in group.sequence_name}
    groups = [*dataset.training, *dataset.validation]
    return [
        f"{one.name!r}{', which is held out,' if one.name in held_out else ''} repeats "
        f"{100.0 * one.share:.0f} % of its motion from {one.other!r}"
        for one in repeated_recordings(groups)
    ]


def _exchanged(inputs: FitInputs, *, explained: bool) -> tuple[str, ...]:
    """Say that signals carry each other's names, if they do."""
    from sysid_ros.diagnosis import exchanged_signals

    groups = inputs.dataset.training
    guessed = [one.name for one in inputs.experiment.signals if one.servo or one.velocity_servo]
    pairs = exchanged_signals(groups, inputs.params, guessed=guessed, explained=explained)
    if not pairs:
        return ()
    named = " and ".join(f"{one!r} with {other!r}" for one, other in pairs)
    return (f"{2 * len(pairs)} signals seem to be exchanged, {named}",)


def applied_parameters(params: ParameterDict, values: FloatArray) -> tuple[AppliedParameter, ...]:
    """Every parameter with what it is written into."""
    return tuple(
        AppliedParameter(
            parameter.name,
            tuple(parameter.as_vector().tolist()),
            {} if parameter.modifier is None else modifier_to_dict(parameter.modifier),
            parameter.robot,
        )
        for parameter in params.at(values).values()
    )


def with_provenance(outcome: Outcome, name: str, text: str) -> Outcome:
    """An outcome that also tells how it came about in one more respect."""
    return replace(outcome, provenance={**outcome.provenance, name: text})


def _dates(dataset: Dataset) -> dict[str, str]:
    """The date of each recording by a clock that tells one; simulated time starts in 1970."""
    return {
        f"{RECORDED_PREFIX}{name}": datetime.fromtimestamp(
            start_ns // 10**9, timezone.utc
        ).isoformat()
        for name, start_ns in dataset.recorded.items()
        if start_ns > _EARLIEST_NS
    }


def _provenance(experiment: Experiment, dataset: Dataset) -> Mapping[str, str]:
    return {
        **versions("mujoco", "numpy", "scipy", "rosbags"),
        **{f"{HASH_PREFIX}{name}": digest for name, digest in dataset.hashes.items()},
        **_dates(dataset),
        "command": " ".join(sys.argv),
        "experiment file": str(experiment.path or ""),
        "experiment": experiment.text,
        "overrides": "; ".join(experiment.overrides),
    }
