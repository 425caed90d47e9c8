# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A result of ``sysid.optimize`` in the form that reports are written from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.least_squares import FitStatus, ReducedSystem
from sysid_ros.engine.parameters import Bounds, ParameterDict
from sysid_ros.engine.problem import ResidualFunction
from sysid_ros.engine.signals import ModelSequences, TimeSeries, is_position, sensor_unit
from sysid_ros.engine.uncertainty import (
    Covariance,
    covariance,
    describe_open_directions,
    estimates,
    no_covariance,
    sensor_of,
)
from sysid_ros.judgement import (
    Outcome,
    Score,
    SequenceFit,
    SignalFit,
    pooled_score,
    result_warnings,
    versions,
    with_verdict,
)

WHITE_NOISE = (
    "The intervals assume white noise; a windowed fit (sysid_ros fit) allows for correlated errors."
)


def library_outcome(
    models_sequences: Sequence[ModelSequences],
    initial_params: ParameterDict,
    opt_params: ParameterDict,
    residual_fn: ResidualFunction,
    opt_result: Mapping[str, Any],
    title: str,
) -> Outcome:
    """Lay out what :func:`sysid_ros.engine.estimation.optimize` found.

    Args:
      models_sequences: The models with their recordings, as ``residual_fn`` has them.
      initial_params: Parameters before the fit.
      opt_params: Parameters after it.
      residual_fn: The function that was minimized.
      opt_result: What ``optimize`` returned.
      title: The report's title.

    Returns:
      An outcome with one sequence per recording; everything counts as training.
    """
    _, before, _ = residual_fn(initial_params.as_vector(), initial_params, return_pred_all=True)
    _, after, measured = residual_fn(opt_params.as_vector(), opt_params, return_pred_all=True)
    recordings = [
        (model, name) for model in models_sequences for name in model.sequence_name
    ]  # the order of the residual's parts
    sequences = tuple(
        _sequence(model, name, records[0], first[0], last[0])
        for (model, name), records, first, last in zip(
            recordings, measured, before, after, strict=True
        )
    )
    score = _score(models_sequences, sequences)
    fit = _fit_result(initial_params, opt_params, opt_result, sequences)
    return with_verdict(
        Outcome(
            title=title,
            fit=fit,
            training=score,
            validation=None,
            sequences=sequences,
            quality=(),
            verdict="",
            warnings=(*result_warnings(fit), WHITE_NOISE),
            provenance=versions("mujoco", "numpy", "scipy"),
        )
    )


def _sequence(
    model: ModelSequences, name: str, measured: TimeSeries, before: TimeSeries, after: TimeSeries
) -> SequenceFit:
    """Measured and simulated signals of one recording, at the measurement's instants."""
    times = measured.times
    initial, fitted = (
        series.data if np.array_equal(series.times, times) else series.interpolate(times)
        for series in (before, after)
    )
    start = float(times[0])
    signals = tuple(
        SignalFit(
            label,
            _unit(model, sensor),
            times - start,
            measured.data[:, column],
            initial[:, column],
            fitted[:, column],
        )
        for label, sensor, column in _columns(measured)
    )
    return SequenceFit(f"{model.name}/{name}", "training", signals, np.zeros(1))


def _columns(series: TimeSeries) -> list[tuple[str, str, int]]:
    """``(label, signal, column)`` of every column, labelled ``imu[2]`` where there are several."""
    return [
        (name if len(columns) == 1 else f"{name}[{i}]", name, int(column))
        for name, (_, columns) in (series.signal_mapping or {}).items()
        for i, column in enumerate(columns)
    ]


def _sensor_id(model: ModelSequences, name: str) -> int | None:
    names = [model.gt_model.sensor(i).name for i in range(model.gt_model.nsensor)]
    return names.index(name) if name in names else None


def _unit(model: ModelSequences, name: str) -> str:
    sensor = _sensor_id(model, name)
    return "" if sensor is None else sensor_unit(model.gt_model, sensor)


def _score(models: Sequence[ModelSequences], sequences: Sequence[SequenceFit]) -> Score:
    """Errors by signal over all recordings, where both a measurement and a prediction are."""
    initial: dict[str, list[FloatArray]] = {}
    fitted: dict[str, list[FloatArray]] = {}
    units: dict[str, str] = {}
    for sequence in sequences:
        for signal in sequence.signals:
            initial.setdefault(signal.name, []).append(_errors(signal, signal.initial))
            fitted.setdefault(signal.name, []).append(_errors(signal, signal.fitted))
            units[signal.name] = signal.unit
    positions = [name for name in units if _is_position(models, sensor_of(name))]
    return pooled_score(initial, fitted, units, positions, len(sequences))


def _errors(signal: SignalFit, predicted: FloatArray) -> FloatArray:
    difference = predicted - signal.measured
    return difference[np.isfinite(difference)]


def _is_position(models: Sequence[ModelSequences], name: str) -> bool:
    for model in models:
        sensor = _sensor_id(model, name)
        if sensor is not None:
            return is_position(model.gt_model, sensor)
    return False


def _fit_result(
    initial: ParameterDict,
    found: ParameterDict,
    result: Mapping[str, Any],
    sequences: Sequence[SequenceFit],
) -> FitResult:
    bounds = initial.bounds
    theta = found.as_vector()
    uncertainty = _uncertainty(bounds, theta, result)
    trace = tuple(result.get("trace", ()))
    return FitResult(
        status=FitStatus(result["status"]),
        message=str(result["message"]),
        parameters=estimates(initial, theta, uncertainty),
        covariance=uncertainty.matrix,
        cost_initial=trace[0].cost if trace else float("nan"),
        cost_final=float(result["cost"]),
        iterations=int(result["iterations"]),
        evaluations=int(result["evaluations"]),
        jacobians=int(result["jacobians"]),
        elapsed=float(result["elapsed"]),
        trace=trace,
        noise=_noise(sequences),
        interval_method=uncertainty.method,
        singular_values=uncertainty.singular_values,
        unidentifiable=describe_open_directions(
            uncertainty, found.scalar_names(), theta, bounds.width
        ),
        optimizer="optimize",
    )


def _uncertainty(bounds: Bounds, theta: FloatArray, result: Mapping[str, Any]) -> Covariance:
    """White-noise covariance from the result's Jacobian; no claim where there is none."""
    jacobian, residual = np.asarray(result["jac"]), np.asarray(result["fun"])
    if not len(jacobian):
        return no_covariance(theta.size)
    p = theta.size
    return covariance(
        ReducedSystem(
            jacobian.T @ jacobian, jacobian.T @ residual, np.zeros((0, p, p)), np.zeros((0, p))
        ),
        bounds.width,
        bounds.free(theta),
        method="white",
        n_samples=residual.size,
        residual_square=float(residual @ residual),
    )


def _noise(sequences: Sequence[SequenceFit]) -> dict[str, float]:
    """Standard deviation of each signal's residual over all recordings."""
    blocks: dict[str, list[FloatArray]] = {}
    for sequence in sequences:
        for signal in sequence.signals:
            blocks.setdefault(signal.name, []).append(_errors(signal, signal.fitted))
    return {name: float(np.std(np.concatenate(errors))) for name, errors in blocks.items()}
