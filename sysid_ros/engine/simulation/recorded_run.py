# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One whole recording between parameters and residual: its start, its controls, its comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import zip_longest

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.parameters import moved_start
from sysid_ros.engine.residuals import (
    Compared,
    PreparedComparison,
    ResidualOptions,
    SignalCorrection,
    SignalSettings,
    correct_alike,
    prepared,
    same_signals,
    with_declared_signals,
)
from sysid_ros.engine.signals import (
    SignalMapping,
    SignalType,
    SystemTrajectory,
    TimeSeries,
    blocks_of,
    check_types,
    sensor_mapping,
)
from sysid_ros.engine.simulation.candidate import Candidate
from sysid_ros.engine.simulation.run_batch import ResidualSlope
from sysid_ros.engine.simulation.simulation import Simulation, StepControls, step_times
from sysid_ros.engine.simulation.step_controls import (
    averaged_controls,
    ordered_controls,
    sampled_controls,
)
from sysid_ros.errors import SignalError


class RecordedRun:
    """Prepares the simulation of one recording and compares it.

    Args:
      recording: Its commands, measurements and initial state.
      options: How it is simulated and compared.
      name: What parameters of its start call it, if anything.
      before: Another run, with which it shares what both have alike.
    """

    def __init__(
        self,
        recording: SystemTrajectory,
        options: ResidualOptions,
        name: str | None = None,
        before: RecordedRun | None = None,
    ) -> None:
        self.recording = recording
        self.model = recording.model
        self._options = options
        self._before = before if before and before.model is recording.model else None
        self._sensors: SignalMapping = (
            self._before._sensors if self._before else sensor_mapping(recording.model)
        )
        self._name = name
        self._controls: tuple[tuple[float, Mapping[str, SignalSettings]], StepControls] | None
        self._controls = None
        self._slope: tuple[PreparedComparison, ResidualSlope] | None = None
        # The sensor data compared last, with what, and the differences.
        self._latest: tuple[FloatArray, PreparedComparison, FloatArray] | None = None
        self._ready: PreparedComparison | None = None
        self._uncorrected: dict[str, SignalCorrection] | None = None
        # A simulation starts at its state's time with the recording's first command.
        self._shift = float(recording.control.times[0] - recording.initial_state[0])

    def job(self, candidate: Candidate) -> Simulation:
        """The simulation."""
        start = self._start(candidate)
        return Simulation(candidate.model, start, self._step_controls(candidate))

    def _start(self, candidate: Candidate) -> FloatArray:
        """The initial state with what parameters add to it, (nstate,)."""
        state = self.recording.initial_state
        if self._name is not None:
            state = moved_start(candidate.model, state, candidate.params, self._name)
        return state

    def _step_controls(self, candidate: Candidate) -> StepControls:
        """The controls of every step."""
        model, control = candidate.model, self.recording.control
        names = candidate.control_names
        settings = {name: each for name, each in candidate.signals.items() if name in names}
        key = (float(model.opt.timestep), settings)
        if self._controls is None or self._controls[0] != key:
            stamping = self._options.stamping
            if not self._options.resample_true:
                controls = StepControls(control.times[:-1], ordered_controls(model, control)[:-1])
            elif settings or stamping == "true":
                controls = averaged_controls(model, control, settings, stamping=stamping)
            else:
                controls = sampled_controls(model, control)
            self._controls = (key, controls)
        return self._controls[1]

    def compared(self, candidate: Candidate, simulated: SystemTrajectory) -> Compared:
        """The differences, (m, number of columns), and both series at the instants compared."""
        options, model = self._options, simulated.model
        state = None if simulated.state is None else simulated.state.data
        predicted = simulated.sensordata
        if options.modify_residual is not None:
            result = options.modify_residual(
                candidate.params,
                _later(predicted, self._shift),
                self.recording.sensordata,
                model,
                options.return_pred_all,
                state=state,
            )
            _check_same_signals(result[1], result[2])
            return result
        ready = self.prepared(candidate, predicted)
        return self.noted(ready, predicted, ready.against(predicted, model, state))

    def noted(
        self, ready: PreparedComparison, predicted: TimeSeries, compared: Compared
    ) -> Compared:
        """A comparison on the recording's clock, once it is kept for derivatives."""
        residual, *both = compared
        self._latest = (predicted.data, ready, residual.ravel())
        ahead, recorded = (_later(series, self._shift) for series in both)
        return residual, ahead, recorded

    def _corrections(self, candidate: Candidate) -> dict[str, SignalCorrection]:
        """Delay, gain and bias of every measured signal."""
        given, measured = self._options.signal_transform, self.recording.sensordata
        plain = given is None and not candidate.signals
        if plain and self._uncorrected is not None:
            return self._uncorrected
        names = (measured.signal_mapping or self._sensors).keys()
        if plain and self._before is not None:
            shared = self._before._uncorrected
            if shared is not None and shared.keys() == names:
                self._uncorrected = shared
                return shared
        model, params = candidate.model, candidate.params
        transform = with_declared_signals(given, params, measured, model)
        corrections = transform.corrections(names, params)
        if plain:
            self._uncorrected = corrections
        return corrections

    def prepared(self, candidate: Candidate, predicted: TimeSeries) -> PreparedComparison:
        """The comparison but for simulated values, that of the latest simulation where it fits."""
        corrections, ready = self._corrections(candidate), self._ready
        if ready is None or not (
            correct_alike(corrections, ready.frame.corrections)
            and np.array_equal(predicted.times, ready.frame.simulated)
        ):
            check_types(self.recording.sensordata, self._options.enabled_observations)
            ready = self._ready = prepared(
                predicted.times,
                self._measured(predicted),
                candidate.model,
                self._options.comparison(self._options.signal_transform),
                corrections,
                None if self._before is None else self._before._ready,
            )
        return ready

    # What a batch of such runs needs for derivatives

    @property
    def steps(self) -> IndexArray:
        """Steps of the latest simulation, (1,); 0 before the first."""
        return np.array([0 if self._controls is None else len(self._controls[1].values)])

    @property
    def size(self) -> int:
        """The number of residuals; before the first comparison about so many."""
        if self._ready is None:
            return int(self.recording.sensordata.data.size)
        return self._ready.unknown.size

    def latest(self, steps: int) -> tuple[FloatArray, int]:
        """Look up what was linearized last.

        Returns:
          A copy of the sensor data, (all steps, nsensordata), and the number of residuals that
          depend on the first ``steps`` alone, whatever small change a delay has.
        """
        if self._latest is None or self._slope is None:
            raise SignalError("the recording was linearized for no simulation yet")
        later = self._slope[1].rows.max(axis=1) >= steps - 1
        return self._latest[0].copy(), int(np.argmax(later)) if later.any() else len(later)

    def starts(self, candidate: Candidate, deviations: FloatArray) -> FloatArray:
        """The initial state with what parameters add to it, (1, nstate)."""
        return self._start(candidate)[np.newaxis]

    def controls(self, candidate: Candidate) -> FloatArray:
        """The controls of every step, (steps, nu)."""
        return self._step_controls(candidate).values

    @property
    def is_modified(self) -> bool:
        """True if a callback compares."""
        return self._options.modify_residual is not None

    @cached_property
    def is_linear(self) -> bool:
        """True if the residual is linear in the simulated sensor data."""
        mapping, before = self._mapping(), self._before
        known = None if before is None else vars(before).get("is_linear")  # asks no further back
        if before is not None and known is not None and same_signals(mapping, before._mapping()):
            return bool(known)
        return all(kind is SignalType.MjSensor for kind, _ in mapping.values()) and not any(
            block.kind == "quaternion" for block in blocks_of(self.model, mapping)
        )

    @cached_property
    def readings(self) -> IndexArray:
        """Columns of the sensor data that are compared, each once, sorted."""
        return np.unique(np.concatenate([self._sensors[name][1] for name in self._mapping()]))

    def residual(self, candidate: Candidate, data: FloatArray) -> FloatArray:
        """The differences, flattened as in the residual function, of sensor data."""
        return self._compare(candidate, data)[1]

    def reads_alike(self, candidate: Candidate, other: Candidate) -> bool:
        """Return whether equal sensor data gives equal residuals."""
        if self._options.signal_transform is None:
            return candidate.signals == other.signals
        ours, theirs = (self._corrections(each) for each in (candidate, other))
        return correct_alike(ours, theirs)

    def linearized(
        self, candidate: Candidate, data: FloatArray
    ) -> tuple[FloatArray, ResidualSlope]:
        """The residual of sensor data, and how it depends on it where that is linear."""
        latest = self._latest
        if (
            latest is None
            or not correct_alike(self._corrections(candidate), latest[1].frame.corrections)
            or not np.array_equal(latest[0], data)
        ):
            latest = self._latest = (data, *self._compare(candidate, data))
        _, ready, residual = latest
        if self._slope is None or self._slope[0] is not ready:
            # The same for any sensor data at the same instants.
            self._slope = (ready, comparison_slope(ready, self._sensors))
        return residual, self._slope[1]

    def _compare(
        self, candidate: Candidate, data: FloatArray
    ) -> tuple[PreparedComparison, FloatArray]:
        """The comparison of sensor data, and the differences, (m,)."""
        predicted = self._predicted(candidate, data)
        ready = self.prepared(candidate, predicted)
        return ready, ready.against(predicted, candidate.model)[0].ravel()

    def _mapping(self) -> SignalMapping:
        return self.recording.sensordata.signal_mapping or self._sensors

    def _predicted(self, candidate: Candidate, data: FloatArray) -> TimeSeries:
        """Sensor data with the times that its simulation gives it."""
        start = float(self.recording.initial_state[0])
        times = step_times(start, candidate.model.opt.timestep, len(data))
        return TimeSeries.of_checked(times, data, self._sensors)

    def _measured(self, predicted: TimeSeries) -> TimeSeries:
        """The measurements on the simulation's clock."""
        measured = self.recording.sensordata
        if self._options.resample_true:
            # Subtracting is exact where adding an epoch would round.
            return _later(measured, -self._shift)
        # The simulation's first sample is one step after the recording's.
        return TimeSeries(predicted.times, measured.data[1:], measured.signal_mapping)


def recorded_runs(
    recordings: Sequence[SystemTrajectory], options: ResidualOptions, names: Sequence[str] = ()
) -> tuple[RecordedRun, ...]:
    """Runs of recordings of one model; see :class:`RecordedRun`."""
    runs: list[RecordedRun] = []
    for recording, name in zip_longest(recordings, names):
        runs.append(RecordedRun(recording, options, name, runs[-1] if runs else None))
    return tuple(runs)


def comparison_slope(ready: PreparedComparison, sensors: SignalMapping) -> ResidualSlope:
    """Return the derivative of a comparison's residuals by the prediction.

    Args:
      ready: The comparison with the recording; no orientations are compared.
      sensors: The columns of the sensor data, whose rows are equally spaced.

    Returns:
      The derivative by the sensor data of residuals that are flattened as in ``sysid.residual``,
      signal fastest.
    """
    rows, weights = ready.frame.interpolation
    scaled = weights * ready.factors()[:, :, None]
    read = ready.frame.read(sensors)
    columns = np.concatenate([block.columns for block in ready.frame.blocks])
    return ResidualSlope(
        rows.reshape(-1, 4),
        scaled.reshape(-1, 4),
        np.tile(read[columns].astype(np.int64), len(rows)),
    )


def _later(series: TimeSeries, seconds: float) -> TimeSeries:
    """The series with its times later by ``seconds``."""
    if seconds == 0.0:
        return series
    times, mapping, methods = series.times + seconds, series.signal_mapping, series.interpolation
    return TimeSeries.of_checked(times, series.data, mapping, methods)


def _check_same_signals(predicted: TimeSeries, measured: TimeSeries) -> None:
    """Refuse what a ``modify_residual`` returned if it cannot be compared column by column.

    Raises:
      SignalError: Signals or their columns differ.
    """
    ours, theirs = predicted.signal_mapping or {}, measured.signal_mapping or {}
    same = ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name][1], theirs[name][1]) for name in ours
    )
    if not same:
        raise SignalError(
            "modify_residual returned a prediction with the signals "
            f"{list(ours)} and a measurement with the signals {list(theirs)}; they must be the same"
        )
