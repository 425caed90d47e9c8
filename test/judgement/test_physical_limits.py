# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses and armatures that a robot of that size does not have."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.judgement.physical_limits import impossible_values


def arm(*, mass: float = 2.0, armature: float = 0.1, size: float = 0.05) -> mujoco.MjModel:
    """A shoulder and a wrist of an arm of ten kilograms."""
    return mujoco.MjModel.from_xml_string(f"""
    <mujoco><worldbody><body name="upper"><joint name="shoulder" axis="0 1 0" armature="1"/>
      <geom type="box" size=".05 .05 .4" pos="0 0 .4" mass="8"/>
      <body name="hand" pos="0 0 .8"><joint name="wrist" axis="0 0 1" armature="{armature}"/>
        <geom type="box" size="{size} {size} {size}" mass="{mass}"/></body></body></worldbody>
    </mujoco>""")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (arm(), arm(mass=3.0, armature=0.2), ""),
        (arm(), arm(armature=1.0), "an armature of 1 kg m^2 on wrist is 3e+02 times the inertia"),
        (arm(armature=1.0), arm(armature=1.1), ""),  # the author of the model knows
        (arm(), arm(mass=50.0), "hand with 50 kg would be denser than lead"),
        (arm(), arm(mass=1e-4), "hand with 0.0001 kg would be lighter than foam"),
        (arm(size=0.01), arm(size=0.01, mass=5.0), ""),  # its box is not its size
        (arm(size=0.03), arm(size=0.03, mass=3.0), ""),  # a part of it at most
    ],
)
def test_values_are_ruled_out_by_size(
    before: mujoco.MjModel, after: mujoco.MjModel, said: str
) -> None:
    found = impossible_values(before, after)
    assert len(found) == bool(said)
    assert all(one.clause.startswith(said) for one in found)


def test_an_arm_that_is_stretched_along_an_axis_has_inertia_about_it_elsewhere() -> None:
    def pillar(armature: float) -> mujoco.MjModel:
        return mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><body>
          <joint name="base" axis="0 0 1" armature="{armature}"/>
          <geom type="capsule" size=".02 .1" mass=".1"/><body pos="0 0 .1">
          <joint name="shoulder" axis="0 1 0"/>
          <geom type="capsule" size=".02 .4" pos="0 0 .4" mass="2"/></body></body></worldbody>
        </mujoco>""")

    assert impossible_values(pillar(0.01), pillar(0.3)) == ()


def test_rotors_may_be_as_heavy_as_the_arm_where_torque_shows_them() -> None:
    before, after = arm(), arm(armature=1.0)
    assert impossible_values(before, after)
    assert impossible_values(before, after, by_torque=True) == ()
    assert impossible_values(before, arm(armature=20.0), by_torque=True)


def test_gravity_of_torque_in_another_unit_is_named() -> None:
    def lying(mass: float) -> mujoco.MjModel:
        model = arm()
        model.body_mass[1:] *= mass
        return model

    assert impossible_values(lying(1.0), lying(0.6), by_torque=True) == ()
    (said,) = impossible_values(lying(1.0), lying(0.1), by_torque=True)
    assert said.clause.startswith("gravity on the joints is 0.1 times the model's")
    assert impossible_values(lying(1.0), lying(0.1)) == ()  # a simulation has no such unit
