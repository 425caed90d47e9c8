# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The sawtooth that held references make of a servo's torque, and rows that allow for it.

A servo whose reference jumps every few milliseconds pushes hardest just behind each jump and least
just before the next. Samples that always meet the same part of this sawtooth have another mean than
the torque that moved the joint, by up to the gain times half a jump; as jumps are proportional to
the velocity, that looks like damping. To first order the sawtooth is the gain times that of the
reference, which is known: its samples less its mean around each of them.

How much of it there is depends on what stamps do not tell: whether a sample was taken just before
or behind a jump, whether a drive interpolates, how far the joint gives way. So its share of the
torque, one by the stamps, is estimated anew for every span (and eliminated, see :func:`reduced`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.measured_torque.torque_signals import force_arm
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings, signal_settings
from sysid_ros.engine.signals import (
    SUFFIXES,
    ModelSequences,
    SignalIntegral,
    SignalType,
    TimeSeries,
    control_names,
    value_at,
)

_SHARE_SPREAD = 3.0  # of the sawtooth that stamps tell; a sample just before a jump has -1 of it
_SAME = 1e-6  # s, within which a sample meets a jump


def without_ripple(
    model: mujoco.MjModel,
    recordings: Sequence[Recording],
    groups: Sequence[ModelSequences],
    params: ParameterDict,
) -> list[Recording]:
    """Recordings whose torque lacks the sawtooth that held references make of it.

    Args:
      model: The robot's, with the gains of its servos.
      recordings: Motion and torque.
      groups: The sequences that they come from, with the references.
      params: With the delays, gains and biases of references.
    """
    found, recorded = [], {one.name: one for one in recordings}
    for group in groups:
        settings = signal_settings(params.for_robot(group.robot))
        for name, control in zip(group.sequence_name, group.control, strict=True):
            own = recorded[name]
            ripple = _ripple(model, own.times, control, settings)
            found.append(replace(own, torque=own.torque - ripple))
    return found


def reduced(sums: FloatArray, noise: float) -> FloatArray:
    """Sums of rows (R, tau) for the best share of the sawtooth in each span.

    Args:
      sums: Of rows (R, tau without the sawtooth, tau as measured), (spans, s + 2, s + 2).
      noise: Standard deviation of the mean of a row's torque.

    Returns:
      Shape (spans, s + 1, s + 1).
    """
    change = np.eye(sums.shape[-1])
    change[-2, -1] = -1.0  # the sawtooth itself
    sums = change.T @ sums @ change
    size = sums[:, -1, -1] + (noise / _SHARE_SPREAD) ** 2
    own = sums[:, :-1, -1]
    found: FloatArray = sums[:, :-1, :-1] - own[:, :, None] * own[:, None, :] / size[:, None, None]
    return found


def _ripple(
    model: mujoco.MjModel,
    times: FloatArray,
    control: TimeSeries,
    settings: Mapping[str, SignalSettings],
) -> FloatArray:
    """The sawtooth at some instants, (n, nv) N m; zero where references are not held."""
    found: FloatArray = np.zeros((len(times), model.nv))
    mapping = control.signal_mapping or {}
    width = float(np.median(np.diff(times)))
    for name in control_names(model):
        key = next((n for n in (name, name + SUFFIXES[SignalType.MjCtrl]) if n in mapping), None)
        actuator = model.actuator(name).id
        plain = int(model.actuator_dyntype[actuator]) == int(mujoco.mjtDyn.mjDYN_NONE)
        if key is None or not plain or not control.holds(int(mapping[key][1][0])):
            continue
        given, column = settings.get(name, UNCHANGED), int(mapping[key][1][0])
        known = np.isfinite(control.data[:, column])
        series = control.times[known] + given.delay, given.gain * control.data[known, column]
        sharp, even = (_beyond_mean(*series, times, width, held=held) for held in (True, False))
        gain = float(model.actuator_gainprm[actuator, 0])
        found += (gain * (sharp - even))[:, None] * force_arm(model, actuator)
    return found


def _beyond_mean(
    stamps: FloatArray, values: FloatArray, times: FloatArray, width: float, *, held: bool
) -> FloatArray:
    """A signal at some instants less its mean around each of them, (n,)."""
    mean = SignalIntegral(stamps, values, held=held).mean(times - 0.5 * width, width)
    return value_at(stamps, values, times + _SAME, held=held) - mean
