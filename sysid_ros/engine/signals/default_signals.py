# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated counterpart of a measurement, for callbacks that compare by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.engine.signals.mappings import OBSERVABLE, SignalType
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.errors import SignalError, unknown_name


def construct_ts_from_defaults(
    state_ts: TimeSeries,
    pred_sensordata: TimeSeries,
    measured_sensordata: TimeSeries,
    enabled_observations: Sequence[tuple[str, SignalType]] | None = None,
) -> tuple[TimeSeries, TimeSeries]:
    """Bring simulated sensors and states into the columns of a measurement.

    Args:
      state_ts: Simulated states without their time column, (n, nstate - 1), with names.
      pred_sensordata: Simulated sensors, (n, nsensordata), with names.
      measured_sensordata: The measurement, with names.
      enabled_observations: ``(name, type)`` of the signals wanted; empty or ``None``: all.

    Returns:
      The measurement and the prediction, each at its own instants, with the same columns.

    Raises:
      SignalError: A signal is unknown or of another type.
    """
    if measured_sensordata.signal_mapping is None:
        raise SignalError("the measurement's columns have no names; use TimeSeries.from_names")
    names = [name for name, _ in enabled_observations or ()]
    check_types(measured_sensordata, enabled_observations or ())
    measured = TimeSeries.slice_by_name(
        measured_sensordata, names or measured_sensordata.signal_mapping
    )
    mapping = measured.signal_mapping or {}
    predicted = np.zeros((len(pred_sensordata), measured.data.shape[1]))
    for name, (kind, columns) in mapping.items():
        if kind not in OBSERVABLE:
            raise SignalError(
                f"signal {name!r} is of type {kind.name}, which no model can predict: give "
                "modify_residual a function that does"
            )
        source = pred_sensordata if kind is SignalType.MjSensor else state_ts
        known = source.signal_mapping or {}
        if name not in known:
            raise SignalError(
                f"{name} is missing: " + unknown_name("simulated signal", name, known)
            )
        predicted[:, columns] = source.data[:, known[name][1]]
    return measured, TimeSeries(pred_sensordata.times, predicted, mapping)


def check_types(measured: TimeSeries, enabled: Sequence[tuple[str, SignalType]]) -> None:
    """Refuse observations that are declared as another type than they are.

    Raises:
      SignalError: One is, or is unknown.
    """
    for name, declared in enabled:
        kind = measured.get_indices(name)[0]
        if kind is not declared:
            raise SignalError(
                f"Observation type error: {name} is of type {kind} but declared as {declared}."
            )
