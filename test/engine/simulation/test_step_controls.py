# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Integrals of commands are those of the samples, whatever else was integrated before."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.signals import SignalType, TimeSeries
from sysid_ros.engine.simulation import control_integrals


def test_commands_that_stay_are_not_integrated_again() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
        </body></worldbody><actuator><motor name="one" joint="a"/><motor name="two" joint="a"/>
        </actuator></mujoco>"""
    )
    times = 0.01 * np.arange(50)
    values = np.column_stack([np.sin(times), np.cos(times)])
    names = {name: (SignalType.MjCtrl, np.array([k])) for k, name in enumerate(("one", "two"))}
    known = control_integrals(model, TimeSeries(times, values, names))
    turned = TimeSeries(times, values * [1.0, -1.0], names)
    own, other = control_integrals(model, turned, known=known)
    assert own is known[0]
    assert other is not None
    assert other(np.array([0.3])) == pytest.approx(-np.sin(0.3), abs=2e-3)
