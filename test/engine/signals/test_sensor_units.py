# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units are those of the model's lengths, which its gravity tells."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.engine.signals import (
    force_unit,
    in_metres,
    place_unit,
    rate_unit,
    sensor_unit,
    unit_of_sensor_named,
)

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
    assert [force_unit(model, 0), place_unit(model, 0)] == [units[2], units[0]]
    assert rate_unit(units[2]) == units[1]
    assert [in_metres(unit) for unit in units] == ["m", "m/s", "N", "m/s^2"]


@pytest.mark.parametrize(
    ("coefficients", "unit"),
    [((1.0, 1.0), "rad"), ((1.0, -0.02), "rad"), ((0.1, 0.05), "m")],
)
def test_a_tendon_of_hinges_is_an_angle_where_one_counts_as_it_is(
    coefficients: tuple[float, float], unit: str
) -> None:
    bodies = "".join(f'<body><joint name="{n}"/><geom size="1"/></body>' for n in "ab")
    parts = zip("ab", coefficients, strict=True)
    path = "".join(f'<joint joint="{name}" coef="{one}"/>' for name, one in parts)
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><worldbody>{bodies}</worldbody><tendon><fixed name="t">{path}</fixed></tendon>'
        '<actuator><motor name="m" tendon="t"/></actuator><sensor><tendonpos name="p" tendon="t"/>'
        '<tendonvel name="v" tendon="t"/><actuatorpos name="a" actuator="m"/></sensor></mujoco>'
    )
    model, units = spec.compile(), [unit, f"{unit}/s", unit]
    assert [sensor_unit(model, sensor) for sensor in range(3)] == units
    assert [unit_of_sensor_named(spec, name) for name in "pva"] == units
