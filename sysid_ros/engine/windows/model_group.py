# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""All windows of the sequences recorded on one model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.parameters import ParameterDict, corrects
from sysid_ros.engine.signals import ModelSequences, TimeSeries, is_position
from sysid_ros.engine.simulation import CandidateBuilder, ModelGroup, control_integrals, portions
from sysid_ros.engine.windows.cutting import SequenceData, cut, signal_columns, window_bounds
from sysid_ros.engine.windows.orientations import with_rotation_vectors
from sysid_ros.engine.windows.settling import settling_times
from sysid_ros.engine.windows.starts import StartReader
from sysid_ros.engine.windows.window_batch import WindowBatch
from sysid_ros.engine.windows.window_simulation import WindowSimulation
from sysid_ros.errors import DataError
from sysid_ros.time_intervals import shortest_gap

# s, for which joints that nothing measures are simulated at the least, and beyond a last start.
_CARRIED, _BEYOND = 0.5, 0.05
LAST_SAMPLE = 1e-6  # s, so that half-open windows keep a recording's last sample
_MOVES = 0.01  # of an input's range, from which on it does not stand still
_FIRST = 0.01  # s, or a sample: how long a robot that begins to move still rests
_STARTED = 0.2  # of what it usually does in as many; less, and it begins to
_ROUNDED = 1e-9  # s
_BEYOND_NOISE = 6.0  # standard deviations
BATCH_BYTES = 64 << 20  # of the arrays that a simulation of a batch and its derivatives take


@dataclass(frozen=True)
class WindowGroup(ModelGroup[WindowBatch]):
    """The windows of the sequences recorded on one model, in batches that memory allows."""

    # the same windows at half the time step, for residuals at one of zero
    finer: WindowGroup | None = None

    @classmethod
    def of(cls, builder: CandidateBuilder, windows: Sequence[WindowSimulation]) -> WindowGroup:
        """Put windows, at least one, into batches."""
        parts = _portions(builder, windows)
        return cls(builder, tuple(WindowBatch(windows[part]) for part in parts))

    def select(self, places: Sequence[int]) -> WindowGroup:
        """The group with some of its windows only, at least one."""
        windows = self.windows
        chosen = WindowGroup.of(self.builder, [windows[place] for place in places])
        return chosen if self.finer is None else chosen.with_finer(self.finer.select(places))

    def with_finer(self, finer: WindowGroup) -> WindowGroup:
        """The group with the same windows at half the time step."""
        finer.builder.trust(self.builder)
        return replace(self, finer=finer)

    def with_sequences(self, sequences: ModelSequences, params: ParameterDict) -> WindowGroup:
        """The same windows of a model with another time step, or with other commands.

        Nothing is read off the measurements again: samples and starts are those of this group.
        """
        builder, model = _built(sequences, params)
        same: dict[int, SequenceData] = {}
        for data in (window.sequence for window in self.windows):
            if id(data) not in same:
                signals = signal_columns(model, data.sensordata)
                controls = control_integrals(model, sequences.control[data.number])
                same[id(data)] = replace(data, signals=signals, controls=controls)
        step = float(model.opt.timestep)
        windows = [
            WindowSimulation(
                same[id(one.sequence)],
                one.window.at_step(step),
                one.reader,
                model,
                estimate_start=one.n_start > 0,
            )
            for one in self.windows
        ]
        group = WindowGroup.of(builder, windows)
        if self.finer is None:
            return group
        return group.with_finer(self.finer.with_sequences(sequences.with_finer_step(2), params))

    def with_parameters(self, sequences: ModelSequences, params: ParameterDict) -> WindowGroup:
        """The same windows, which begin where they did, of models with other parameters."""
        builder, windows = _builder(sequences, params), self.windows
        if len(_portions(builder, windows)) > len(self.batches):
            return WindowGroup.of(builder, windows)
        return replace(self, builder=builder, finer=None)  # with what is known of starts

    def tell_by(self, seen: BoolArray) -> None:
        """Have derivatives by some of the starts' unknowns only, (n_start,)."""
        for window in self.windows:
            window.seen = seen
        if self.finer is not None:
            self.finer.tell_by(seen)

    @property
    def windows(self) -> tuple[WindowSimulation, ...]:
        """All of them, in order."""
        return tuple(window for batch in self.batches for window in batch.windows)


def model_group(
    sequences: ModelSequences,
    params: ParameterDict,
    *,
    window_length: float | None,
    estimate_starts: bool,
    velocity_filter: float,
    overlap: float = 0.0,
) -> WindowGroup:
    """Cut all sequences of one model into windows.

    Raises:
      DataError: A sequence has no usable window; the message names it.
    """
    builder, model = _built(sequences, params)
    params = params.for_robot(sequences.robot)
    delays = ParameterDict({p.name: p for p in params.values() if corrects(p, "delay")})
    windows: list[WindowSimulation] = []
    for number, name in enumerate(sequences.sequence_name):
        span, own = usable_span(sequences, number), sequences.gaps[number]
        bounds = window_bounds(span, window_length, overlap, own)
        told = partial(
            told_from, sequences.control[number], sequences.sensordata[number], model, delays
        )
        found = cut_sequence(
            sequences,
            number,
            model,
            _told(bounds, {span[0]: told(), **{end: told(end) for _, end in own}}),
            estimate_starts=estimate_starts,
            velocity_filter=velocity_filter,
        )
        if not found:
            raise DataError(
                f"sequence {name!r} has no usable window: controls and measurements overlap for "
                f"{max(0.0, span[1] - span[0]):.3f} s, a window takes {window_length} s"
            )
        windows += found
    return WindowGroup.of(builder, windows)


def _built(
    sequences: ModelSequences, params: ParameterDict
) -> tuple[CandidateBuilder, mujoco.MjModel]:
    """The builder of candidates of a model, and the model with the values of parameters."""
    builder = _builder(sequences, params)
    return builder, builder.build(params.for_robot(sequences.robot).as_vector()).model


def _builder(sequences: ModelSequences, params: ParameterDict) -> CandidateBuilder:
    return CandidateBuilder(sequences.spec, params.for_robot(sequences.robot))


def _portions(builder: CandidateBuilder, windows: Sequence[WindowSimulation]) -> list[slice]:
    """Windows, at least one, in batches that memory allows."""
    model, first = windows[0].model, windows[0]
    columns = builder.size + first.n_start
    own = np.unique([signal.column for signal in first.sequence.signals]).size
    per_step = 1 + model.nq + model.nv + model.nsensordata + model.nu + own * columns
    sizes = [
        8 * (each.window.steps * int(per_step) + each.window.samples.times.size * columns)
        for each in windows
    ]
    return [*portions(sizes, BATCH_BYTES)]


def error_in_shifts(integrator: int, parts: int = 2) -> float:
    """The error at a step in units of the shift to one of its parts (Richardson 1911)."""
    gain = float(parts) ** (4 if integrator == mujoco.mjtIntegrator.mjINT_RK4 else 1)
    return gain / (gain - 1.0)


def usable_span(sequences: ModelSequences, number: int) -> tuple[float, float]:
    """From when to when a sequence has both measurements and controls, s."""
    control, measured = sequences.control[number], sequences.sensordata[number]
    driven = control.data.shape[1] > 0
    return (
        max(float(measured.times[0]), float(control.times[0]) if driven else -math.inf),
        min(float(measured.times[-1]), float(control.times[-1]) if driven else math.inf)
        + LAST_SAMPLE,
    )


def told_from(
    control: TimeSeries,
    measured: TimeSeries,
    model: mujoco.MjModel,
    params: ParameterDict,
    begin: float = -math.inf,
) -> float:
    """The instant from which on it is known what acts, s; minus infinity where it always is.

    What acts until the first message takes effect was told before it. That is taken to be the
    same, unless the robot was recorded in motion, with inputs that change from the first on. The
    same holds where inputs begin anew, after a gap in which there are none.

    Args:
      control: The inputs of a sequence.
      measured: Its measurements.
      model: The compiled model.
      params: Delays of inputs among them; those that are free may be as long as they are allowed.
      begin: The end of such a gap, s; the first message if left out.
    """
    found = -math.inf
    for parameter in params.values():
        late = float(np.max(parameter.value if parameter.frozen else parameter.max_value))
        for name in {*corrects(parameter, "delay")} & {*(control.signal_mapping or {})}:
            times, values = control.known(name)
            new = int(np.searchsorted(times, begin - _ROUNDED))
            if late <= 0.0 or new == len(times) or _goes_on(times, new):
                continue
            first = values[new:][times[new:] <= times[new] + late]
            if np.any(np.ptp(first, axis=0) > _MOVES * np.ptp(values, axis=0)):
                found = max(found, float(times[new]) + late)
    known = math.isinf(found) or not _moves_at_first(measured, model, begin)
    return -math.inf if known else found


def _goes_on(times: FloatArray, new: int) -> bool:
    """Return whether an input has messages before one of them, as densely as usual."""
    if new == 0:
        return False
    return bool(times[new] - times[new - 1] <= shortest_gap(times))


def _moves_at_first(measured: TimeSeries, model: mujoco.MjModel, begin: float) -> bool:
    """Return whether a position moves from an instant on as it usually does, and not for noise."""
    for name in measured.signal_mapping or {}:
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name)
        if sensor < 0 or not is_position(model, sensor):
            continue
        times, values = measured.known(name)
        if len(values) < 3:
            continue
        count = min(max(1, round(_FIRST / float(np.median(np.diff(times))))), len(values) - 1)
        noise = np.diff(values, 2, axis=0).std(axis=0) / math.sqrt(6.0)
        moved = np.abs(values[count:] - values[:-count])
        usual = np.sqrt(np.mean(moved**2, axis=0))
        first = min(int(np.searchsorted(times, begin)), len(moved) - 1)
        if np.any(moved[first] > np.maximum(_STARTED * usual, _BEYOND_NOISE * noise)):
            return True
    return False


def _told(
    bounds: Sequence[tuple[float, float]], known: Mapping[float, float]
) -> list[tuple[float, float]]:
    """Windows that begin once it is known what acts, half as long at the least.

    Args:
      bounds: The windows, s.
      known: By the first instant of a stretch the one from which on that is known.
    """
    return [
        (max(begin, min(known.get(begin, begin), 0.5 * (begin + end))), end)
        for begin, end in bounds
    ]


def cut_sequence(
    sequences: ModelSequences,
    number: int,
    model: mujoco.MjModel,
    bounds: Sequence[tuple[float, float]],
    *,
    estimate_starts: bool,
    velocity_filter: float,
    reader: StartReader | None = None,
    until: float | None = None,
) -> list[WindowSimulation]:
    """Cut one sequence into windows; none where nothing was measured.

    Args:
      sequences: The sequences.
      number: Which of them.
      model: The compiled model.
      bounds: The windows, s; one begins later where its start is not known.
      estimate_starts: Whether starts are unknowns.
      velocity_filter: Low-pass in front of the derivative of positions, Hz.
      reader: Of starts; without one they are read off the whole sequence.
      until: When no window begins later that counts, s, to which the sequence is simulated for
        joints that nothing measures. By default that is its end, or where the reader came to.

    Raises:
      DataError: A signal is not in the model.
    """
    base, control = sequences.initial_state[number], sequences.control[number]
    recorded = sequences.sensordata[number]
    measured = with_rotation_vectors(model, recorded)
    signals = signal_columns(model, measured)
    controls = control_integrals(model, control)
    if reader is None:
        # By the recording itself, what is read off it is known of other windows of it.
        reader = StartReader(model, recorded, base, velocity_filter=velocity_filter)
        until = math.inf if until is None else until
    if until is not None:
        begin, end = usable_span(sequences, number)
        reader.carry(controls, (begin, min(end, max(until + _BEYOND, begin + _CARRIED))))
    known = [(reader.known_from(begin), end) for begin, end in bounds]
    begins = np.array([begin for begin, _ in known])
    settling = settling_times(model, reader.states(begins, 0.0, {}))
    windows = cut(model, measured, signals, known, settling.tolist())
    name = sequences.sequence_name[number]
    data = SequenceData(name, number, signals, controls, measured, base, windows)
    return [
        WindowSimulation(data, window, reader, model, estimate_start=estimate_starts)
        for window in windows
    ]


def driven_otherwise(
    windows: Sequence[WindowSimulation], control: TimeSeries
) -> list[WindowSimulation] | None:
    """Windows of one sequence with other commands, and all else as it is.

    ``None`` where their starts hang on commands, as not all joints are measured.
    """
    first = windows[0]
    if not first.reader.tells_all:
        return None
    own = first.sequence
    controls = control_integrals(first.model, control, known=own.controls)
    data = replace(own, controls=controls)
    return [
        WindowSimulation(data, one.window, one.reader, one.model, estimate_start=one.n_start > 0)
        for one in windows
    ]
