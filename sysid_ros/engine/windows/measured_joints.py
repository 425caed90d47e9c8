# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The measured motion of scalar joints as functions of time, read off a recording once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakValueDictionary

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import (
    MIN_SAMPLES,
    CubicSlope,
    Line,
    Piecewise,
    TimeSeries,
    densities,
    piecewise,
    summed_joints,
    zero_phase,
    zero_phase_gain,
)

_POSITION = int(mujoco.mjtSensor.mjSENS_JOINTPOS)
_LENGTH = int(mujoco.mjtSensor.mjSENS_TENDONPOS)
_VELOCITY = int(mujoco.mjtSensor.mjSENS_JOINTVEL)
_SEGMENT = 32  # samples of a spectrum, at least
_QUIET = 0.05  # of a velocity, up to which its noise does not matter
_ABOVE = 3.0  # times the noise's density, from which a density is motion: noise strays by as much
_MOVES = 0.25  # of the largest mean square of a velocity in seconds, from which it counts
_LOWER = 25  # cut-offs, four an octave


@dataclass(frozen=True)
class MeasuredJoint:
    """One scalar joint's measured motion as functions of time."""

    sensor: str  # the position sensor it was read from; that of its velocity where there is none
    position: Piecewise  # rad or m
    velocity: Piecewise  # rad/s or m/s
    velocity_spread: float  # how much the velocity varies, the scale of an uninformed prior
    # the sensor its velocity was read from; that of the position where it is derived
    rate_sensor: str


# What a fit reads off its recordings, as its alternatives and the scores read the same.
_Read = dict[tuple[str, str | None, float], MeasuredJoint]  # by sensors and filter
_READ: WeakKeyDictionary[TimeSeries, _Read] = WeakKeyDictionary()
# The same by the samples: a copy of a series in which one signal is changed has all others.
_ALIKE: WeakValueDictionary[bytes, MeasuredJoint] = WeakValueDictionary()


def measured_joints(
    model: mujoco.MjModel, sensordata: TimeSeries, cutoff: float, begun: FloatArray | None = None
) -> dict[int, MeasuredJoint]:
    """The motion of every scalar joint whose position or velocity is measured, by joint id.

    Where nothing tells a position, as of a wheel, it is what the velocity adds to its first one.

    Args:
      model: The compiled model that the sensor names refer to.
      sensordata: The measurements; NaN where a signal was not measured.
      cutoff: Of the zero-phase low-pass in front of the derivative, Hz.
      begun: The qpos that the recording begins with, (nq,); the model's own if left out.
    """
    begun = model.qpos0 if begun is None else begun
    positions: dict[int, str] = {}
    velocities: dict[int, str] = {}
    for name, (_, columns) in (sensordata.signal_mapping or {}).items():
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
        if sensor < 0 or len(columns) != 1:
            continue
        kind, joint = int(model.sensor_type[sensor]), int(model.sensor_objid[sensor])
        own = {_POSITION: positions, _VELOCITY: velocities}.get(kind)
        known = np.count_nonzero(np.isfinite(sensordata.data[:, columns[0]]))
        if own is not None and known >= MIN_SAMPLES:
            own.setdefault(joint, name)
    read = _READ.setdefault(sensordata, {})
    joints = {}
    for joint, position in positions.items():
        key = position, velocities.get(joint), cutoff
        if key not in read:
            read[key] = _measured_joint(sensordata, *key)
        joints[joint] = read[key]
    joints |= _behind(model, sensordata, cutoff, joints)
    for joint, velocity in velocities.items():
        if joint not in joints:
            first = float(begun[model.jnt_qposadr[joint]])
            joints[joint] = _integrated(velocity, *sensordata.known(velocity), first, cutoff)
    return joints


def _integrated(
    sensor: str, times: FloatArray, rates: FloatArray, begun: float, cutoff: float
) -> MeasuredJoint:
    """Read a joint's motion off samples of its velocity (n, 1), from where it began."""
    values = despiked(rates[:, 0])
    turned = begun + scipy.integrate.cumulative_trapezoid(values, times, initial=0.0)
    position, velocity = (piecewise(times, part, cutoff, Line) for part in (turned, values))
    return MeasuredJoint(sensor, position, velocity, float(np.std(values)), sensor)


def _behind(
    model: mujoco.MjModel, sensordata: TimeSeries, cutoff: float, known: dict[int, MeasuredJoint]
) -> dict[int, MeasuredJoint]:
    """Joints of which a sum with measured ones is measured, as by an encoder behind a spring."""
    found: dict[int, MeasuredJoint] = {}
    for name in sensordata.signal_mapping or {}:
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
        if sensor < 0 or int(model.sensor_type[sensor]) != _LENGTH:
            continue
        summed = summed_joints(model, int(model.sensor_objid[sensor]))
        rest = [joint for joint in summed if joint not in known]
        times, values = sensordata.known(name)
        if len(rest) == 1 < len(summed) and rest[0] not in found and len(times) >= MIN_SAMPLES:
            others = [known[joint].position(times) for joint in summed if joint in known]
            deflection = values - np.sum(others, axis=0)[:, None]
            found[rest[0]] = _read_off(name, None, cutoff, (times, deflection), None)
    return found


def _measured_joint(
    sensordata: TimeSeries, sensor: str, velocity: str | None, cutoff: float
) -> MeasuredJoint:
    places = sensordata.known(sensor)
    rates = None if velocity is None else sensordata.known(velocity)
    samples = digest(f"{sensor} {velocity} {cutoff!r}", *places, *(rates or ()))
    alike = _ALIKE.get(samples)
    if alike is None:
        alike = _ALIKE[samples] = _read_off(sensor, velocity, cutoff, places, rates)
    return alike


def digest(name: str, *samples: FloatArray) -> bytes:
    """A short name of some samples, and of what is read off them."""
    found = hashlib.blake2b(name.encode(), digest_size=16)
    for part in samples:
        found.update(f"{part.shape}".encode())
        found.update(part.tobytes())
    return found.digest()


def _read_off(
    sensor: str,
    velocity: str | None,
    cutoff: float,
    places: tuple[FloatArray, FloatArray],
    rates: tuple[FloatArray, FloatArray] | None,
) -> MeasuredJoint:
    """Read a joint's motion off samples of its position, and of its velocity if that is known."""
    times, values = places[0], despiked(places[1][:, 0])
    position = piecewise(times, values, cutoff, Line)
    if rates is None:
        slope = piecewise(times, values, cutoff, lambda t, x: filtered_velocity(t, x, cutoff))
    else:
        slope = piecewise(rates[0], rates[1][:, 0], cutoff, Line)
    return MeasuredJoint(sensor, position, slope, float(np.std(slope(times))), velocity or sensor)


def despiked(values: FloatArray) -> FloatArray:
    """Replace single wild samples, (n,), which would start a window far from where the robot was.

    A sample is wild if it is further from the median of its five neighbours than ten times the
    usual distance (Hampel's identifier). Where a signal rises or falls it is its own median, and
    that says nothing about what is usual.

    Returns:
      Shape (n,).
    """
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, 2, mode="reflect"), 5)
    median = np.median(around, axis=1)
    distance = np.abs(values - median)
    moved = distance[distance > 0.0]
    if not moved.size:
        return values
    return np.where(distance > 10.0 * 1.4826 * np.median(moved), median, values)


def filtered_velocity(times: FloatArray, positions: FloatArray, cutoff: float) -> CubicSlope:
    """Derivative of the position after a zero-phase second-order Butterworth low-pass.

    The samples are put on an even grid of their median interval first, because the filter needs
    one.

    Args:
      times: Instants, shape (n,), s, n at least four.
      positions: Samples, shape (n,).
      cutoff: -3 dB frequency of one pass, Hz, at most: lower where noise would be much of the
        velocity. Where that is infinite nothing is filtered.

    Returns:
      Velocity as a function of time, unit of position per second.
    """
    interval = float(np.median(np.diff(times)))
    count = max(4, round((times[-1] - times[0]) / interval) + 1)
    grid = np.linspace(times[0], times[-1], count)
    even = np.interp(grid, times, positions)
    relative = quiet_cutoff(even, 1.0 / (grid[1] - grid[0]), cutoff) * 2.0 * (grid[1] - grid[0])
    if relative < 1.0:
        even = zero_phase(even, relative)
    return CubicSlope.of(float(grid[0]), float(grid[1] - grid[0]), even)


def quiet_cutoff(positions: FloatArray, rate: float, most: float) -> float:
    """The cut-off with which the derivative of noisy positions is expected to err least, Hz.

    What a low-pass of gain H takes off the motion and lets through of the noise are (1 - H)^2 and
    H^2 of their densities, times (2 pi f)^2, while the joint moves. The median density of the upper
    third counts as noise.

    Args:
      positions: Even samples, (n,).
      rate: Theirs, Hz.
      most: The cut-off where noise is a twentieth of the velocity or less, Hz.
    """
    length = min(len(positions), max(_SEGMENT, int(4.0 * rate)))
    if length < _SEGMENT or np.isinf(most):
        return most
    frequency, power = densities(positions, rate, length)
    noise = float(np.median(power.mean(axis=0)[2 * len(frequency) // 3 :]))
    weight = (2.0 * np.pi * frequency) ** 2
    passed = zero_phase_gain(frequency / rate, min(2.0 * most / rate, 1.0)) ** 2
    speed = np.maximum(power - noise, 0.0) @ (passed * weight)
    power = power[speed >= _MOVES * speed.max()].mean(axis=0)
    motion = weight * np.where(power > _ABOVE * noise, power - noise, 0.0)

    def errors(cutoff: float) -> tuple[float, float]:
        """The motion that is lost, and the noise that is left."""
        gain = zero_phase_gain(frequency / rate, min(2.0 * cutoff / rate, 1.0))
        return float(np.sum((1.0 - gain) ** 2 * motion)), float(noise * np.sum(gain**2 * weight))

    if errors(most)[1] <= _QUIET**2 * float(motion.sum()):
        return most
    tried = most * 2.0 ** (-0.25 * np.arange(_LOWER))
    return float(min(tried, key=lambda cutoff: sum(errors(float(cutoff)))))
