# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that declare themselves properties of a signal (SignalModifier), put to use."""

from __future__ import annotations

import glob
from dataclasses import replace
from typing import Any

from sysid_ros.sysid.candidate import UNCHANGED, SignalSettings
from sysid_ros.sysid.mappings import sensor_mapping
from sysid_ros.sysid.modifiers import SignalModifier
from sysid_ros.sysid.parameter_dict import ParameterDict
from sysid_ros.sysid.signal_transform import SignalTransform
from sysid_ros.sysid.timeseries import TimeSeries


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
                if parameter.modifier.attribute == "delay":
                    result.delay(exactly, parameter)
                else:
                    add = getattr(result, parameter.modifier.attribute)
                    add(exactly, parameter, target="predicted")
    return result
