# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Differences of signals from the model's, as parameters declare them (SignalModifier)."""

from __future__ import annotations

import glob
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes import AXIS_BIASES
from sysid_ros.engine.parameters import ParameterDict, SignalModifier
from sysid_ros.engine.residuals.signal_transform import SignalTransform
from sysid_ros.engine.signals import TimeSeries, sensor_mapping


@dataclass(frozen=True)
class SignalSettings:
    """The difference of a measured or commanded signal from the model's.

    A sensor shows ``gain * y(t - delay) + bias`` of the model's value y; an actuator is driven by
    ``gain * u(t - delay) + bias`` of the recorded command u. What tells a vector, as an IMU does,
    may have a bias along each of its axes besides.
    """

    delay: float = 0.0  # s
    gain: float = 1.0
    bias: float = 0.0  # in the signal's unit
    bias_x: float = 0.0  # likewise, beside it
    bias_y: float = 0.0
    bias_z: float = 0.0

    @property
    def biases(self) -> FloatArray:
        """The bias of each component of a vector, (3,); that of a scalar comes first."""
        return self.bias + np.array([self.bias_x, self.bias_y, self.bias_z])

    @property
    def inverse(self) -> SignalSettings:
        """The settings that undo these: of a scalar of the model seen from what a sensor shows."""
        factor = 1.0 / self.gain if self.gain else math.inf  # nothing shows what gain zero hides
        return SignalSettings(-self.delay, factor, -self.bias * factor)


UNCHANGED = SignalSettings()


def signal_settings(params: ParameterDict) -> dict[str, SignalSettings]:
    """Delay, gain and bias by signal, for every sensor and actuator that a parameter names."""
    settings: dict[str, SignalSettings] = {}
    for parameter in params.values():
        if isinstance(parameter.modifier, SignalModifier):
            change = {parameter.modifier.attribute: float(parameter.value.item())}
            for name in parameter.modifier.names:
                settings[name] = replace(settings.get(name, UNCHANGED), **change)
    return settings


def with_declared_signals(
    transform: SignalTransform | None, params: ParameterDict, measured: TimeSeries, model: Any
) -> SignalTransform:
    """The transform plus what the parameters declare for measured signals."""
    result = SignalTransform() if transform is None else transform.copy()
    known = measured.signal_mapping or sensor_mapping(model)
    for parameter in params.values():
        if isinstance(parameter.modifier, SignalModifier):
            for name in parameter.modifier.names:
                if name not in known:
                    continue
                exactly = glob.escape(name)
                attribute = parameter.modifier.attribute
                if attribute == "delay":
                    result.delay(exactly, parameter)
                elif attribute in AXIS_BIASES:
                    axis = AXIS_BIASES.index(attribute)
                    result.bias(exactly, parameter, target="predicted", axis=axis)
                else:
                    add = getattr(result, attribute)
                    add(exactly, parameter, target="predicted")
    return result
