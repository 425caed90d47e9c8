# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One window between unknowns and residual: its start, its controls, its predictions."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.parameters import deviated
from sysid_ros.engine.residuals import SignalSettings
from sysid_ros.engine.signals import (
    RowWeights,
    control_names,
    cubic_weights,
    input_actuators,
    is_semi_implicit,
)
from sysid_ros.engine.simulation import (
    Candidate,
    ResidualSlope,
    Simulation,
    StepControls,
    TurnedSlope,
    step_means,
)
from sysid_ros.engine.windows.cutting import SequenceData, Window
from sysid_ros.engine.windows.orientations import OrientationSamples
from sysid_ros.engine.windows.starts import StartReader

START_SAMPLE = 1e-9  # s: a sample this close to a window's start is at its start
_FILTERS = (int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT))


class WindowSimulation:
    """Prepares the rollouts of one window and turns them into residuals.

    Everything that does not depend on the unknowns is computed once; controls and interpolation
    weights are kept until a delay changes.

    Args:
      sequence: The recording that the window is a part of.
      window: The window.
      reader: Reads the start off the measurements.
      model: A compiled model with the sizes and the timestep of all candidates.
      estimate_start: Whether the start is an unknown.
    """

    def __init__(
        self,
        sequence: SequenceData,
        window: Window,
        reader: StartReader,
        model: mujoco.MjModel,
        *,
        estimate_start: bool,
    ) -> None:
        self.sequence = sequence
        self.window = window
        self._reader = reader
        self._velocity_offset = -0.5 * model.opt.timestep if is_semi_implicit(model) else 0.0
        self._start_cache: tuple[tuple[SignalSettings, ...], FloatArray] | None = None
        self.spread = reader.spread() if estimate_start else np.zeros(0)
        self.model = model
        self._columns = np.array([signal.column for signal in sequence.signals])
        self._orientations = _orientation_samples(sequence, window)
        # A start that is a measured sample agrees with it by construction, which says nothing.
        at_start = np.array([signal.sensor in reader.sensors for signal in sequence.signals])
        self._is_start = (
            at_start[window.samples.signals]
            & (window.samples.times < START_SAMPLE)
            & (not estimate_start)
        )
        self._control_cache: tuple[tuple[SignalSettings, ...], StepControls] | None = None
        self._weight_cache: tuple[tuple[float, ...], RowWeights] | None = None
        self._mean_cache: tuple[tuple[float, ...], tuple[FloatArray, FloatArray]] | None = None
        self._controls = control_names(model)
        self._driven = np.array([integral is not None for integral in sequence.controls])
        self._filtered = _filtered_inputs(model)

    @property
    def n_start(self) -> int:
        """Unknowns of the start: 2 nv + na where it is estimated, otherwise 0."""
        return int(self.spread.size)

    @property
    def start_sensors(self) -> tuple[str, ...]:
        """Position sensors whose settings move the measured start."""
        return self._reader.sensors

    @property
    def n_samples(self) -> int:
        """Measured values compared in this window."""
        return int(np.count_nonzero(~self._is_start))

    def sigma(self, noise: Mapping[str, float]) -> FloatArray:
        """The noise level of every sample, shape (m,); infinite for what the start was read off."""
        levels = np.array([noise[signal.name] for signal in self.sequence.signals])
        sigma: FloatArray = levels[self.window.samples.signals]
        sigma[self._is_start] = np.inf
        return sigma

    @property
    def bytes_per_rollout(self) -> int:
        """Size of one rollout's sensor data."""
        return 8 * self.window.steps * int(self.model.nsensordata)

    def squares(self, residual: FloatArray) -> dict[str, tuple[float, int]]:
        """Per signal the sum of squared residuals (its unit squared) and their number."""
        signals = self.window.samples.signals[~self._is_start]
        sums = np.bincount(
            signals, residual[~self._is_start] ** 2, minlength=len(self.sequence.signals)
        )
        counts = np.bincount(signals, minlength=len(self.sequence.signals))
        names = [signal.name for signal in self.sequence.signals]
        return {
            name: (float(total), int(count))
            for name, total, count in zip(names, sums, counts, strict=True)
        }

    def job(self, candidate: Candidate, deviation: FloatArray) -> Simulation:
        """The rollout of this window.

        Args:
          candidate: What to simulate.
          deviation: Tangent-space difference from the measured start in (qpos, qvel, act), shape
            (n_start,).
        """
        return Simulation(
            candidate.model, self.start(candidate, deviation), self.controls(candidate)
        )

    def residual(self, candidate: Candidate, data: FloatArray) -> FloatArray:
        """Predicted minus measured.

        Args:
          candidate: What was simulated.
          data: Sensor data of one or several rollouts, shape (..., steps, nsensordata).

        Returns:
          Shape (..., m), in the signals' units.
        """
        samples = self.window.samples
        settings = [candidate.settings(signal.sensor) for signal in self.sequence.signals]
        weights = self._weights(tuple(setting.delay for setting in settings))
        predicted = weights.apply(data, self._columns[samples.signals])
        gain = np.array([setting.gain for setting in settings])[samples.signals]
        bias = np.array([setting.bias for setting in settings])[samples.signals]
        residual: FloatArray = gain * predicted + bias - samples.values
        if self._orientations.samples.size:
            turned = self._orientations.residual(data, weights)
            residual[..., self._orientations.samples] = turned
        return residual

    @property
    def readings(self) -> IndexArray:
        """Columns of a rollout's sensor data that are compared, each once, sorted."""
        quaternions = self._orientations.columns[:, np.newaxis] + np.arange(4)
        return np.unique(np.concatenate([self._columns, quaternions.ravel()]))

    def reads_alike(self, candidate: Candidate, other: Candidate) -> bool:
        """Return whether equal sensor data gives equal residuals."""
        return candidate.signals == other.signals

    def linearized(
        self, candidate: Candidate, data: FloatArray
    ) -> tuple[FloatArray, ResidualSlope]:
        """Return the residual and its derivative by sensor data."""
        samples = self.window.samples
        settings = [candidate.settings(signal.sensor) for signal in self.sequence.signals]
        weights = self._weights(tuple(setting.delay for setting in settings))
        gain = np.array([setting.gain for setting in settings])[samples.signals]
        columns, found = self._columns[samples.signals], self._orientations
        turned = None
        if found.samples.size:
            gain[found.samples] = 1.0
            by_quaternion = found.slope(data, weights)
            turned = TurnedSlope(found.samples, found.columns, by_quaternion)
        slope = ResidualSlope(weights.rows, gain[:, None] * weights.weights, columns, turned)
        return self.residual(candidate, data), slope

    def start(self, candidate: Candidate, deviation: FloatArray) -> FloatArray:
        """The full-physics state in which the window starts; see :meth:`job`."""
        state = self._measured_start(candidate)
        return deviated(self.model, state, deviation) if deviation.size else state.copy()

    def _measured_start(self, candidate: Candidate) -> FloatArray:
        """Return the start as measured; filtered actuators hold the command then in force."""
        sensors = tuple(candidate.settings(name) for name in self._reader.sensors)
        if self._start_cache is None or self._start_cache[0] != sensors:
            state = self._reader.state(self.window.start, self._velocity_offset, sensors)
            self._start_cache = (sensors, state)
        measured: FloatArray = self._start_cache[1]
        if not self._filtered:
            return measured
        filtered: FloatArray = measured.copy()
        first = self.controls(candidate).values[0]
        for control, address in self._filtered:
            filtered[address] = first[control]
        return filtered

    def controls(self, candidate: Candidate) -> StepControls:
        """The controls of every step."""
        settings = tuple(candidate.settings(name) for name in self._controls)
        if self._control_cache is None or self._control_cache[0] != settings:
            times, means = self._mean_commands(tuple(one.delay for one in settings))
            gain = np.array([one.gain for one in settings])
            bias = np.array([one.bias for one in settings])
            values = np.where(self._driven, gain * means + bias, 0.0)
            self._control_cache = (settings, StepControls(times, values))
        return self._control_cache[1]

    def _mean_commands(self, delays: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
        """Return the steps' instants and the commands' means over them, without gain and bias."""
        if self._mean_cache is None or self._mean_cache[0] != delays:
            timestep = float(self.model.opt.timestep)
            times = self.window.start + timestep * np.arange(self.window.steps, dtype=np.float64)
            late = {
                name: SignalSettings(delay=delay)
                for name, delay in zip(self._controls, delays, strict=True)
            }
            means = step_means(self.model, self.sequence.controls, times, late)
            self._mean_cache = (delays, (times, means))
        return self._mean_cache[1]

    def _weights(self, delays: tuple[float, ...]) -> RowWeights:
        if self._weight_cache is None or self._weight_cache[0] != delays:
            samples = self.window.samples
            offsets = np.array([signal.offset for signal in self.sequence.signals])
            shift = (offsets + np.array(delays))[samples.signals]
            position = (samples.times - shift) / float(self.model.opt.timestep)
            self._weight_cache = (delays, cubic_weights(position, self.window.steps))
        return self._weight_cache[1]


def _filtered_inputs(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """List (input, address in the state) of the actuators that low-pass their command."""
    first = 1 + int(model.nq) + int(model.nv)
    return [
        (i, first + int(model.actuator_actadr[actuator]))
        for i, actuator in enumerate(input_actuators(model))
        if int(model.actuator_dyntype[actuator]) in _FILTERS
    ]


def _orientation_samples(sequence: SequenceData, window: Window) -> OrientationSamples:
    """The window's samples that belong to orientations, with what was measured."""
    signals = [sequence.signals[i] for i in window.samples.signals]
    chosen = np.array([k for k, s in enumerate(signals) if s.rotation is not None], dtype=np.intp)
    mapping = sequence.sensordata.signal_mapping or {}
    rows = window.samples.rows[chosen]
    measured = [
        sequence.sensordata.data[row, mapping[signals[k].sensor][1]]
        for k, row in zip(chosen, rows, strict=True)
    ]
    return OrientationSamples(
        chosen,
        np.array([signals[k].column for k in chosen], dtype=np.intp),
        np.array([signals[k].rotation for k in chosen], dtype=np.intp),
        np.array(measured).reshape(-1, 4),
    )
