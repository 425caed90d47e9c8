# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows of recordings simulated after repairs, and the remainder of each signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.least_squares import loss_named
from sysid_ros.engine.parameters import (
    Parameter,
    ParameterDict,
    SignalModifier,
    apply_param_modifiers_spec,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.simulation import RolloutPool, shapes_model
from sysid_ros.engine.windows import WindowSimulation, model_group

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
        series = self._sequences.replaced(
            control=[repair(one) for one in self._sequences.control],
            sensordata=[repair(one) for one in self._sequences.sensordata],
        )
        return OpenLoop(series, self._params, self._length, self._pool, self._skipped)

    def powers(self, repair: Repair, delays: Mapping[str, float]) -> dict[str, FloatArray]:
        """The remainder of each signal after a repair.

        Args:
          repair: Changes every series.
          delays: By how much later inputs take effect, by label [s].

        Returns:
          By signal as it is compared, unless it is mostly noise, (b,): in each window the logarithm
          of one and the mean square, less the noise's, over the signal's variation within windows;
          which is about that itself where it is small.

        Raises:
          DataError: There is no usable window.
        """
        series = self.after(repair)._sequences
        params = self._late(delays)
        group = model_group(
            series, params, window_length=self._length, estimate_starts=False,
            velocity_filter=_VELOCITY_FILTER, gaps={},
        )  # fmt: skip
        later = [k for k, one in enumerate(group.windows) if one.window.start >= self._skipped]
        places = np.linspace(0, len(later) - 1, _WINDOWS).round().astype(int)
        group = group.select([later[place] for place in np.unique(places)])
        names = [signal.name for signal in group.windows[0].sequence.signals]
        problem = WindowedProblem(
            [group], params, self._pool, loss=loss_named("linear"),
            noise=dict.fromkeys(names, 1.0), engine="reference",
        )  # fmt: skip
        residuals = problem.residuals(problem.initial_point())
        rows = [_squares(*one, len(names)) for one in zip(group.windows, residuals, strict=True)]
        left, spread, noise = np.array(rows).transpose(2, 1, 0)
        spread, noise = np.nanmean(spread, axis=1), np.nanmean(noise, axis=1)
        found = {}
        for name, own, whole, white in zip(names, left, spread, noise, strict=True):
            if white < _LOUD * whole:
                more = np.maximum(np.nan_to_num(own, nan=_LARGEST * whole) - white, 0.0)
                found[name] = np.log1p(np.minimum(more / whole, _LARGEST))
        return found

    def _late(self, delays: Mapping[str, float]) -> ParameterDict:
        """The parameters, with inputs that take effect later by some delays [s]."""
        params = self._params.copy()
        declared = {
            label
            for one in params.values()
            if isinstance(one.modifier, SignalModifier) and one.modifier.attribute == "delay"
            for label in one.modifier.names
        }
        for label, delay in delays.items():
            if label not in declared:
                place = SignalModifier(label, "delay")
                params.add(Parameter(f"late {label}", delay, -_LATEST, _LATEST, True, place))
        return params


def _squares(
    window: WindowSimulation, residual: FloatArray, signals: int
) -> list[tuple[float, float, float]]:
    """Mean squares of each signal's residual, its own variation and its noise; NaN without rows."""
    samples, found = window.window.samples, []
    for signal in range(signals):
        own = samples.signals == signal
        values = samples.values[own]
        if len(values) < _FEWEST:
            found.append((np.nan, np.nan, np.nan))
            continue
        noise = float(np.median(np.diff(values, n=2) ** 2)) / _OF_DIFFERENCES
        found.append((float(np.mean(residual[own] ** 2)), float(np.var(values)), noise))
    return found
