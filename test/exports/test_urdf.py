# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A URDF gets the identified inertia, damping and friction, and loads as the identified model."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from model_texts import spec_of

from sysid_ros.engine.attributes.attribute_table import lookup
from sysid_ros.engine.attributes.place_attributes import PLACES
from sysid_ros.errors import ModelError
from sysid_ros.exports.model_difference import model_difference
from sysid_ros.exports.urdf_edits import edited_urdf
from sysid_ros.robots import load_model
from sysid_ros.robots.model_text import ModelText
from sysid_ros.robots.xml_text import XmlText

URDF = """<?xml version="1.0"?>
<robot name="arm">  <!-- for the lab -->
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0.3 -0.2 0.5"/>
      <mass value="1.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.012"/>
    </inertial>
  </link>
  <link name="lower"><inertial><mass value="0.7"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.002"/></inertial></link>
  <link name="tip"><inertial><mass value="0.2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="20" velocity="4"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tip"/>
    <origin xyz="0 0 0.2"/></joint>
</robot>
"""
SOURCE = ModelText("arm.urdf", URDF.encode())


def written(changes: dict[tuple[str, str, str], object]) -> tuple[str, mujoco.MjSpec]:
    before = spec_of(SOURCE)
    after = before.copy()
    for (element, name, attribute), value in changes.items():
        lookup(element, attribute).write(after, name, np.atleast_1d(np.asarray(value, float)))
    return edited_urdf(SOURCE, before, after).decode(), after


def assert_same_model(text: str, after: mujoco.MjSpec) -> None:
    model = mujoco.MjModel.from_xml_string(text)
    assert model_difference(model, after.copy().compile()) is None


def test_only_what_was_identified_changes() -> None:
    text, after = written(
        {
            ("joint", "shoulder", "damping"): 1 / 3,
            ("joint", "elbow", "frictionloss"): 0.125,
            ("body", "lower", "mass"): 1.4,
        }
    )
    assert_same_model(text, after)
    expected = URDF.replace('damping="0.1"', 'damping="0.3333333333333333"')
    expected = expected.replace('mass value="0.7"', 'mass value="1.4"')
    expected = expected.replace('ixx="0.01"', 'ixx="0.02"').replace('iyy="0.01"', 'iyy="0.02"')
    expected = expected.replace('izz="0.002"', 'izz="0.004"')
    expected = expected.replace(
        '0.3"/><axis xyz="0 1 0"/>', '0.3"/><axis xyz="0 1 0"/><dynamics friction="0.125"/>'
    )
    assert text == expected


def test_nothing_identified_changes_nothing() -> None:
    assert written({})[0] == URDF


bodies = st.sampled_from(["upper", "lower", "tip"])


@settings(max_examples=25)
@given(bodies, st.floats(0.3, 3.0), st.lists(st.floats(-0.1, 0.1), min_size=9, max_size=9))
def test_any_inertia_is_read_back(name: str, factor: float, shifts: list[float]) -> None:
    before = spec_of(SOURCE)
    theta = lookup("body", "inertia").read(before, name)
    theta = theta + np.array([0.5 * np.log(factor), *shifts])
    text, after = written({("body", name, "inertia"): theta})
    assert_same_model(text, after)
    for other in {"upper", "lower", "tip"} - {name}:
        assert link(text, other) == link(URDF, other)


@settings(max_examples=25)
@example("lower", ' rpy="0 1.5707963267948966 0"', [0.0, 0.0, 0.0, 0.125, 0.125, 0.0])  # -q for q
@given(
    bodies,
    st.sampled_from(["", ' rpy="0.3 -0.2 0.5"', ' rpy="0 1.5707963267948966 0"']),
    st.lists(st.floats(-0.2, 0.2), min_size=6, max_size=6),
)
def test_any_place_goes_to_the_joint_before_the_link(name: str, rpy: str, shift: list[float]):
    source = ModelText("arm.urdf", URDF.replace('xyz="0 0 0.3"', f'xyz="0 0 0.3"{rpy}').encode())
    before = spec_of(source)
    after = before.copy()
    for attribute, change in zip(PLACES, shift, strict=True):
        row = lookup("body", attribute)
        row.write(after, name, row.read(after, name) + change)
    text = edited_urdf(source, before, after).decode()
    assert_same_model(text, after)
    assert [link(text, each) for each in ("base", "upper", "lower", "tip")] == [
        link(URDF, each) for each in ("base", "upper", "lower", "tip")
    ]


def test_a_position_alone_leaves_angles_as_written() -> None:
    text, _ = written({("body", "lower", "pos_z"): 0.31})
    assert text == URDF.replace('xyz="0 0 0.3"', 'xyz="0 0 0.31"')


def test_a_link_before_which_is_no_joint_has_no_place() -> None:
    with pytest.raises(ModelError, match="link 'base' hangs from no joint"):
        written({("body", "base", "turn_x"): 0.1})


def link(text: str, name: str) -> bytes:
    root = XmlText(text.encode()).root
    found = next(e for e in root.named("link") if e.attributes["name"] == name)
    return text.encode()[found.start : found.end]


def test_a_link_without_inertia_gets_one(tmp_path: Path) -> None:
    text = """<robot name="r"><link name="base"/><link name="ball">
      <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <joint name="j" type="continuous"><parent link="base"/><child link="ball"/></joint></robot>"""
    source = ModelText("ball.urdf", text.encode())
    before = spec_of(source)
    after = before.copy()
    lookup("body", "mass").write(after, "ball", np.array([2.0]))
    assert_same_model(edited_urdf(source, before, after).decode(), after)


def test_mjcf_is_refused() -> None:
    source = ModelText("m.xml", b"<mujoco/>")
    with pytest.raises(ModelError, match="its root is <mujoco>"):
        edited_urdf(source, spec_of(source), spec_of(source))


@pytest.mark.parametrize(
    "mass, inertia, attribute, value",
    [("0", "0 0 0", "mass", [2.0]), ("1", "0.01 0.01 0.05", "mass_ipos", [1.0, 0.0, 0.0, 0.3])],
)
def test_what_the_file_says_wrongly_is_written_whole(tmp_path, mass, inertia, attribute, value):
    xx, yy, zz = inertia.split()
    text = f"""<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="{mass}"/>
      <inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.1"/></geometry></collision>
      </link><joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
      </robot>"""
    (tmp_path / "a.urdf").write_text(text)
    loaded = load_model(tmp_path / "a.urdf")
    after = loaded.spec.copy()
    lookup("body", attribute).write(after, "arm", np.array(value))
    written = edited_urdf(loaded.text, loaded.spec, after).decode()
    got, expected = mujoco.MjModel.from_xml_string(written), after.compile()
    for name in ("body_mass", "body_ipos", "body_inertia"):
        mine, theirs = (
            np.sort(np.atleast_1d(getattr(m, name)[m.body("arm").id])) for m in (got, expected)
        )
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
