# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controls of a simulation's steps, from commands recorded at their own instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings
from sysid_ros.engine.signals import (
    SignalIntegral,
    Stamping,
    TimeSeries,
    control_key,
    control_mapping,
    control_names,
    step_offsets,
)
from sysid_ros.engine.simulation.simulation import StepControls
from sysid_ros.errors import SignalError


def ordered_controls(model: Any, control: TimeSeries) -> FloatArray:
    """The samples in the model's order, (n, nu); inputs without a column get zero.

    Raises:
      SignalError: A name is unknown, or a sample is missing (NaN).
    """
    columns = _column_of_input(model, control)
    ordered = np.zeros((len(control), int(model.nu)))
    driven = columns >= 0
    ordered[:, driven] = control.data[:, columns[driven]]
    if np.isnan(ordered).any():
        row, column = (int(i[0]) for i in np.nonzero(np.isnan(ordered)))
        raise SignalError(
            f"control {column} is missing (NaN) at {control.times[row]:.6f} s; a simulation needs "
            "it throughout"
        )
    return ordered


def sampled_controls(model: Any, control: TimeSeries) -> StepControls:
    """The commands as they are at the beginning of each step.

    The steps cover the recording from its first command; the last one is only the end of the last
    step, as in ``mujoco.sysid``.

    Raises:
      SignalError: The commands do not fit the model, or span less than one step.
    """
    resampled = control.resample(target_dt=float(model.opt.timestep))
    values = ordered_controls(model, resampled)[:-1]
    return StepControls(_checked(resampled.times[:-1], control, model), values)


def averaged_controls(
    model: Any, control: TimeSeries, settings: Mapping[str, SignalSettings], *, stamping: Stamping
) -> StepControls:
    """The mean over each step of ``gain * u(t - delay) + bias``, which has a derivative in delay.

    Args:
      model: The MjModel.
      control: The commands.
      settings: Delay, gain and bias by actuator; others are unchanged.
      stamping: "notebook" takes the mean around each step's beginning, so that commands that
        change linearly are those of :func:`sampled_controls`; "true" over the time in which the
        step's force acts.

    Raises:
      SignalError: The commands do not fit the model, or span less than one step.
    """
    ordered_controls(model, control)  # checks
    origin, timestep = float(control.times[0]), float(model.opt.timestep)
    steps = int(np.floor((control.times[-1] - origin) / timestep + 1e-6))
    begin = timestep * np.arange(steps, dtype=np.float64)
    offsets = step_offsets(model)
    if stamping == "notebook":
        offsets = np.full(int(model.nu), -0.5 * timestep)
    changes = [settings.get(name, UNCHANGED) for name in control_names(model)]
    integrals = control_integrals(model, control, origin)
    values = step_means(timestep, integrals, begin, offsets, changes)
    return StepControls(_checked(origin + begin, control, model), values)


def step_means(
    timestep: float,
    integrals: Sequence[SignalIntegral | None],
    begin: FloatArray,
    offsets: FloatArray,
    settings: Sequence[SignalSettings],
) -> FloatArray:
    """The mean over each step of ``gain * u(t - delay) + bias``; zero where nothing drives.

    Args:
      timestep: Of the model, s.
      integrals: Of each input's command.
      begin: When each step begins, (n,) s, on the integrals' axis.
      offsets: When each input's mean begins, relative to the step, (nu,) s, as of
        :func:`step_offsets` over the time in which the step's force acts.
      settings: Delay, gain and bias of each input.

    Returns:
      Shape (n, nu).
    """
    values = np.zeros((len(begin), len(integrals)))
    for i, (integral, change) in enumerate(zip(integrals, settings, strict=True)):
        if integral is not None:
            mean = integral.mean(begin + offsets[i] - change.delay, timestep)
            values[:, i] = change.gain * mean + change.bias
    return values


def control_integrals(
    model: Any,
    control: TimeSeries,
    origin: float = 0.0,
    known: Sequence[SignalIntegral | None] | None = None,
) -> tuple[SignalIntegral | None, ...]:
    """One integral per input of the model; ``None`` where it is not driven.

    Args:
      model: The MjModel.
      control: The commands; samples that are missing (NaN) are left out.
      origin: Where the integrals' time begins, s.
      known: Those of other commands, by input, of which some may be the same.

    Raises:
      SignalError: The commands do not fit the model.
    """
    integrals: list[SignalIntegral | None] = []
    columns = _column_of_input(model, control)
    for column, other in zip(columns, known or [None] * len(columns), strict=True):
        if column < 0:
            integrals.append(None)
            continue
        values, method = control.data[:, column], control.method_of(column)
        told = np.isfinite(values)
        samples = control.times[told] - origin, values[told], method
        same = other is not None and other.is_of(*samples)
        integrals.append(other if same else SignalIntegral(*samples))
    return tuple(integrals)


def _checked(times: FloatArray, control: TimeSeries, model: Any) -> FloatArray:
    if not len(times):
        raise SignalError(
            f"the controls span {control.times[-1] - control.times[0]:.3g} s, less than one time "
            f"step of {model.opt.timestep:g} s"
        )
    return times


def _column_of_input(model: Any, control: TimeSeries) -> IndexArray:
    """For each input of the model the column of the data, -1 for none."""
    if control.signal_mapping is None:
        if control.data.ndim != 2 or control.data.shape[1] != model.nu:
            raise SignalError(
                f"controls without names need the model's {model.nu} columns, got data of shape "
                f"{control.data.shape}"
            )
        return np.arange(model.nu, dtype=np.intp)
    known, names = control_mapping(model), control_names(model)
    columns = np.full(int(model.nu), -1, dtype=np.intp)
    for name, (_, given) in control.signal_mapping.items():
        if name in names and len(given) == 1:
            columns[names.index(name)] = given[0]
        else:
            columns[known[control_key(known, name)][1][: len(given)]] = given
    return columns
