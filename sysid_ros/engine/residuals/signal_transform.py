# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Delays, gains, biases, weights and choice of signals, declared by name pattern."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.residuals.comparison_frame import SignalCorrection
from sysid_ros.engine.residuals.discrepancy import Comparison, compare
from sysid_ros.engine.signals import TimeSeries
from sysid_ros.errors import SignalError

Target = Literal["predicted", "measured", "both"]


@dataclass(frozen=True)
class _Rule:
    """One registered correction."""

    pattern: str
    param: Parameter | float
    predicted: bool = True
    measured: bool = False
    axis: int | None = None  # of a vector, whose component alone it concerns

    def value(self, params: ParameterDict) -> FloatArray:
        """The current value: a free parameter's, or the fixed one."""
        if isinstance(self.param, Parameter):
            found = params.parameters.get(self.param.name, self.param).value
        else:
            found = np.array([self.param], dtype=np.float64)
        return found if self.axis is None else np.eye(3)[self.axis] * found

    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value it can take; a frozen or fixed one has only one."""
        if not isinstance(self.param, Parameter):
            return float(self.param), float(self.param)
        if self.param.frozen:
            return float(self.param.value.min()), float(self.param.value.max())
        low, high = self.param.get_bounds()
        return float(low.min()), float(high.max())


class SignalTransform:
    """The corrections and weights of signals; give it to ``build_residual_fn``.

    Usage::

        transform = SignalTransform()
        transform.delay("*_pos", params["delay"])
        transform.gain("*_torque", params["torque_scale"], target="predicted")
        transform.enable_sensors(["elbow_pos", "elbow_torque"])
        residual_fn = build_residual_fn(models_sequences=[ms], signal_transform=transform)

    A correction that needs no other model needs no other rollout either.
    """

    def __init__(self, normalize: bool = True) -> None:
        """Start without corrections.

        Args:
          normalize: Whether differences are divided by the signals' size.
        """
        self.normalize = normalize
        self._delays: list[_Rule] = []
        self._gains: list[_Rule] = []
        self._biases: list[_Rule] = []
        self._enabled_sensors: list[str] | None = None
        self._sensor_weights: Mapping[str, float] | None = None

    @property
    def enabled_sensors(self) -> tuple[str, ...] | None:
        """The signals to compare, ``None`` for all."""
        return None if self._enabled_sensors is None else tuple(self._enabled_sensors)

    @property
    def sensor_weights(self) -> Mapping[str, float] | None:
        """Factors of the differences by signal."""
        return self._sensor_weights

    def copy(self) -> SignalTransform:
        """An independent transform with the same corrections; parameters are shared."""
        other = SignalTransform(self.normalize)
        other._delays = list(self._delays)
        other._gains = list(self._gains)
        other._biases = list(self._biases)
        other._enabled_sensors = self._enabled_sensors
        other._sensor_weights = self._sensor_weights
        return other

    def delay(self, pattern: str, param: Parameter | float) -> None:
        """Let predictions of matching signals arrive late; of several matches the last counts.

        Args:
          pattern: Shell pattern of signal names.
          param: Delay in seconds, to be identified or fixed.
        """
        self._delays.append(_Rule(pattern, param))

    def gain(self, pattern: str, param: Parameter | float, target: Target = "both") -> None:
        """Multiply matching signals; several matches multiply.

        Args:
          pattern: Shell pattern of signal names.
          param: Factor, to be identified or fixed.
          target: Which signals: "predicted", "measured" or "both".

        Raises:
          SignalError: The target is another.
        """
        self._gains.append(_targeted(pattern, param, target))

    def bias(
        self,
        pattern: str,
        param: Parameter | float,
        target: Target = "both",
        axis: int | None = None,
    ) -> None:
        """Add to matching signals, after gains; several matches add up.

        Args:
          pattern: Shell pattern of signal names.
          param: Offset in the signal's unit, to be identified or fixed.
          target: Which signals: "predicted", "measured" or "both".
          axis: The component of signals with three that it is added to; all of them if left out.

        Raises:
          SignalError: The target or the axis is another.
        """
        if axis not in (None, 0, 1, 2):
            raise SignalError(f"axis must be 0, 1, 2 or left out, got {axis!r}")
        self._biases.append(replace(_targeted(pattern, param, target), axis=axis))

    def enable_sensors(self, sensor_names: Iterable[str]) -> None:
        """Compare only these signals, in this order."""
        self._enabled_sensors = list(sensor_names)

    def set_sensor_weights(self, weights: Mapping[str, float]) -> None:
        """Multiply differences by these weights; signals not named keep one."""
        self._sensor_weights = dict(weights)

    def apply(
        self,
        params: ParameterDict,
        sensordata_predicted: TimeSeries,
        sensordata_measured: TimeSeries,
        model: Any,
        return_pred_all: bool,
        state: FloatArray | None = None,
        sensor_weights: Mapping[str, float] | None = None,
    ) -> tuple[FloatArray, TimeSeries, TimeSeries]:
        """Correct and compare; has the signature of a ``modify_residual`` callback.

        Args:
          params: Current parameters.
          sensordata_predicted: Predicted sensors.
          sensordata_measured: Measurements.
          model: The MjModel that predicted.
          return_pred_all: Whether signals that are not enabled are returned too.
          state: Predicted states, for measured positions and velocities.
          sensor_weights: Instead of the transform's own.

        Returns:
          Differences (n, number of columns), predictions and measurements at the same instants.

        Raises:
          SignalError: The signals do not fit the model or each other.
        """
        comparison = Comparison(
            normalization="reference" if self.normalize else "none",
            sensor_weights=sensor_weights or self._sensor_weights,
            enabled=None if return_pred_all else self._enabled_sensors,
        )
        names = (sensordata_measured.signal_mapping or {}).keys()
        return compare(
            sensordata_predicted,
            sensordata_measured,
            model,
            comparison,
            corrections=self.corrections(names, params),
            state=state,
        )

    def corrections(
        self, names: Iterable[str], params: ParameterDict
    ) -> dict[str, SignalCorrection]:
        """Return the correction of each of the named signals at the current parameters."""
        names = list(names)
        window = self._delay_bounds(names)
        return {name: self._correction(name, params, window) for name in names}

    def _correction(
        self, name: str, params: ParameterDict, window: tuple[float, float]
    ) -> SignalCorrection:
        delay = 0.0
        for rule in self._delays:
            if fnmatch.fnmatchcase(name, rule.pattern):
                delay = float(rule.value(params).item())
        values = {}
        for side in ("predicted", "measured"):
            gain, bias = np.ones(1), np.zeros(1)
            for rule in self._gains:
                if getattr(rule, side) and fnmatch.fnmatchcase(name, rule.pattern):
                    gain = gain * rule.value(params)
            for rule in self._biases:
                if getattr(rule, side) and fnmatch.fnmatchcase(name, rule.pattern):
                    bias = bias + rule.value(params)
            values[side] = (gain, bias)
        return SignalCorrection(delay, window, values["predicted"], values["measured"])

    def _delay_bounds(self, names: list[str]) -> tuple[float, float]:
        """Smallest and largest delay of any signal, zero included where one has none."""
        bounds = [rule.bounds() for rule in self._delays]
        covered = all(
            any(fnmatch.fnmatchcase(name, rule.pattern) for rule in self._delays) for name in names
        )
        if not bounds or not covered:
            bounds.append((0.0, 0.0))
        return min(low for low, _ in bounds), max(high for _, high in bounds)


def _targeted(pattern: str, param: Parameter | float, target: str) -> _Rule:
    if target not in ("predicted", "measured", "both"):
        raise SignalError(f"target must be 'predicted', 'measured', or 'both', got {target!r}")
    return _Rule(pattern, param, target != "measured", target != "predicted")
