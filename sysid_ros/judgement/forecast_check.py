# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The standard errors of a fit beside those that were predicted for its designed motions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.dataset import FitInputs
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.parameters import priors
from sysid_ros.engine.uncertainty import WINDOW_DIFFERENCES, directions_of_gram
from sysid_ros.engine.windows import usable_span
from sysid_ros.errors import BagError, DataError, listed
from sysid_ros.experiment import locate_bag
from sysid_ros.judgement.motion_forecast import MotionForecast, read_forecast

HELD = 1.5  # ratio of realised and predicted errors up to which a forecast has held
_OPEN = 1e-6  # share of a parameter that lies in a direction without information
_TOLD = 0.9  # of the errors before: a parameter that a motion leaves above learnt nothing from it
_WIDEST = 1e4  # ratio of noise levels that is looked for
_HALVINGS = 60


@dataclass(frozen=True)
class ForecastRow:
    """The standard errors of one parameter, ``None`` where none was predicted or is claimed."""

    name: str  # of the parameter
    unit: str  # of the errors
    predicted: float | None  # for the motions
    realised: float | None  # by the fit of their recordings

    @property
    def ratio(self) -> float | None:
        """Realised over predicted; ``None`` where one is missing."""
        return self.realised / self.predicted if self.realised and self.predicted else None


@dataclass(frozen=True)
class ForecastCheck:
    """Predicted and realised standard errors of a fit of designed motions."""

    told_by: str  # where the predicted ones came from
    rows: tuple[ForecastRow, ...]  # by parameter; empty where nothing can be compared
    ratio: float  # realised over predicted, geometric mean; NaN where nothing can be compared
    noise_factor: float  # by which noise counts more than a design assumes by itself
    notes: tuple[str, ...]  # what limits the comparison, in sentences

    @property
    def sentence(self) -> str:
        """The outcome of the comparison."""
        ratios = sorted((one.ratio, one.name) for one in self.rows if one.ratio is not None)
        if not ratios:
            return "No standard error can be compared with a predicted one."
        (low, least), (high, most) = ratios[0], ratios[-1]
        said = (
            f"The standard errors are {self.ratio:.2g} times those predicted (geometric mean of "
            f"{len(ratios)}; {low:.2g} times of {least} to {high:.2g} times of {most})."
        )
        if self.ratio > HELD:
            return (
                f"{said} Noise, or what the model cannot explain, counts for more than was "
                "assumed; a design after this result counts it in."
            )
        if self.ratio < 1.0 / HELD:
            return f"{said} The recording told more than was assumed, which a design after it uses."
        return f"{said} The prediction held."


def forecast_check(
    inputs: FitInputs, result: FitResult, data_dir: Path | None
) -> ForecastCheck | None:
    """Compare a fit with the forecasts of the motions that its recordings name.

    Returns:
      The comparison; ``None`` where no recording that was fitted names a motion.
    """
    motions = {name: motion for name, motion in inputs.dataset.motions.items() if motion}
    if not motions:
        return None
    forecasts: dict[str, MotionForecast] = {}
    notes = []
    for name, motion in motions.items():
        try:
            path = locate_bag(motion, experiment_file=inputs.experiment.path, data_dir=data_dir)
            forecasts[name] = read_forecast(path)
        except (BagError, DataError) as error:
            notes.append(f"The motion of {name} has no forecast: {error}.")
    return _compared(inputs, result, forecasts, notes)


def _compared(
    inputs: FitInputs, result: FitResult, forecasts: Mapping[str, MotionForecast], notes: list[str]
) -> ForecastCheck:
    hashes = {name: inputs.dataset.hashes[name] for name in inputs.dataset.motions}
    before = _before(forecasts, set(hashes.values()))
    known = set(before.recordings) if before is not None else set()
    silent = [n for n, digest in hashes.items() if n not in forecasts and digest not in known]
    if silent:
        notes.append(
            f"{listed(silent, last=' and ')} came without a forecast, so that none holds for all."
        )
    if silent or not forecasts:
        told_by = next((one.told_by for one in forecasts.values()), "")
        return ForecastCheck(told_by, (), math.nan, 1.0, tuple(notes))
    new = {name: one for name, one in forecasts.items() if hashes[name] not in known}
    last = list(forecasts.values())[-1]
    names = tuple(one.name for one in result.parameters)
    spared = 1.0 - (inputs.experiment.validation.fraction or 0.0)
    zero = np.zeros((len(names), len(names)))
    data = spared * sum((_spread(one, one.information, names) for one in new.values()), zero)
    if before is not None and before.known is not None:
        base = _spread(before, before.known, names)
    else:
        precisions = dict(zip(inputs.params.scalar_names(), priors(inputs.params)[1], strict=True))
        base = np.diag([precisions.get(name, 0.0) for name in names])
    notes += _shortened(inputs, new)
    return _check(result, base, data, last, notes)


def _before(forecasts: Mapping[str, MotionForecast], fitted: set[str]) -> MotionForecast | None:
    """The forecast whose earlier fit is of the most recordings that are all fitted again."""
    usable = [
        one for one in forecasts.values() if one.recordings and fitted.issuperset(one.recordings)
    ]
    return max(usable, key=lambda one: len(one.recordings), default=None)


def _spread(forecast: MotionForecast, matrix: FloatArray, names: tuple[str, ...]) -> FloatArray:
    """A matrix of a forecast's parameters as one of others, with zeros for what it lacks."""
    place = {name: i for i, name in enumerate(forecast.names)}
    shared = [(i, place[name]) for i, name in enumerate(names) if name in place]
    whole = np.zeros((len(names), len(names)))
    rows, columns = np.array(shared, dtype=np.intp).reshape(-1, 2).T
    whole[np.ix_(rows, rows)] = matrix[np.ix_(columns, columns)]
    return whole


def _shortened(inputs: FitInputs, forecasts: Mapping[str, MotionForecast]) -> list[str]:
    """Sentences about recordings that cannot hold the whole motion."""
    said = []
    for group in inputs.dataset.training:
        for number, name in enumerate(group.sequence_name):
            begin, end = usable_span(group, number)
            length = end - begin
            if name in forecasts and length < 0.98 * forecasts[name].duration:
                said.append(
                    f"{name} has {length:.3g} s of a motion of {forecasts[name].duration:.3g} s."
                )
    return said


def _check(
    result: FitResult,
    base: FloatArray,
    data: FloatArray,
    forecast: MotionForecast,
    notes: list[str],
) -> ForecastCheck:
    predicted = standard_errors(base + data)
    rows = tuple(
        ForecastRow(one.name, one.unit, float(p) if np.isfinite(p) else None, one.standard_error)
        for one, p in zip(result.parameters, predicted, strict=True)
    )
    both = np.array([row.ratio is not None for row in rows], dtype=bool)
    if not both.any():
        return ForecastCheck(forecast.told_by, rows, math.nan, 1.0, tuple(notes))
    ratio = float(np.exp(np.mean(np.log([row.ratio for row in rows if row.ratio is not None]))))
    learnt = both & (predicted < _TOLD * standard_errors(base))
    realised = np.array([row.realised or np.nan for row in rows])
    louder = _louder(base, data, realised, learnt) if learnt.any() else 1.0
    factor = forecast.noise_factor * louder
    return ForecastCheck(forecast.told_by, rows, ratio, factor, tuple(notes))


def _louder(base: FloatArray, data: FloatArray, realised: FloatArray, at: BoolArray) -> float:
    """The ratio of noise levels with which some errors would have been predicted as they are."""
    wanted = float(np.mean(np.log(realised[at])))
    low, high = -math.log(_WIDEST), math.log(_WIDEST)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        errors = standard_errors(base + math.exp(-2.0 * middle) * data)[at]
        low, high = (middle, high) if np.mean(np.log(errors)) < wanted else (low, middle)
    return math.exp(0.5 * (low + high))


def standard_errors(information: FloatArray) -> FloatArray:
    """Standard errors (p,) by an information matrix (p, p); infinite where it leaves one open."""
    found = directions_of_gram(information, WINDOW_DIFFERENCES)
    told, unknown = ~found.open, found.vectors[found.open]
    variances = ((found.vectors[told] / found.sizes[told, np.newaxis]) ** 2).sum(axis=0)
    left_open = (unknown**2).sum(axis=0) > _OPEN
    return np.where(left_open, np.inf, np.sqrt(variances) / found.length)
