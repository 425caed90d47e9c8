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
class _Cut:
    """The windows of one recording, and when the last begins whose start is known, s."""

    windows: list[WindowSimulation]
    until: float


class OpenLoop:
    """Simulates windows of the recordings of one model.

    Args:
      sequences: The recordings.
      params: At the values that are simulated.
      length: Of a window, s; whole recordings if ``None``.
      pool: Where simulations run.
      skipped: Time at the beginning of recordings of which no window is simulated, s.
      plain: The same before a repair, whose windows are where these are; itself if left out.
    """

    def __init__(
        self,
        sequences: ModelSequences,
        params: ParameterDict,
        length: float | None,
        pool: RolloutPool,
        skipped: float = 0.0,
        plain: OpenLoop | None = None,
    ) -> None:
        self._sequences, self._params = sequences, params
        self._length, self._pool, self._skipped = length, pool, skipped
        self._plain = self if plain is None else plain
        self._bounds: dict[int, list[tuple[float, float]]] = {}
        self._cut: dict[int, _Cut] = {}  # by recording
        self._varied: dict[tuple[str, int], tuple[float, float]] = {}

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
        sequences = self._sequences.replaced(
            control=[repair(one) for one in self._sequences.control],
            sensordata=[repair(one) for one in self._sequences.sensordata],
        )
        return OpenLoop(
            sequences, self._params, self._length, self._pool, self._skipped, self._plain
        )

    def powers(
        self, delays: Mapping[str, float], windows: Sequence[int] | None = None
    ) -> dict[str, FloatArray]:
        """The remainder of each signal.

        Args:
          delays: By how much later inputs take effect, by label [s].
          windows: Which of the windows are simulated, increasing; all if left out.

        Returns:
          By signal as it is compared, unless it is mostly noise, (b,): in each window the logarithm
          of one and the mean square, less the noise's, over the signal's variation within windows;
          which is about that itself where it is small.

        Raises:
          DataError: There is no usable window.
        """
        late = self._late(delays)
        cut = self._windows(late, windows)
        chosen = cut if windows is None else [cut[place] for place in windows]
        return self._left(self._builder(late), late, chosen)

    def one_by_one(
        self, delays: Mapping[str, float], windows: Sequence[int]
    ) -> Iterator[dict[str, FloatArray]]:
        """As :meth:`powers`, of one window after the other, simulated when it is asked for."""
        late = self._late(delays)
        builder = self._builder(late)
        for place in windows:
            yield self._left(builder, late, [self._windows(late, [place])[place]])

    def _builder(self, params: ParameterDict) -> CandidateBuilder:
        """The builder of the model, which is compiled already."""
        model, own = self._plain._model, params.for_robot(self._sequences.robot)
        return CandidateBuilder(self._sequences.spec, own, lambda _: model)

    def _left(
        self, builder: CandidateBuilder, params: ParameterDict, chosen: list[WindowSimulation]
    ) -> dict[str, FloatArray]:
        """The remainders in some windows; see :meth:`powers`."""
        names = [signal.name for signal in chosen[0].sequence.signals]
        group = WindowGroup.of(builder, chosen)
        problem = WindowedProblem(
            [group], params, self._pool, loss=loss_named("linear"),
            noise=dict.fromkeys(names, 1.0), engine="reference",
        )  # fmt: skip
        residuals = problem.residuals(problem.initial_point())
        rows = [_squares(*one, len(names)) for one in zip(group.windows, residuals, strict=True)]
        found = {}
        for name, own, variation in zip(names, np.array(rows).T, self._variations, strict=True):
            whole, white = variation
            if white < _LOUD * whole:
                more = np.maximum(np.nan_to_num(own, nan=_LARGEST * whole) - white, 0.0)
                found[name] = np.log1p(np.minimum(more / whole, _LARGEST))
        return found

    def _windows(
        self, params: ParameterDict, chosen: Sequence[int] | None = None
    ) -> list[WindowSimulation]:
        """All windows, those that are chosen ready to be simulated."""
        first = self._plain._first(params)
        last = dict.fromkeys(self._plain._bounds, math.inf if chosen is None else 0.0)
        for one in (first[place] for place in chosen or ()):
            last[one.sequence.number] = max(last[one.sequence.number], one.window.start)
        return [window for k, until in last.items() for window in self._windows_of(k, until)]

    def _first(self, params: ParameterDict) -> list[WindowSimulation]:
        """All windows before any repair."""
        self._bounds = self._bounds or self._chosen(params)
        return [window for k in self._bounds for window in self._windows_of(k, math.inf)]

    def _windows_of(self, number: int, until: float) -> list[WindowSimulation]:
        """The windows of one recording, their starts read anew only if those are repaired.

        Joints that nothing measures are known until the last that counts begins, s.
        """
        before = self._cut.get(number)
        if before is not None and before.until >= until:
            return before.windows
        plain = self._plain
        if plain is not self and not self._is_repaired(number):
            control = self._sequences.control[number]
            found = driven_otherwise(plain._cut[number].windows, control)
            if found is not None:
                self._cut[number] = _Cut(found, math.inf)
                return found
        reader = before.windows[0].reader if before is not None and before.windows else None
        windows = cut_sequence(
            self._sequences, number, plain._model, plain._bounds[number], estimate_starts=False,
            velocity_filter=_VELOCITY_FILTER, reader=reader, until=until,
        )  # fmt: skip
        told = bool(windows) and windows[0].reader.tells_all
        self._cut[number] = _Cut(windows, math.inf if told else until)
        return windows

    def _is_repaired(self, number: int) -> bool:
        """Return whether the measurements of a recording are not as they were."""
        plain = self._plain._sequences.sensordata[number]
        return self._sequences.sensordata[number] is not plain

    @cached_property
    def _model(self) -> mujoco.MjModel:
        """The model that is simulated, which no repair and no delay changes."""
        params = self._params.for_robot(self._sequences.robot)
        return CandidateBuilder(self._sequences.spec, params).build(params.as_vector()).model

    def _chosen(self, params: ParameterDict) -> dict[int, list[tuple[float, float]]]:
        """Some of the windows, spread evenly over the recordings: by recording from when to when.

        Raises:
          DataError: There is no usable window.
        """
        group = model_group(
            self._sequences, params, window_length=self._length, estimate_starts=False,
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
            span = usable_span(self._sequences, number)
            bounds = window_bounds(span, self._length, gaps=self._sequences.gaps[number])
            own = next(one for one in reversed(bounds) if one[0] <= start)
            chosen.setdefault(number, []).append(own)
        return chosen

    @cached_property
    def _variations(self) -> list[tuple[float, float]]:
        """Mean squares of each signal's variation and of its noise within windows.

        They are the same after a repair of commands, and of other signals, by whose samples they
        are kept.
        """
        if self._plain is not self and not any(map(self._is_repaired, self._cut)):
            return self._plain._variations
        windows = [one for cut in self._cut.values() for one in cut.windows]
        found, known = [], self._plain._varied
        for place, one in enumerate(windows[0].sequence.signals):
            samples = [one.window.samples for one in windows]
            values = [one.values[one.signals == place] for one in samples]
            key = one.name, hash(np.concatenate(values).tobytes())
            if key not in known:
                known[key] = _variation(values)
            found.append(known[key])
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
