# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows of recordings simulated after repairs, and the remainder of each signal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.least_squares import loss_named
from sysid_ros.engine.parameters import (
    Parameter,
    ParameterDict,
    SignalModifier,
    apply_param_modifiers_spec,
    corrects,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.simulation import CandidateBuilder, RolloutPool, shapes_model
from sysid_ros.engine.windows import (
    WindowGroup,
    WindowSimulation,
    cut_sequence,
    driven_otherwise,
    model_group,
    usable_span,
    window_bounds,
)
from sysid_ros.errors import DataError

Repair = Callable[[TimeSeries], TimeSeries]

_VELOCITY_FILTER = 30.0  # Hz
_WINDOWS = 24
_LATEST = 1.0  # s, of an input
_LOUD = 0.3  # of a signal's variation, that may be noise where it tells anything
_OF_DIFFERENCES = 6.0 * 0.455  # median square of white noise's second differences, over its own
_FEWEST = 5  # samples of a signal in a window
_SHORT = 8.0  # s, that are simulated of recordings whose joints are not all measured
_SWINGING = 1.0  # s, after which such joints hardly depend on where they started
_LARGEST = 1e12  # share of a signal's variation, of a simulation that flies apart


@dataclass(frozen=True)
class _After:
    """All windows after a repair, and how much each signal varies in them, and its noise."""

    builder: CandidateBuilder
    params: ParameterDict
    windows: list[WindowSimulation]
    variations: list[tuple[float, float]]


class OpenLoop:
    """Simulates windows of the recordings of one model after repairs.

    Args:
      sequences: The recordings.
      params: At the values that are simulated.
      length: Of a window, s; whole recordings if ``None``.
      pool: Where simulations run.
      skipped: Time at the beginning of recordings of which no window is simulated, s.
    """

    def __init__(
        self,
        sequences: ModelSequences,
        params: ParameterDict,
        length: float | None,
        pool: RolloutPool,
        skipped: float = 0.0,
    ) -> None:
        self._sequences, self._params = sequences, params
        self._length, self._pool, self._skipped = length, pool, skipped
        self._bounds: dict[int, list[tuple[float, float]]] = {}
        # Keeps what was read off signals for later repairs.
        self._first: list[WindowSimulation] | None = None
        self._unrepaired: dict[int, list[WindowSimulation]] = {}  # by recording, as it was measured
        self._variations: dict[tuple[str, int], tuple[float, float]] = {}

    def shortened(self) -> OpenLoop:
        """The same of the beginning of recordings, for robots that are simulated to each window."""
        series = [
            [one.slice_by_time(one.times[0], one.times[0] + _SHORT) for one in own]
            for own in (self._sequences.control, self._sequences.sensordata)
        ]
        sequences = self._sequences.replaced(control=series[0], sensordata=series[1])
        return OpenLoop(sequences, self._params, self._length, self._pool, skipped=_SWINGING)

    def with_resistance(self, attribute: str, added: Mapping[str, float]) -> OpenLoop:
        """The same with more ``frictionloss`` or ``damping`` of joints, by their names.

        What parameters make of the model is made before: they would set the attribute anew.
        """
        params, row = self._params.for_robot(self._sequences.robot), lookup("joint", attribute)
        spec = apply_param_modifiers_spec(params, self._sequences.spec)
        for name in {joint.name for joint in spec.joints} & {*added}:
            row.write(spec, name, row.read(spec, name) + added[name])
        rest = {name: one for name, one in params.parameters.items() if not shapes_model(one)}
        sequences = self._sequences.replaced(spec=spec)
        return OpenLoop(sequences, ParameterDict(rest), self._length, self._pool, self._skipped)

    def after(self, repair: Repair) -> OpenLoop:
        """The same with every series repaired."""
        series = _repaired(self._sequences, repair)
        return OpenLoop(series, self._params, self._length, self._pool, self._skipped)

    def powers(
        self, repair: Repair, delays: Mapping[str, float], windows: Sequence[int] | None = None
    ) -> dict[str, FloatArray]:
        """The remainder of each signal after a repair.

        Args:
          repair: Changes every series.
          delays: By how much later inputs take effect, by label [s].
          windows: Which of the windows are simulated, increasing; all if left out.

        Returns:
          By signal as it is compared, unless it is mostly noise, (b,): in each window the logarithm
          of one and the mean square, less the noise's, over the signal's variation within windows;
          which is about that itself where it is small.

        Raises:
          DataError: There is no usable window.
        """
        after = self._after(repair, delays, windows)
        return self._left(after, range(len(after.windows)) if windows is None else windows)

    def one_by_one(
        self, repair: Repair, delays: Mapping[str, float], windows: Sequence[int]
    ) -> Iterator[dict[str, FloatArray]]:
        """As :meth:`powers`, of one window after the other, simulated when it is asked for."""
        after = self._after(repair, delays, windows)
        for window in windows:
            yield self._left(after, [window])

    def _after(
        self, repair: Repair, delays: Mapping[str, float], chosen: Sequence[int] | None
    ) -> _After:
        """All windows after a repair, those that are chosen ready to be simulated."""
        series, params, model = _repaired(self._sequences, repair), self._late(delays), self._model
        windows = self._cut(series, params, chosen)
        builder = CandidateBuilder(series.spec, params.for_robot(series.robot), lambda _: model)
        return _After(builder, params, windows, self._own_variation(windows))

    def _left(self, after: _After, chosen: Sequence[int]) -> dict[str, FloatArray]:
        """The remainders in some of all windows; see :meth:`powers`."""
        names = [signal.name for signal in after.windows[0].sequence.signals]
        group = WindowGroup.of(after.builder, [after.windows[place] for place in chosen])
        problem = WindowedProblem(
            [group], after.params, self._pool, loss=loss_named("linear"),
            noise=dict.fromkeys(names, 1.0), engine="reference",
        )  # fmt: skip
        residuals = problem.residuals(problem.initial_point())
        rows = [_squares(*one, len(names)) for one in zip(group.windows, residuals, strict=True)]
        found = {}
        for name, own, variation in zip(names, np.array(rows).T, after.variations, strict=True):
            whole, white = variation
            if white < _LOUD * whole:
                more = np.maximum(np.nan_to_num(own, nan=_LARGEST * whole) - white, 0.0)
                found[name] = np.log1p(np.minimum(more / whole, _LARGEST))
        return found

    def _cut(
        self, series: ModelSequences, params: ParameterDict, chosen: Sequence[int] | None
    ) -> list[WindowSimulation]:
        """All windows of a repaired series, cut where those of others are.

        Joints that nothing measures are known up to the last that is chosen.
        """
        last = dict.fromkeys(self._bounds, math.inf if chosen is None else 0.0)
        if self._first is None:
            self._bounds = self._chosen(series, params)
        else:
            for one in (self._first[k] for k in chosen or ()):
                last[one.sequence.number] = max(last[one.sequence.number], one.window.start)
        parts = [self._windows(series, k, last.get(k, math.inf)) for k in self._bounds]
        windows = [window for part in parts for window in part]
        self._first = self._first or windows
        return windows

    def _windows(self, series: ModelSequences, number: int, until: float) -> list[WindowSimulation]:
        """The windows of one recording, their starts read anew only if those are repaired."""
        measured, known = series.sensordata[number], self._unrepaired.get(number)
        if measured is self._sequences.sensordata[number] and known is not None:
            found = driven_otherwise(known, series.control[number])
            if found is not None:
                return found
        windows = cut_sequence(
            series, number, self._model, self._bounds[number], estimate_starts=False,
            velocity_filter=_VELOCITY_FILTER, until=until,
        )  # fmt: skip
        if measured is self._sequences.sensordata[number]:
            self._unrepaired[number] = windows
        return windows

    @cached_property
    def _model(self) -> mujoco.MjModel:
        """The model that is simulated, which no repair and no delay changes."""
        params = self._params.for_robot(self._sequences.robot)
        return CandidateBuilder(self._sequences.spec, params).build(params.as_vector()).model

    def _chosen(
        self, series: ModelSequences, params: ParameterDict
    ) -> dict[int, list[tuple[float, float]]]:
        """Some of the windows, spread evenly over the recordings: by recording from when to when.

        Raises:
          DataError: There is no usable window.
        """
        group = model_group(
            series, params, window_length=self._length, estimate_starts=False,
            velocity_filter=_VELOCITY_FILTER,
        )  # fmt: skip
        later = [one for one in group.windows if one.window.start >= self._skipped]
        if not later:
            raise DataError(
                f"no recording has a window that begins {self._skipped} s after its start or later"
            )
        places = np.linspace(0, len(later) - 1, _WINDOWS).round().astype(int)
        chosen: dict[int, list[tuple[float, float]]] = {}
        for place in np.unique(places):
            number, start = later[place].sequence.number, later[place].window.start
            span = usable_span(series, number)
            bounds = window_bounds(span, self._length, gaps=series.gaps[number])
            own = next(one for one in reversed(bounds) if one[0] <= start)
            chosen.setdefault(number, []).append(own)
        return chosen

    def _own_variation(self, windows: Sequence[WindowSimulation]) -> list[tuple[float, float]]:
        """Mean squares of each signal's variation and of its noise within windows.

        They are the same after a repair of other signals, with whose samples they are kept, and of
        the first windows after a repair of commands.
        """
        first = self._first or windows
        if all(own.window is other.window for own, other in zip(windows, first, strict=False)):
            return self._variations_of_first
        return self._variations_of(windows)

    @cached_property
    def _variations_of_first(self) -> list[tuple[float, float]]:
        return self._variations_of(self._first or [])

    def _variations_of(self, windows: Sequence[WindowSimulation]) -> list[tuple[float, float]]:
        found = []
        for place, one in enumerate(windows[0].sequence.signals):
            samples = [one.window.samples for one in windows]
            values = [one.values[one.signals == place] for one in samples]
            key = one.name, hash(np.concatenate(values).tobytes())
            if key not in self._variations:
                self._variations[key] = _variation(values)
            found.append(self._variations[key])
        return found

    def _late(self, delays: Mapping[str, float]) -> ParameterDict:
        """The parameters, with inputs that take effect later by some delays [s]."""
        params = self._params.copy()
        declared = {label for one in params.values() for label in corrects(one, "delay")}
        for label, delay in delays.items():
            if label not in declared:
                place = SignalModifier(label, "delay")
                params.add(Parameter(f"late {label}", delay, -_LATEST, _LATEST, True, place))
        return params


def _repaired(sequences: ModelSequences, repair: Repair) -> ModelSequences:
    """Sequences with every series repaired."""
    return sequences.replaced(
        control=[repair(one) for one in sequences.control],
        sensordata=[repair(one) for one in sequences.sensordata],
    )


def _squares(window: WindowSimulation, residual: FloatArray, signals: int) -> FloatArray:
    """Mean squares of each signal's residual, (signals,); zero of those with hardly any sample."""
    own = window.window.samples.signals
    counts = np.bincount(own, minlength=signals)
    squares = np.bincount(own, residual**2, minlength=signals)
    return np.where(counts < _FEWEST, 0.0, squares / np.maximum(counts, 1))


def _variation(values: Sequence[FloatArray]) -> tuple[float, float]:
    """Means over windows of a signal's variance, and of its noise's; NaN without samples."""
    enough = [one for one in values if len(one) >= _FEWEST]
    if not enough:
        return math.nan, math.nan
    noise = [np.median(np.diff(one, n=2) ** 2) / _OF_DIFFERENCES for one in enough]
    return float(np.mean([np.var(one) for one in enough])), float(np.mean(noise))
