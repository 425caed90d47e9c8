# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units are those of the model's lengths, which its gravity tells."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.engine.signals import sensor_unit, unit_of_sensor_named

MODEL = """<mujoco><option gravity="0 0 -{}"/><worldbody><body name="b">
  <joint name="lift" type="slide"/><geom size="1"/></body></worldbody>
  <sensor><jointpos name="p" joint="lift"/><jointvel name="v" joint="lift"/>
  <jointactuatorfrc name="f" joint="lift"/><accelerometer name="a" site="s"/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("gravity", "units"),
    [
        (9.81, ["m", "m/s", "N", "m/s^2"]),
        (0.0, ["m", "m/s", "N", "m/s^2"]),
        (9810.0, ["mm", "mm/s", "mN", "mm/s^2"]),
    ],
)
def test_lengths_are_millimetres_where_gravity_is_9810(gravity: float, units: list[str]) -> None:
    text = MODEL.format(gravity).replace("<geom", '<site name="s"/><geom')
    spec = mujoco.MjSpec.from_string(text)
    model = spec.compile()
    assert [sensor_unit(model, sensor) for sensor in range(4)] == units
    assert [unit_of_sensor_named(spec, name) for name in "pvfa"] == units
