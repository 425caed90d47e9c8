# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cutting recordings into windows that are simulated from a start of their own.

Short windows keep the simulation near the measurements (multiple shooting; BAM's reset period):
an error in the start or an unmodelled push is forgotten at the next window. Long windows say more
about slow effects. Within a fit windows never overlap, as overlap counts data twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.signals import SignalIntegral, SignalType, TimeSeries, row_offset
from sysid_ros.engine.windows.orientations import ROTATION, is_orientation
from sysid_ros.errors import DataError
from sysid_ros.time_intervals import complement

MIN_STEPS = 4  # the interpolating cubic needs four rows
_UNSETTLED = 0.5  # of a window, at most
_POSES = (int(mujoco.mjtSensor.mjSENS_FRAMEPOS), int(mujoco.mjtSensor.mjSENS_FRAMEQUAT))
BEYOND = 2  # rows after the last sample, so that the cubic there is centred


@dataclass(frozen=True)
class Samples:
    """The measurements inside one window, flattened over signals."""

    times: FloatArray  # instants relative to the window's start, shape (m,), s
    values: FloatArray  # measured values, shape (m,)
    # which signal each sample belongs to, an index into :attr:`SequenceData.signals`, shape (m,)
    signals: IndexArray
    rows: IndexArray  # where each sample stands in the sequence's measurements, shape (m,)


@dataclass(frozen=True)
class Window:
    """One stretch of one sequence."""

    start: float  # first instant, s on the sequence's axis
    steps: int  # simulation steps that cover the window
    samples: Samples  # what was measured inside

    def opening(self, steps: int, timestep: float) -> Window:
        """The first steps of the window, with what was measured along them; all of a short one."""
        if steps >= self.steps:
            return self
        steps = max(MIN_STEPS, steps)
        within = self.samples.times <= (steps - BEYOND) * timestep
        samples = Samples(*(getattr(self.samples, each.name)[within] for each in fields(Samples)))
        return Window(self.start, steps, samples) if within.any() else self

    def at_step(self, timestep: float) -> Window:
        """The window with as many steps of another length as its samples need."""
        return replace(self, steps=_steps(self.samples.times, timestep))


@dataclass(frozen=True)
class SignalColumn:
    """One scalar measured channel and where the simulation shows it."""

    name: str  # sensor name, with ``[i]`` for sensors of several components
    sensor: str  # the sensor's own name
    column: int  # column in the rollout's sensor data
    measured_column: int  # column in the sequence's measurements
    offset: float  # when the rollout's rows are true relative to the step, s
    # which component of an orientation's rotation vector; ``None`` for plain numbers. ``column`` is
    # then the first of the quaternion's four
    rotation: int | None = None
    component: int = 0  # of a sensor of plain numbers


@dataclass(frozen=True)
class SequenceData:
    """One recorded sequence, ready to be compared with simulations."""

    name: str  # the sequence's name
    number: int  # its place among the sequences of its model
    signals: tuple[SignalColumn, ...]  # the measured channels
    # one integral per actuator; ``None`` where an actuator is not driven
    controls: tuple[SignalIntegral | None, ...]
    sensordata: TimeSeries  # the measurements, NaN where nothing was measured
    base: FloatArray  # state for everything that is not measured, (nstate,)
    windows: tuple[Window, ...]  # the stretches to simulate


def signal_columns(model: mujoco.MjModel, sensordata: TimeSeries) -> tuple[SignalColumn, ...]:
    """Pair every measured channel with the model's sensor of the same name.

    Measurements are as from :func:`sysid_ros.engine.windows.orientations.with_rotation_vectors`.

    Raises:
      DataError: A measured signal names no sensor of the model, or has another width.
    """
    columns = []
    mapping = sensordata.signal_mapping or {}
    for name, (kind, measured) in mapping.items():
        if kind is SignalType.CustomObs and name.endswith(ROTATION):
            continue
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
        if sensor < 0:
            raise DataError(f"measured signal {name!r} names no sensor of the model")
        width, address = int(model.sensor_dim[sensor]), int(model.sensor_adr[sensor])
        if len(measured) != width:
            raise DataError(
                f"sensor {name!r} has {width} components, the measurement {len(measured)}"
            )
        offset = row_offset(model, sensor)
        if is_orientation(model, sensor):
            rotations = mapping[name + ROTATION][1]
            columns += [
                SignalColumn(f"{name}[{i}]", name, address, int(rotations[i]), offset, i)
                for i in range(3)
            ]
            continue
        for i, column in enumerate(measured):
            label = name if width == 1 else f"{name}[{i}]"
            place = address + i, int(column)
            columns.append(SignalColumn(label, name, *place, offset, component=i))
    return tuple(columns)


def window_bounds(
    span: tuple[float, float],
    length: float | None,
    overlap: float = 0.0,
    gaps: Sequence[tuple[float, float]] = (),
) -> list[tuple[float, float]]:
    """Half-open windows that tile a span without crossing a gap.

    Args:
      span: First and last usable instant, s.
      length: Window length, s; ``None`` for one window per uninterrupted stretch.
      overlap: Fraction by which consecutive windows overlap, in [0, 1).
      gaps: Stretches in which nothing is known.

    Returns:
      Windows of equal length. A stretch's remainder makes a shorter window if it is at least half
      a length, a stretch shorter than a window makes one of its own, and with ``length`` ``None``
      every stretch is one window.
    """
    bounds: list[tuple[float, float]] = []
    for begin, end in complement(gaps, *span):
        if length is None:
            bounds.append((begin, end))
            continue
        if end - begin < length:
            bounds.append((begin, end))
            continue
        stride = length * (1.0 - overlap)
        count = max(0, math.floor((end - begin - length) / stride + 1e-9) + 1)
        bounds += [(begin + k * stride, begin + k * stride + length) for k in range(count)]
        rest = begin + count * stride if overlap == 0.0 else end
        if end - rest >= 0.5 * length:
            bounds.append((rest, end))
    return bounds


def cut(
    model: mujoco.MjModel,
    sensordata: TimeSeries,
    signals: Sequence[SignalColumn],
    bounds: Sequence[tuple[float, float]],
    settling: Sequence[float] | None = None,
) -> tuple[Window, ...]:
    """Collect the samples of each window.

    A window's samples are those in ``[start, end)``; one without any is dropped. Of a window that
    takes time to settle, which is half of it at most, only poses count until then: they tell where
    it starts, and settling moves them by no more than they err.

    Args:
      model: The compiled model; its timestep sets the number of steps.
      sensordata: The measurements, NaN where nothing was measured.
      signals: The channels to compare.
      bounds: The windows, s.
      settling: Of each window, s; none if left out.

    Returns:
      The windows that contain samples.
    """
    h = float(model.opt.timestep)
    columns = [signal.measured_column for signal in signals]
    kinds = [int(model.sensor_type[model.sensor(signal.sensor).id]) for signal in signals]
    poses = np.array([kind in _POSES for kind in kinds], dtype=np.bool_)
    windows = []
    for (begin, end), unsettled in zip(bounds, settling or [0.0] * len(bounds), strict=True):
        low, high = np.searchsorted(sensordata.times, [begin - 1e-9, end - 1e-9])
        block = sensordata.data[low:high][:, columns]
        settled = begin + min(unsettled, _UNSETTLED * (end - begin)) - 1e-9
        counts = poses | (sensordata.times[low:high, np.newaxis] >= settled)
        row, signal = np.nonzero(np.isfinite(block) & counts)
        if row.size == 0:
            continue
        samples = Samples(
            sensordata.times[low:high][row] - begin, block[row, signal], signal, low + row
        )
        windows.append(Window(begin, _steps(samples.times, h), samples))
    return tuple(windows)


def _steps(times: FloatArray, timestep: float) -> int:
    """The simulation steps that cover samples at some times from the start, (m,) s."""
    return max(MIN_STEPS, math.ceil(float(times.max()) / timestep) + BEYOND)
