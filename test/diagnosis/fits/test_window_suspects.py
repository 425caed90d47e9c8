# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What may be wrong of a model and of its sensors, and masses written without compiling."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.fits import (
    centre_of,
    gravity_of,
    mass_of,
    with_names,
)
from sysid_ros.diagnosis.fits.window_suspects import compensations, offsets_of_sensors
from sysid_ros.engine.elements import body_inertia
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries

_MODEL = """
<mujoco><worldbody>
  <body><joint/><inertial pos="0 0 .1" mass="2" fullinertia=".1 .2 .25 .01 .02 .03"/>
    <body name="geom"><joint axis="0 1 0"/><geom size=".1"/></body>
  </body>
</worldbody></mujoco>
"""


class _Sequences:
    """A spec and its model."""

    def __init__(self, spec: mujoco.MjSpec) -> None:
        self.spec, self.gt_model = spec, spec.copy().compile()

    def replaced(self, spec: mujoco.MjSpec) -> _Sequences:
        return _Sequences(spec)


def test_a_mass_is_written_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    given = _Sequences(mujoco.MjSpec.from_string(_MODEL))
    named = with_names(cast("ModelSequences", given), {1: "full", 2: "geom"})
    assert named.gt_model.body_inertia == pytest.approx(given.gt_model.body_inertia, rel=1e-12)
    masses = [mass_of(named, name) for name in ("full", "geom")]
    monkeypatch.delattr(body_inertia, "_compiled_unfused")
    for mass in masses:
        mass.update_from_vector(1.5 * mass.value)
        mass.apply_modifier(named.spec)
    heavier = named.spec.compile()
    assert heavier.body_mass == pytest.approx(1.5 * given.gt_model.body_mass)
    assert heavier.body_inertia == pytest.approx(1.5 * given.gt_model.body_inertia)
    assert heavier.body_iquat == pytest.approx(given.gt_model.body_iquat)


def test_coordinates_of_a_centre_by_the_attributes_that_free_them() -> None:
    given = _Sequences(mujoco.MjSpec.from_string(_MODEL))
    named = with_names(cast("ModelSequences", given), {1: "full", 2: "geom"})
    found = centre_of(named, "full")
    values = {key: float(one.value[0]) for key, one in found.items()}
    assert values == pytest.approx({"com_x": 0.0, "com_y": 0.0, "com_z": 0.1})
    spec = named.spec.copy()
    moved = found["com_x"]
    moved.update_from_vector([0.05])
    assert moved.modifier is not None
    moved.modifier(spec, moved)
    assert spec.compile().body("full").ipos == pytest.approx([0.05, 0.0, 0.1])


def test_every_axis_of_an_imu_may_be_off_and_no_other_sensor() -> None:
    body = '<body><joint name="tilt"/><geom size=".1"/><site name="imu"/></body>'
    sensors = '<gyro name="rate" site="imu"/><accelerometer name="unread" site="imu"/>'
    spec = mujoco.MjSpec.from_string(
        f"<mujoco><worldbody>{body}</worldbody><sensor>{sensors}"
        '<jointpos name="angle" joint="tilt"/></sensor></mujoco>'
    )
    mapping = {
        "rate": (SignalType.MjSensor, np.arange(3)),
        "angle": (SignalType.MjSensor, np.r_[3]),
    }
    measured = TimeSeries(np.arange(2.0), np.zeros((2, 4)), mapping)
    sequences = SimpleNamespace(spec=spec, sensordata=[measured])
    found = offsets_of_sensors(cast("ModelSequences", sequences), lambda *_: False)
    assert [one.name for one in found] == [f"bias_{axis} of rate" for axis in "xyz"]
    found = offsets_of_sensors(cast("ModelSequences", sequences), lambda _, row: row == "bias_y")
    assert [one.name for one in found] == ["bias_x of rate", "bias_z of rate"]


def test_shares_of_weights_that_a_model_compensates_may_be_off_and_no_others() -> None:
    link = '<body name="{}" gravcomp="{}"><joint/><geom size=".1"/></body>'
    links = "".join(link.format(*one) for one in (("light", 0.6), ("plain", 0.0), ("known", 1.0)))
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{links}</worldbody></mujoco>")
    sequences = cast("ModelSequences", SimpleNamespace(spec=spec))
    (found,) = compensations(sequences, lambda name: name == "known")
    assert (found.name, found.value[0]) == ("compensated of light", 0.6)


@pytest.mark.parametrize("gravity", [0.0, -9.81, -9810.0])  # of a model in millimetres
def test_gravity_of_any_unit_is_within_its_bounds(gravity: float) -> None:
    spec = mujoco.MjSpec.from_string(_MODEL)
    spec.option.gravity = [0.0, 0.0, gravity]
    found = gravity_of(cast("ModelSequences", _Sequences(spec)))
    low, high = found.get_bounds()
    assert np.all(low <= 5.0 * gravity)
    assert np.all(high >= -5.0 * gravity)
    assert np.min(high) >= 100.0
