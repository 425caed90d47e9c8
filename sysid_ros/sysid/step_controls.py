# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a simulation is told at each of its steps, from commands recorded at their own instants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.candidate import UNCHANGED, SignalSettings
from sysid_ros.sysid.control import SignalIntegral, is_semi_implicit
from sysid_ros.sysid.mappings import (
    SignalError,
    actuator_names,
    control_mapping,
    input_actuators,
)
from sysid_ros.sysid.stamping import Stamping
from sysid_ros.sysid.timeseries import TimeSeries
from sysid_ros.sysid.trajectory import control_key

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StepControls:
    """Controls of one simulation.

    Attributes:
      times: When each step begins, (n,) s, on the recording's clock.
      values: One row per step, (n, nu).
    """

    times: FloatArray
    values: FloatArray


def ordered_controls(model: Any, control: TimeSeries) -> FloatArray:
    """The samples in the model's order, (n, nu); actuators without a column get zero.

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
    model: Any,
    control: TimeSeries,
    settings: Mapping[str, SignalSettings],
    *,
    stamping: Stamping,
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
    timestep = float(model.opt.timestep)
    steps = int(np.floor((control.times[-1] - control.times[0]) / timestep + 1e-6))
    begin = timestep * np.arange(steps)
    around = np.full(int(model.nu), -0.5 * timestep)
    offsets = _begin_offsets(model) if stamping == "true" else around
    methods = control.interpolation or ("linear",) * control.data.shape[1]
    names = [actuator_names(model)[i] for i in input_actuators(model)]
    values = np.zeros((steps, int(model.nu)))
    for i, column in enumerate(_column_of_input(model, control)):
        if column < 0:
            continue
        held = methods[column] in ("zoh", "zero_order_hold")
        relative = control.times - control.times[0]
        signal = SignalIntegral(relative, control.data[:, column], held=held)
        change = settings.get(names[i], UNCHANGED)
        mean = signal.mean(begin + offsets[i] - change.delay, timestep)
        values[:, i] = change.gain * mean + change.bias
    return StepControls(_checked(control.times[0] + begin, control, model), values)


def _checked(times: FloatArray, control: TimeSeries, model: Any) -> FloatArray:
    if not len(times):
        raise SignalError(
            f"the controls span {control.times[-1] - control.times[0]:.3g} s, less than one time "
            f"step of {model.opt.timestep:g} s"
        )
    return times


def _column_of_input(model: Any, control: TimeSeries) -> npt.NDArray[np.intp]:
    """For each input of the model the column of the data, -1 for none."""
    if control.signal_mapping is None:
        if control.data.ndim != 2 or control.data.shape[1] != model.nu:
            raise SignalError(
                f"controls without names need the model's {model.nu} columns, got data of shape "
                f"{control.data.shape}"
            )
        return np.arange(model.nu, dtype=np.intp)
    known = control_mapping(model)
    columns = np.full(int(model.nu), -1, dtype=np.intp)
    for name, (_, given) in control.signal_mapping.items():
        columns[known[control_key(known, name)][1]] = given
    return columns


def _begin_offsets(model: Any) -> FloatArray:
    """When a step's force acts relative to the step's instant, per input: see control.py."""
    offsets = np.zeros(int(model.nu))
    if is_semi_implicit(model):
        stateless = np.asarray(model.actuator_dyntype) == mujoco.mjtDyn.mjDYN_NONE
        offsets[stateless[input_actuators(model)]] = -0.5 * float(model.opt.timestep)
    return offsets
