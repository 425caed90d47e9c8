# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Open-loop prediction errors: scores in physical units and the traces that people look at.

Every window starts at the measured state, for the initial and the fitted parameters alike, and the
sample that the start was taken from is not scored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Point, loss_named
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences, is_position, joint_shown, sensor_unit
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import (
    START_SAMPLE,
    SequenceData,
    SignalColumn,
    WindowGroup,
    WindowKey,
    WindowSimulation,
    first_orientation,
    model_group,
)
from sysid_ros.judgement.outcome import Score, SequenceFit, SignalFit

NOTHING: Mapping[tuple[int, WindowKey], FloatArray] = MappingProxyType({})


@dataclass(frozen=True)
class ScoringSettings:
    """The cutting of sequences for scores, as in a ``WindowConfig``."""

    length: float | None
    overlap: float
    velocity_filter: float
    threads: int | None = None


@dataclass(frozen=True)
class WindowErrors:
    """Errors of one window, predicted minus measured in the signals' units."""

    window: WindowSimulation  # what was simulated
    initial: FloatArray  # with the initial parameters, shape (m,)
    fitted: FloatArray  # with the fitted parameters, shape (m,)
    model: int  # the place of its model among those that were simulated


def open_loop_errors(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    fitted: FloatArray,
    settings: ScoringSettings,
    should_stop: Callable[[], bool] | None = None,
    known: Sequence[WindowErrors] = (),
    first: Mapping[tuple[int, WindowKey], FloatArray] = NOTHING,
) -> tuple[WindowErrors, ...]:
    """Simulate every window with the initial and with the fitted parameters.

    Args:
      models_sequences: Models with their sequences.
      params: The parameters at their initial values.
      fitted: Fitted values of the free scalars, shape (p,).
      settings: How to cut.
      should_stop: Asked while simulating.
      known: Errors with the same parameters of the same ``models_sequences``, cut otherwise;
        windows that are among them are not simulated again.
      first: Errors with the initial parameters alone, by model and window, as of a fit.

    Raises:
      DataError: A sequence has no usable window.
      StopRequestedError: ``should_stop`` asked for it.
    """
    with RolloutPool(settings.threads, should_stop=should_stop) as rollouts:
        groups = [
            model_group(
                sequences,
                params,
                window_length=settings.length,
                overlap=settings.overlap,
                estimate_starts=False,
                velocity_filter=settings.velocity_filter,
            )
            for sequences in models_sequences
        ]
        places = {(g, one.key): one for g, group in enumerate(groups) for one in group.windows}
        before = {**first, **{(each.model, each.window.key): each.initial for each in known}}
        after = {(each.model, each.window.key): each.fitted for each in known}
        unscored = _problem(groups, params, rollouts, after)
        values = Point(fitted, unscored.initial_point().starts)
        missing = [place for place in places if place not in after]
        unseen = [place for place in places if place not in before]
        untuned = unscored if unseen == missing else _problem(groups, params, rollouts, before)
        found = untuned.residuals(untuned.initial_point())
        before |= dict(zip(unseen, found, strict=True))
        after |= dict(zip(missing, unscored.residuals(values), strict=True))
    return tuple(WindowErrors(one, before[at], after[at], at[0]) for at, one in places.items())


def _problem(
    groups: Sequence[WindowGroup],
    params: ParameterDict,
    rollouts: RolloutPool,
    known: Container[tuple[int, WindowKey]],
) -> WindowedProblem:
    """The windows whose errors are not known."""
    missing = [
        WindowGroup.of(group.builder, own)
        for g, group in enumerate(groups)
        if (own := [each for each in group.windows if (g, each.key) not in known])
    ]
    return WindowedProblem(
        missing, params, rollouts, loss=loss_named("linear"), noise={}, engine="reference"
    )


def score(errors: Sequence[WindowErrors]) -> Score:
    """Errors per signal and over all position signals.

    Returns:
      The score. Where no position is measured, all signals are pooled.
    """
    predictions: dict[str, dict[str, list[FloatArray]]] = {}
    means: dict[tuple[int, int, int], float] = {}
    units: dict[str, str] = {}
    positions: set[str] = set()
    for error in errors:
        samples = error.window.window.samples
        scored = samples.times > START_SAMPLE
        for i, signal in enumerate(error.window.sequence.signals):
            own = samples.signals == i
            chosen = scored & own
            measured = samples.values[chosen]
            key = error.model, error.window.sequence.number, i
            if key not in means:
                whole = error.window.sequence.sensordata.data[:, signal.measured_column]
                means[key] = float(np.mean(whole[np.isfinite(whole)]))
            for prediction, differences in (
                ("initial", error.initial[chosen]),
                ("fitted", error.fitted[chosen]),
                ("still", samples.values[own][:1] - measured),
                ("mean", means[key] - measured),
            ):
                by_name = predictions.setdefault(prediction, {})
                by_name.setdefault(signal.name, []).append(differences)
            sensor = error.window.model.sensor(signal.sensor).id
            units[signal.name] = sensor_unit(error.window.model, sensor)
            if is_position(error.window.model, sensor):
                positions.add(signal.name)
    return pooled_score(
        predictions["initial"],
        predictions["fitted"],
        units,
        positions,
        len(errors),
        still=predictions["still"],
        mean=predictions["mean"],
    )


def pooled_score(
    initial: Mapping[str, Sequence[FloatArray]],
    fitted: Mapping[str, Sequence[FloatArray]],
    units: Mapping[str, str],
    positions: Collection[str],
    windows: int,
    *,
    still: Mapping[str, Sequence[FloatArray]] | None = None,
    mean: Mapping[str, Sequence[FloatArray]] | None = None,
) -> Score:
    """Root mean square and mean absolute errors by signal, and pooled over positions.

    Args:
      initial: Errors with the initial parameters, in blocks of any size, by signal.
      fitted: The same with the fitted ones.
      units: Unit by signal.
      positions: Signals that are positions; where there are none, all signals are pooled.
      windows: How many windows the errors come from.
      still: Errors of predicting that nothing moves away from its start, where known.
      mean: Errors of holding each recording's mean, where known.
    """
    pooled = sorted(positions or units)
    still, mean = still or {}, mean or {}

    def together(errors: Mapping[str, Sequence[FloatArray]]) -> list[FloatArray]:
        return [block for name in pooled for block in errors.get(name, ())]

    return Score(
        rmse={name: _rms(blocks) for name, blocks in fitted.items()},
        rmse_initial={name: _rms(blocks) for name, blocks in initial.items()},
        units=dict(units),
        rmse_all=_rms(together(fitted)),
        rmse_all_initial=_rms(together(initial)),
        unit_all=units[pooled[0]] if len({units[name] for name in pooled}) == 1 else "",
        windows=windows,
        mae={name: _mean_absolute(blocks) for name, blocks in fitted.items()},
        mae_initial={name: _mean_absolute(blocks) for name, blocks in initial.items()},
        mae_all=_mean_absolute(together(fitted)),
        mae_all_initial=_mean_absolute(together(initial)),
        rmse_still={name: _rms(blocks) for name, blocks in still.items()},
        rmse_mean={name: _rms(blocks) for name, blocks in mean.items()},
        rmse_still_all=_rms(together(still)),
        rmse_mean_all=_rms(together(mean)),
    )


def in_units_of_noise(rmse: Mapping[str, float], noise: Mapping[str, float]) -> float:
    """Pool errors of all measured quantities; NaN where no noise level is known.

    Returns:
      Root mean square over the signals of error per noise.
    """
    ratios = [
        error / noise[name]
        for name, error in rmse.items()
        if noise.get(name, 0.0) > 0.0 and math.isfinite(error)
    ]
    return float(np.sqrt(np.mean(np.square(ratios)))) if ratios else math.nan


def traces(errors: Sequence[WindowErrors], role: str) -> tuple[SequenceFit, ...]:
    """Measured, initial and fitted signals per sequence.

    Args:
      errors: Windows of any number of sequences; of overlapping ones the later wins.
      role: ``"training"`` or ``"validation"``.
    """
    by_sequence: dict[str, list[WindowErrors]] = {}
    for error in errors:
        by_sequence.setdefault(error.window.sequence.name, []).append(error)
    return tuple(_trace(name, windows, role) for name, windows in by_sequence.items())


def _trace(name: str, errors: Sequence[WindowErrors], role: str) -> SequenceFit:
    sequence = errors[0].window.sequence
    model = errors[0].window.model
    times = sequence.sensordata.times
    rows = np.concatenate([error.window.window.samples.rows for error in errors])
    covered = (times >= times[rows.min()]) & (times <= times[rows.max()])
    signals = []
    for i, signal in enumerate(sequence.signals):
        measured = sequence.sensordata.data[:, signal.measured_column]
        initial = np.full(measured.shape, np.nan)
        fitted = np.full(measured.shape, np.nan)
        for error in errors:
            samples = error.window.window.samples
            chosen = samples.signals == i
            rows = samples.rows[chosen]
            initial[rows] = measured[rows] + error.initial[chosen]
            fitted[rows] = measured[rows] + error.fitted[chosen]
        known = np.isfinite(measured) & covered
        sensor = model.sensor(signal.sensor).id
        signals.append(
            SignalFit(
                signal.name,
                sensor_unit(model, sensor),
                times[known],
                measured[known],
                initial[known],
                fitted[known],
                joint_shown(model, sensor),
                _origin(sequence, signal),
            )
        )
    starts = np.array([error.window.window.start for error in errors])
    return SequenceFit(name, role, tuple(signals), starts)


def _origin(sequence: SequenceData, signal: SignalColumn) -> tuple[float, ...]:
    """The quaternion measured first, where a signal is a part of an orientation."""
    if signal.rotation is None:
        return ()
    columns = (sequence.sensordata.signal_mapping or {})[signal.sensor][1]
    return tuple(first_orientation(sequence.sensordata.data[:, columns]).tolist())


def _rms(blocks: Sequence[FloatArray]) -> float:
    values = np.concatenate(blocks) if blocks else np.zeros(0)
    return float(np.sqrt(np.mean(values**2))) if values.size else math.nan


def _mean_absolute(blocks: Sequence[FloatArray]) -> float:
    values = np.concatenate(blocks) if blocks else np.zeros(0)
    return float(np.mean(np.abs(values))) if values.size else math.nan
