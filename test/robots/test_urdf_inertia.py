# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inertias that MuJoCo refuses are made physical, and nothing else is touched."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.errors import ModelError
from sysid_ros.robots.source import model_from_description
from sysid_ros.robots.urdf_inertia import physical_moments

ROBOT = """<robot name="r"><link name="base"/>
  <link name="arm">{inertial}<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
  </link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
INERTIAL = (
    '<inertial><mass value="{mass}"/><inertia ixx="{i[0]}" iyy="{i[1]}" izz="{i[2]}" ixy="{i[3]}" '
    'ixz="{i[4]}" iyz="{i[5]}"/></inertial>'
)


def arm(mass: float, *inertia: float) -> tuple[mujoco.MjModel, tuple[str, ...]]:
    text = ROBOT.format(inertial=INERTIAL.format(mass=mass, i=inertia))
    loaded = model_from_description(text, "text")
    return loaded.spec.compile(), loaded.warnings


@given(st.lists(st.floats(-1.0, 1e3), min_size=3, max_size=3).map(sorted))
def test_moments_become_physical_and_none_is_lowered(moments: list[float]) -> None:
    raised = physical_moments(np.array(moments))
    assert np.all(raised >= moments)
    assert np.all(raised > 0.0)
    assert raised[0] + raised[1] >= raised[2]
    assert raised[2] == max(moments[2], 1e-9) or np.array_equal(raised, moments)
    assert np.array_equal(physical_moments(raised), raised)


def test_what_is_physical_stays_as_it_is() -> None:
    model, warnings = arm(1.5, 0.02, 0.03, 0.04, 0.001, 0.002, 0.003)
    assert not warnings
    matrix = np.array([[0.02, 0.001, 0.002], [0.001, 0.03, 0.003], [0.002, 0.003, 0.04]])
    assert np.sort(model.body("arm").inertia) == pytest.approx(np.linalg.eigvalsh(matrix))


@pytest.mark.parametrize(
    "inertia", [(0, 0, 0, 0, 0, 0), (1e-3, 1e-4, 1e-4, 0, 0, 0), (1e-3, 1e-3, 1e-3, 2e-3, 0, 0)]
)
def test_what_no_body_can_have_is_said(inertia: tuple[float, ...]) -> None:
    model, warnings = arm(0.5, *inertia)
    assert model.body("arm").mass == pytest.approx(0.5)
    assert "link arm" in warnings[0]


def test_links_without_mass_or_inertia() -> None:
    model, warnings = arm(0, 0, 0, 0, 0, 0, 0)
    assert model.body("arm").mass == pytest.approx(1.0)  # a cube of 10 cm
    assert "does not say what link arm weighs" in warnings[0]


VIRTUAL = """<robot name="r"><link name="base"/><link name="hip"/><link name="mount"/>
  <link name="leg"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link><link name="tip"/>
  <joint name="yaw" type="continuous"><parent link="base"/><child link="hip"/></joint>
  <joint name="pitch" type="continuous"><parent link="hip"/><child link="mount"/></joint>
  <joint name="held" type="fixed"><parent link="mount"/><child link="leg"/></joint>
  <joint name="ankle" type="continuous"><parent link="leg"/><child link="tip"/></joint></robot>"""


def test_links_between_the_axes_of_a_ball_joint_weigh_a_gram() -> None:
    loaded = model_from_description(VIRTUAL, "text")
    model = loaded.spec.compile()
    masses = {name: float(model.body(name).mass[0]) for name in ("hip", "mount", "leg", "tip")}
    assert masses == {"hip": 1e-3, "mount": 0.0, "leg": 2.0, "tip": 1e-3}
    assert "links hip, tip no mass" in loaded.warnings[0]


SHAPE = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
NOTHING = INERTIAL.format(mass=0, i=[0] * 6)


@pytest.mark.parametrize("said", ["", NOTHING])
def test_fixed_links_that_do_not_say_what_they_weigh_weigh_nothing(said: str) -> None:
    text = VIRTUAL.replace('<link name="tip"/>', '<link name="tip"/><link name="cover"/>')
    fixed = '<joint name="f" type="fixed"><parent link="{}"/><child link="cover"/></joint>'
    for parent, own in (("leg", 2.0), ("tip", 1e-3)):  # of the lighter nothing else weighs either
        loaded = model_from_description(
            text.replace(
                '<link name="cover"/>', f'<link name="cover">{said}{SHAPE}</link>'
            ).replace("</robot>", fixed.format(parent) + "</robot>"),
            "text",
        )
        model = loaded.spec.compile()
        assert float(model.body("cover").mass[0]) == 0.0
        assert float(model.body(parent).mass[0]) == own
        assert not any("cover" in warning for warning in loaded.warnings)


def test_links_in_a_circle_are_refused() -> None:
    circle = """<joint name="one" type="fixed"><parent link="hip"/><child link="mount"/></joint>
      <joint name="two" type="fixed"><parent link="mount"/><child link="hip"/></joint>"""
    with pytest.raises(ModelError, match="does not compile"):
        model_from_description(VIRTUAL.replace("<joint", f"{circle}<joint", 1), "text")
