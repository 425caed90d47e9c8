# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Muscles: force by length and velocity, and activation, with their derivatives.

See MuJoCo's documentation, Modeling, "Muscles", and mju_muscleGain, mju_muscleBias and
mju_muscleDynamics.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.compiled import compiled, compiled_apart
from sysid_ros.engine.elements import n_actuators

# Places in a curve, as MuJoCo has them among its parameters, then the lengths that range is at.
_RANGE, _LMIN, _LMAX, _VMAX, _FPMAX, _FVMAX, _LENGTHS = 0, 4, 5, 6, 7, 8, 9
_PEAK, _SCALE = 2, 3
N_CURVE = 11

_TINY = 1e-15  # mjMINVAL
_GAIN, _BIAS = int(mujoco.mjtGain.mjGAIN_MUSCLE), int(mujoco.mjtBias.mjBIAS_MUSCLE)
MUSCLE = int(mujoco.mjtDyn.mjDYN_MUSCLE)


def muscles(model: mujoco.MjModel) -> BoolArray:
    """Mark the actuators whose gain and whose bias is a muscle's, (nu, 2)."""
    gain = np.asarray(model.actuator_gaintype) == _GAIN
    return np.stack([gain, np.asarray(model.actuator_biastype) == _BIAS], axis=1)


def muscle_curves(model: mujoco.MjModel) -> FloatArray:
    """The curves of each actuator's gain and bias, (nu, 2, N_CURVE); zero where it has none."""
    curves = np.zeros((n_actuators(model), 2, N_CURVE))
    marked = muscles(model)
    for side, values in enumerate((model.actuator_gainprm, model.actuator_biasprm)):
        own = marked[:, side]
        curves[own, side, :_LENGTHS] = np.asarray(values)[own, :_LENGTHS]
        curves[own, side, _LENGTHS:] = np.reshape(model.actuator_lengthrange, (-1, 2))[own]
    curves[:, :, [_PEAK, _SCALE]] = 0.0
    return curves


def muscle_peaks(model: mujoco.MjModel) -> FloatArray:
    """The largest active force of each muscle, as of its gain and of its bias, (nu, 2), N."""
    peaks = np.zeros((n_actuators(model), 2))
    for side, values in enumerate((model.actuator_gainprm, model.actuator_biasprm)):
        given = np.asarray(values)[:, _PEAK]
        scaled = np.asarray(values)[:, _SCALE] / np.maximum(_TINY, np.ravel(model.actuator_acc0))
        peaks[:, side] = np.where(given < 0.0, scaled, given)
    return peaks * muscles(model)


def activation_times(model: mujoco.MjModel) -> FloatArray:
    """Times of activation and deactivation and the width between them of muscles, (nu, 3)."""
    muscular = np.asarray(model.actuator_dyntype) == MUSCLE
    times: FloatArray = np.asarray(model.actuator_dynprm)[:, :3] * muscular[:, None]
    return np.ascontiguousarray(times)


def unfollowed_muscle(model: mujoco.MjModel, other: mujoco.MjModel) -> str | None:
    """Return what another model of the same size has of a muscle that would not be noticed."""
    if np.any(muscle_curves(model) != muscle_curves(other)):
        return "the curve of a muscle"
    if np.any(activation_times(model)[:, 1:] != activation_times(other)[:, 1:]):
        return "the deactivation of a muscle"
    return None


@compiled
def _normalized(curve: FloatArray, length: float) -> tuple[float, float]:
    """The length in optimal ones, and the optimal length."""
    low, high = curve[_LENGTHS], curve[_LENGTHS + 1]
    optimal = (high - low) / max(_TINY, curve[_RANGE + 1] - curve[_RANGE])
    optimal = max(_TINY, optimal)
    return curve[_RANGE] + (length - low) / optimal, optimal


@compiled
def _by_length(curve: FloatArray, x: float) -> tuple[float, float]:
    """The active force by normalized length, and its slope."""
    low, high = curve[_LMIN], curve[_LMAX]
    if x < low or x > high:
        return 0.0, 0.0
    a, b = 0.5 * (low + 1.0), 0.5 * (1.0 + high)
    if x <= a or x > b:
        end, width = (low, a - low) if x <= a else (high, b - high)
        width = max(_TINY, width) if x <= a else min(-_TINY, width)
        y = (x - end) / width
        return 0.5 * y * y, y / width
    width = max(_TINY, 1.0 - a if x <= 1.0 else b - 1.0)
    y = (x - 1.0) / width
    return 1.0 - 0.5 * y * y, -y / width


@compiled
def _by_velocity(curve: FloatArray, v: float) -> tuple[float, float, float]:
    """The active force by normalized velocity, its slope and that of the slope."""
    most = curve[_FVMAX]
    y = most - 1.0
    if v <= -1.0:
        return 0.0, 0.0, 0.0
    if v <= 0.0:
        return (v + 1.0) * (v + 1.0), 2.0 * (v + 1.0), 2.0
    if v <= y:
        width = max(_TINY, y)
        return most - (y - v) * (y - v) / width, 2.0 * (y - v) / width, -2.0 / width
    return most, 0.0, 0.0


@compiled_apart
def muscle_gain(
    curve: FloatArray, length: float, velocity: float
) -> tuple[float, float, float, float, float]:
    """The active force of a muscle of unit strength per activation, pulling.

    Returns:
      The force; its slopes by length and velocity; the slopes of the latter by both.
    """
    x, optimal = _normalized(curve, length)
    slow = max(_TINY, optimal * curve[_VMAX])
    by_x, slope_x = _by_length(curve, x)
    by_v, slope_v, bend_v = _by_velocity(curve, velocity / slow)
    return (
        -by_x * by_v, -slope_x * by_v / optimal, -by_x * slope_v / slow,
        -slope_x * slope_v / (optimal * slow), -by_x * bend_v / (slow * slow),
    )  # fmt: skip


@compiled_apart
def muscle_bias(curve: FloatArray, length: float) -> tuple[float, float]:
    """The passive force of a muscle of unit strength, and its slope by length."""
    x, optimal = _normalized(curve, length)
    width = max(_TINY, 0.5 * (1.0 + curve[_LMAX]) - 1.0)
    y = (x - 1.0) / width
    if y <= 0.0:
        return 0.0, 0.0
    if y <= 1.0:
        return -0.5 * curve[_FPMAX] * y * y, -curve[_FPMAX] * y / (width * optimal)
    return -curve[_FPMAX] * (y - 0.5), -curve[_FPMAX] / (width * optimal)


@compiled_apart
def muscle_rate(
    times: FloatArray, quick: float, control: float, activation: float
) -> tuple[float, float, float, float]:
    """The rate at which a muscle's activation follows its excitation.

    Args:
      times: Its :func:`activation_times`, (3,).
      quick: The first of them, s.
      control: Its excitation, at most 0 to 1 count.
      activation: Its activation.

    Returns:
      The rate, 1/s, and its slopes by activation, excitation and ``quick``.
    """
    given = min(max(control, 0.0), 1.0)
    excess = given - activation
    stretch = 0.5 + 1.5 * min(max(activation, 0.0), 1.0)
    by_activation = 1.5 if 0.0 <= activation <= 1.0 else 0.0
    up, down, width = quick * stretch, times[1] / stretch, times[2]
    share, slope = 1.0 if excess > 0.0 else 0.0, 0.0
    if width >= _TINY:
        x = min(max(excess / width + 0.5, 0.0), 1.0)
        share = x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
        slope = 30.0 * x * x * (x - 1.0) * (x - 1.0) / width
    time = max(_TINY, down + (up - down) * share)
    by_excess = (up - down) * slope
    by_activation *= quick * share - (1.0 - share) * down / stretch
    loss = excess / (time * time)
    return (
        excess / time, -1.0 / time - loss * (by_activation - by_excess),
        (1.0 / time - loss * by_excess) * (1.0 if given == control else 0.0),
        -loss * stretch * share,
    )  # fmt: skip
