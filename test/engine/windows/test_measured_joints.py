# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A joint of which a sum with measured ones is measured is measured, too."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.signals import SignalType, TimeSeries
from sysid_ros.engine.windows import measured_joints

SPRING = """<mujoco><worldbody><body><joint name="motor"/><geom size=".1"/>
  <body><joint name="spring"/><geom size=".1"/><body><joint name="tool"/><geom size=".1"/></body>
  </body></body></worldbody>
  <tendon><fixed name="sum"><joint joint="motor" coef="1"/><joint joint="spring" coef="{}"/></fixed>
  </tendon><sensor><jointpos name="m" joint="motor"/><tendonpos name="l" tendon="sum"/></sensor>
</mujoco>"""


@pytest.mark.parametrize(("coefficient", "known"), [(1.0, [0, 1]), (0.05, [0])])
def test_an_encoder_behind_a_spring_tells_the_deflection(
    coefficient: float, known: list[int]
) -> None:
    model = mujoco.MjModel.from_xml_string(SPRING.format(coefficient))
    times = 0.005 * np.arange(400, dtype=np.float64)
    motor, deflection = np.sin(2.0 * times), 0.02 * np.sin(7.0 * times)
    mapping = {
        "l": (SignalType.MjSensor, np.array([0])), "m": (SignalType.MjSensor, np.array([1]))
    }  # fmt: skip
    series = TimeSeries(times, np.column_stack([motor + deflection, motor]), mapping)
    found = measured_joints(model, series, 30.0)
    assert sorted(found) == known
    if coefficient == 1.0:
        inside = times[40:-40]
        np.testing.assert_allclose(found[1].position(inside), deflection[40:-40], atol=1e-9)
        expected = 0.14 * np.cos(7.0 * inside)
        np.testing.assert_allclose(found[1].velocity(inside), expected, atol=2e-3)
