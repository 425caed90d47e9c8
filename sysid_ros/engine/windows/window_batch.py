# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many windows of one model between unknowns and residuals: starts, controls, predictions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar
from weakref import WeakMethod

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.parameters import all_deviated
from sysid_ros.engine.residuals import SignalSettings
from sysid_ros.engine.signals import (
    JoinedIntegrals,
    RowWeights,
    control_names,
    cubic_weights,
    is_semi_implicit,
    step_offsets,
)
from sysid_ros.engine.simulation import (
    Candidate,
    ResidualSlope,
    TurnedSlope,
    run_slices,
)
from sysid_ros.engine.windows.base_placement import place_bases
from sysid_ros.engine.windows.cutting import SequenceData
from sysid_ros.engine.windows.filtered_inputs import FilteredInput, filtered_inputs
from sysid_ros.engine.windows.integrated_inputs import IntegratedInput, integrated_inputs
from sysid_ros.engine.windows.orientations import OrientationSamples
from sysid_ros.engine.windows.starts import StartReader, undo
from sysid_ros.engine.windows.window_simulation import WindowSimulation

# Settings of signals for which controls, starts and weights are kept: a point's, and those of
# parameters moved from it.
_KEPT = 4

_Result = TypeVar("_Result")


class WindowBatch:
    """The rollouts and residuals of windows, all in arrays of all windows' steps or samples.

    What does not depend on the unknowns is computed once; what depends on a signal's settings is
    kept until they change.

    Args:
      windows: At least one, all of one model; those of a recording in a row.

    Attributes:
      signals: Which signal each sample is of, (m,).
    """

    def __init__(self, windows: Sequence[WindowSimulation]) -> None:
        self.windows = tuple(windows)
        self.model = windows[0].model
        self.steps = np.array([each.window.steps for each in windows])
        self.samples = np.array([each.window.samples.times.size for each in windows])
        self.spread = np.stack([each.spread for each in windows])
        self._begins = np.array([each.window.start for each in windows])
        self._first_step = np.cumsum(self.steps) - self.steps
        within = np.arange(self.steps.sum()) - np.repeat(self._first_step, self.steps)
        self._times = np.repeat(self._begins, self.steps) + self.model.opt.timestep * within
        self._sequences = _by_sequence(windows)
        self.start_sensors = tuple(
            sorted(
                {
                    name
                    for own in self._sequences
                    for name in (*own.reader.sensors, *own.reader.rate_sensors)
                }
            )
        )
        self._start_places = _start_places(self._sequences)
        self._set_samples()
        self._control_names = control_names(self.model)
        self._filtered = filtered_inputs(self.model)
        self._held_back = _kept(self._passed, _KEPT * max(1, len(self._filtered)))
        self._integrated = integrated_inputs(self.model)
        self._integrals = _kept(self._moved, _KEPT * max(1, len(self._integrated)))
        self._mean_commands = _kept(self._averaged)
        self._measured_starts = _kept(self._read_off)
        self._weights = _kept(self._interpolation)
        self._latest: tuple[FloatArray, RowWeights, FloatArray] | None = None

    def _set_samples(self) -> None:
        """Put the samples of all windows one behind the other."""
        windows = self.windows
        names = {signal.name for each in windows for signal in each.sequence.signals}
        sensors = {signal.sensor for each in windows for signal in each.sequence.signals}
        self._names, self._sensors = sorted(names), sorted(sensors)
        own: dict[int, FloatArray] = {}
        for each in windows:
            if id(each.sequence) not in own:
                own[id(each.sequence)] = np.array(
                    [
                        (s.column, s.offset, self._names.index(s.name),
                         self._sensors.index(s.sensor), s.component)
                        for s in each.sequence.signals
                    ]
                )  # fmt: skip
        of_sample = np.concatenate(
            [own[id(each.sequence)][each.window.samples.signals] for each in windows]
        )
        places = of_sample[:, [0, 2, 3, 4]].astype(np.intp).T
        self._columns, self.signals, self._sensor, component = places
        self._axis = np.minimum(component, 2)  # more have no bias of their own
        samples = [each.window.samples for each in windows]
        self._instants = np.concatenate([each.times for each in samples]) - of_sample[:, 1]
        self._values = np.concatenate([each.values for each in samples])
        self._is_start = np.concatenate([each.is_start for each in windows])
        self._row = np.repeat(self._first_step, self.samples)
        self._rows = np.repeat(self.steps, self.samples)
        firsts = np.cumsum(self.samples) - self.samples
        self._orientations = OrientationSamples.joined(
            [each.orientations for each in windows], firsts
        )
        quaternions = self._orientations.columns[:, np.newaxis] + np.arange(4)
        self.readings = np.unique(np.concatenate([self._columns, quaternions.ravel()]))

    def select(self, chosen: Sequence[int]) -> WindowBatch:
        """A batch of some of the windows, in order."""
        return WindowBatch([self.windows[k] for k in chosen])

    def opening(self, chosen: int, steps: int) -> WindowBatch:
        """A batch of the first steps of one window; its samples are the first of the window's."""
        return WindowBatch([self.windows[chosen].opening(steps)])

    def parts(self, values: FloatArray) -> list[FloatArray]:
        """Values of all samples, (m, ...), window by window."""
        return [values[own] for own in run_slices(self.samples)]

    @property
    def n_start(self) -> int:
        """Unknowns of each start: 2 nv + na where starts are estimated, otherwise 0."""
        return int(self.spread.shape[1])

    @property
    def seen(self) -> BoolArray:
        """The start's unknowns that residuals tell of, the same of every window, (n_start,)."""
        return self.windows[0].seen

    def sigma(self, noise: Mapping[str, float]) -> FloatArray:
        """The noise level of every sample, (m,); infinite for what a start was read off."""
        levels = np.array([noise[name] for name in self._names])
        sigma: FloatArray = levels[self.signals]
        sigma[self._is_start] = np.inf
        return sigma

    def samples_of(self, signals: Collection[str]) -> BoolArray:
        """True for the samples of some signals, given by name, (m,)."""
        chosen: BoolArray = np.array([name in signals for name in self._names])[self.signals]
        return chosen

    def squares(self, residual: FloatArray) -> dict[str, tuple[float, int]]:
        """Per signal the sum of squared residuals (its unit squared) and their number."""
        counted = ~self._is_start
        signals = self.signals[counted]
        sums = np.bincount(signals, residual[counted] ** 2, minlength=len(self._names))
        counts = np.bincount(signals, minlength=len(self._names))
        found = zip(self._names, sums.tolist(), counts.tolist(), strict=True)
        return {name: (total, count) for name, total, count in found}

    def starts(self, candidate: Candidate, deviations: FloatArray) -> FloatArray:
        """The full-physics states in which the windows start.

        Args:
          candidate: What to simulate.
          deviations: Tangent-space differences from the measured starts in (qpos, qvel, act),
            (w, n_start).

        Returns:
          Shape (w, nstate).
        """
        settings = {name: candidate.settings(name) for name in self.start_sensors}
        delays = tuple(setting.delay for setting in settings.values())
        states = self._measured_starts(delays).copy()
        for rows, name, rate, place in self._start_places:
            undo(states[rows], place, settings[name], None if rate == name else settings[rate])
        for one in self._filtered:
            setting = candidate.settings(self._control_names[one.input])
            constant = float(candidate.model.actuator_dynprm[one.actuator, 0])
            held = self._held_back(one, setting.delay, constant)
            states[:, one.address] = setting.gain * held + setting.bias
            for own in self._sequences:
                if own.data.controls[one.input] is None:
                    states[own.windows, one.address] = 0.0
        for each in self._integrated:
            places = self._integrals(each, candidate.settings(self._control_names[each.input]))
            known = np.isfinite(places)
            states[known, each.address] = places[known]
        return all_deviated(self.model, states, deviations) if self.n_start else states

    def _read_off(self, delays: tuple[float, ...]) -> FloatArray:
        """The starts as the sensors show them, (w, nstate)."""
        by_sensor = dict(zip(self.start_sensors, delays, strict=True))
        offset = -0.5 * self.model.opt.timestep if is_semi_implicit(self.model) else 0.0
        parts = []
        for own in self._sequences:
            parts.append(own.reader.readings(self._begins[own.windows], offset, by_sensor))
        states = np.concatenate(parts)
        if self.n_start:
            place_bases(self.model, states)
        return states

    def _passed(self, one: FilteredInput, delay: float, constant: float) -> FloatArray:
        """Outputs of a filter when the windows start, (w,)."""
        early = step_offsets(self.model)[one.input] - delay
        own = [each.windows for each in self._sequences]
        return one.passed(self._commands[one.input], self._begins + early, own, constant)

    def _moved(self, one: IntegratedInput, setting: SignalSettings) -> FloatArray:
        """Places that a servo holds when the windows start, NaN where unknown, (w,)."""
        held = np.full(len(self.windows), np.nan)
        for own in self._sequences:
            integral = own.data.controls[one.input]
            if integral is not None:
                begins = self._begins[own.windows]
                held[own.windows] = own.reader.places_along.at(one, integral, begins, setting)
        return held

    def controls(self, candidate: Candidate) -> FloatArray:
        """The controls of every step, (steps, nu)."""
        settings = [candidate.settings(name) for name in self._control_names]
        means = self._mean_commands(tuple(one.delay for one in settings))
        gain = np.array([one.gain for one in settings])
        bias = np.array([one.bias for one in settings])
        values: FloatArray = gain * means + bias
        for steps, idle in self._idle:
            values[steps, idle] = 0.0
        return values

    @cached_property
    def _idle(self) -> list[tuple[slice, list[int]]]:
        """The steps of recordings in which some inputs are driven by nothing, and these inputs."""
        found = []
        for own in self._sequences:
            idle = [i for i, integral in enumerate(own.data.controls) if integral is None]
            if idle:
                found.append((own.steps, idle))
        return found

    def _averaged(self, delays: tuple[float, ...]) -> FloatArray:
        """The commands' means over all steps, without gain and bias, (steps, nu)."""
        timestep, offsets = float(self.model.opt.timestep), step_offsets(self.model)
        own = [each.steps for each in self._sequences]
        values = np.zeros((len(self._times), len(delays)))
        for i, (command, delay) in enumerate(zip(self._commands, delays, strict=True)):
            values[:, i] = command.means(self._times + offsets[i] - delay, timestep, own)
        return values

    @cached_property
    def _commands(self) -> list[JoinedIntegrals]:
        """The commands of each input in all recordings."""
        by_recording = (own.data.controls for own in self._sequences)
        return [JoinedIntegrals(integrals) for integrals in zip(*by_recording, strict=True)]

    def residual(self, candidate: Candidate, data: FloatArray) -> FloatArray:
        """Predicted minus measured, by sensor data of all steps, (steps, nsensordata).

        Returns:
          Shape (m,), in the signals' units.
        """
        settings = [candidate.settings(sensor) for sensor in self._sensors]
        weights = self._weights(tuple(setting.delay for setting in settings))
        predicted = self._predicted(data, weights)
        gain = np.array([setting.gain for setting in settings])[self._sensor]
        bias = np.array([setting.biases for setting in settings])[self._sensor, self._axis]
        residual: FloatArray = gain * predicted + bias - self._values
        if self._orientations.samples.size:
            turned = self._orientations.residual(data, weights)
            residual[self._orientations.samples] = turned
        return residual

    def _predicted(self, data: FloatArray, weights: RowWeights) -> FloatArray:
        """Sensor data at the instants, (m,): kept, as gains and biases are moved one by one."""
        known = self._latest
        if known is None or known[0] is not data or known[1] is not weights:
            known = self._latest = data, weights, weights.apply(data, self._columns)
        return known[2]

    def reads_alike(self, candidate: Candidate, other: Candidate) -> bool:
        """Return whether equal sensor data gives equal residuals."""
        return candidate.signals == other.signals

    def linearized(
        self, candidate: Candidate, data: FloatArray
    ) -> tuple[FloatArray, ResidualSlope]:
        """Return the residual and its derivative by sensor data."""
        settings = [candidate.settings(sensor) for sensor in self._sensors]
        weights = self._weights(tuple(setting.delay for setting in settings))
        gain = np.array([setting.gain for setting in settings])[self._sensor]
        turned, found = None, self._orientations
        if found.samples.size:
            gain[found.samples] = 1.0
            turned = TurnedSlope(found.samples, found.columns, found.slope(data, weights))
        factors = gain[:, None] * weights.weights
        slope = ResidualSlope(weights.rows, factors, self._columns, turned)
        return self.residual(candidate, data), slope

    def _interpolation(self, delays: tuple[float, ...]) -> RowWeights:
        """From the rows of all steps to the samples."""
        instants = self._instants - np.array(delays)[self._sensor]
        within = cubic_weights(instants / float(self.model.opt.timestep), self._rows)
        return RowWeights(within.rows + self._row[:, None], within.weights)


@dataclass(frozen=True)
class _Sequence:
    """A recording with the places of its windows and of their steps."""

    data: SequenceData
    reader: StartReader
    windows: slice
    steps: slice


def _by_sequence(windows: Sequence[WindowSimulation]) -> list[_Sequence]:
    """List the recordings that windows in a row belong to."""
    found, first, step = [], 0, 0
    while first < len(windows):
        sequence = windows[first].sequence
        last, end = first, step
        while last < len(windows) and windows[last].sequence is sequence:
            end += windows[last].window.steps
            last += 1
        places = slice(first, last), slice(step, end)
        found.append(_Sequence(sequence, windows[first].reader, *places))
        first, step = last, end
    return found


def _start_places(sequences: Sequence[_Sequence]) -> list[tuple[slice, str, str, tuple[int, int]]]:
    """Windows in whose starts a joint is read off sensors, these sensors, and where it stands.

    The first sensor is that of the position, the second that of the velocity.
    """
    found: list[tuple[slice, str, str, tuple[int, int]]] = []
    for own in sequences:
        reader = own.reader
        for joint in zip(reader.sensors, reader.rate_sensors, reader.places, strict=False):
            before = next((k for k, each in enumerate(found) if each[1:] == joint), None)
            if before is not None and found[before][0].stop == own.windows.start:
                found[before] = (slice(found[before][0].start, own.windows.stop), *joint)
            else:
                found.append((own.windows, *joint))
    return found


def _kept(method: Callable[..., _Result], results: int = _KEPT) -> Callable[..., _Result]:
    """A method with its latest results kept, which does not keep its object, with models, alive."""
    alive = WeakMethod(method)

    def called(*arguments: object) -> _Result:
        own: Any = alive()  # its object calls
        result: _Result = own(*arguments)
        return result

    return lru_cache(results)(called)
