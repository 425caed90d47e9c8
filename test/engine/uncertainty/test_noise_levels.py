# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Noise levels that are given are those of a sensor's channels, whatever its name."""

from __future__ import annotations

import numpy as np
import pendulum
import pytest

from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.uncertainty.noise_levels import is_known, sensor_of


@pytest.mark.parametrize(
    ("channel", "sensor"),
    [("imu[2]", "imu"), ("leg[0]_pos", "leg[0]_pos"), ("leg[0]_imu[11]", "leg[0]_imu"),
     ("angle", "angle"), ("leg[left]", "leg[left]")],
)  # fmt: skip
def test_only_a_component_at_the_end_is_no_part_of_the_name(channel: str, sensor: str) -> None:
    assert sensor_of(channel) == sensor
    assert is_known(channel, {sensor})
    assert not is_known(channel, {"leg"})


@pytest.mark.parametrize("name", ["leg[0]_pos", "leg[0]"])
def test_the_given_level_of_a_sensor_with_a_bracket_in_its_name_is_kept(name: str) -> None:
    control, measured = pendulum.recording(duration=4.0, noise=1e-3)
    channel = {name: (SignalType.MjSensor, np.array([0]))}
    own = pendulum.sequences(control, measured)
    spec = own.spec.copy()
    spec.sensor("angle").name = name
    named = own.replaced(spec=spec, sensordata=[TimeSeries(measured.times, measured.data, channel)])
    known = SignalNoise({name: 0.004})  # four times what the residuals would say
    assert fit([named], pendulum.parameters(), FitSettings(), known=known).noise[name] == 0.004
