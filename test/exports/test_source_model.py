# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""model.xml is the source with nothing but the identified values changed, and loads as that."""

from __future__ import annotations

import difflib
import shutil
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_texts import spec_of

from sysid_ros.engine.attributes.attribute_table import lookup, table
from sysid_ros.engine.elements.named_elements import names
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec, joint_frictions
from sysid_ros.errors import ModelError
from sysid_ros.exports.model_difference import model_difference
from sysid_ros.exports.source_model import write_source_model
from sysid_ros.robots.model_text import ModelText

ARM = """<mujoco model="arm">
  <!-- Keep me: "damping='9'" -->
  <compiler angle="degree"/>
  <default>
    <default class="heavy">
      <joint damping="1.5" armature="0.1"/>
      <position kp="30" dampratio="1"/>
    </default>
  </default>
  <worldbody>
    <body name="upper">
      <joint name="a" class="heavy" springref="10" stiffness="2"/>
      <geom name="rod" size=".1" mass="0.5"   friction="0.9"/>
      <body name="lower" pos="0 0 .3">
        <joint name="b" frictionloss='0.2'/>
        <inertial pos="0 0 .1" euler="10 20 30" mass="2" diaginertia="1 1.5 .8"/>
        <geom name="ball" size=".1"/>
        <body name="full" euler="0 20 0"><joint name="c"/>
          <site name="mark" pos="0 0 1" zaxis="0 1 1"/>
          <inertial pos="0 0 .1" mass="2" fullinertia="1 1.5 .8 .1 .2 .05"/></body>
      </body>
    </body>
  </worldbody>
  <contact><pair name="touch" geom1="rod" geom2="ball"/></contact>
  <tendon><fixed name="wire" damping="1"><joint joint="a" coef="1"/></fixed></tendon>
  <actuator>
    <position name="servo" joint="a" class="heavy"/>
    <velocity name="wheel" joint="b" kv="2"/>
    <motor name="motor" joint="c" gear="3" forcerange="-1 1"/>
    <general name="filter" joint="c" dyntype="filter" dynprm="0.1" gainprm="2"/>
  </actuator>
</mujoco>
"""


def identified(source: ModelText, changes: dict[tuple[str, str, str], np.ndarray]):
    before = spec_of(source)
    after = before.copy()
    for (element, name, attribute), value in changes.items():
        lookup(element, attribute).write(after, name, value)
    return before, after


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in lines if line[0] == "+" and not line.startswith("+++")]


def check(source: ModelText, changes, folder: Path) -> str:
    before, after = identified(source, changes)
    path = write_source_model(source, before, after, folder)
    elsewhere = folder.with_name(folder.name + "_moved")
    shutil.copytree(folder, elsewhere)
    written = mujoco.MjModel.from_xml_path(str(elsewhere / path.name))
    assert model_difference(written, after.compile()) is None
    return path.read_text()


def candidates() -> list[tuple[str, str, str]]:
    """Every attribute of every element of the arm that it has."""
    spec = mujoco.MjSpec.from_string(ARM)
    found = []
    for element, attribute in table():
        for name in [] if element == "signal" else names(spec, element):
            try:
                lookup(element, attribute).read(spec, name)
            except (ModelError, ValueError):
                continue
            if name != "world":
                found.append((element, name, attribute))
    return found


CANDIDATES = candidates()


@pytest.mark.parametrize("key", CANDIDATES, ids=" ".join)
def test_every_attribute_alone(key: tuple[str, str, str], tmp_path: Path) -> None:
    source = ModelText("arm", ARM.encode())
    row = lookup(key[0], key[2])
    value = row.read(spec_of(source), key[1]) * 1.1 + (0.0 if key[2] == "inertia" else 0.01)
    (tmp_path / "result").mkdir()
    text = check(source, {key: value}, tmp_path / "result")
    assert 1 <= len(changed_lines(ARM, text)) <= 2
    assert "<!-- Keep me: \"damping='9'\" -->" in text


@settings(max_examples=20)
@given(data=st.data())
def test_any_attributes_together(data: st.DataObject, tmp_path_factory) -> None:
    # A geom's mass has no effect on a body whose inertia is identified.
    free = [key for key in CANDIDATES if key[::2] != ("geom", "mass")]
    chosen = data.draw(st.lists(st.sampled_from(free), unique=True, max_size=6))
    source = ModelText("arm", ARM.encode())
    factor = data.draw(st.floats(0.5, 2.0))
    before, after = spec_of(source), spec_of(source)
    for element, name, attribute in chosen:
        row = lookup(element, attribute)
        shift = np.log(factor) / 10 if attribute == "inertia" else 0.0
        row.write(after, name, row.read(after, name) * (1.0 if shift else factor) + shift)
    folder = tmp_path_factory.mktemp("result")
    try:
        expected = after.copy().compile()
    except ValueError:  # such as inertias that no body has
        return
    path = write_source_model(source, before, after, folder)
    assert model_difference(mujoco.MjModel.from_xml_path(str(path)), expected) is None


def test_a_value_of_a_default_class_goes_to_the_element(tmp_path: Path) -> None:
    source = ModelText("arm", ARM.encode())
    text = check(source, {("joint", "a", "damping"): np.array([0.1 + 0.2])}, _folder(tmp_path))
    assert changed_lines(ARM, text) == [
        '+      <joint name="a" class="heavy" springref="10" stiffness="2" '
        'damping="0.30000000000000004"/>'
    ]


def test_turned_elements_say_so_in_one_way(tmp_path: Path) -> None:
    """A quaternion stands in place of angles or axes, which MuJoCo takes no two of."""
    turned = {("body", "full", "turn_z"): [0.1], ("site", "mark", "turn_x"): [-0.2]}
    text = check(ModelText("arm", ARM.encode()), turned, _folder(tmp_path))
    assert 'euler="0 20 0"' not in text and "zaxis" not in text and text.count("quat=") == 2


def test_vectors_are_written_whole(tmp_path: Path) -> None:
    """Of them MuJoCo takes no part, as it does of other lists of numbers."""
    source = ModelText("arm", ARM.replace("<default>", "<option/><default>", 1).encode())
    before, after = spec_of(source), spec_of(source)
    before.option.gravity, after.option.gravity = [0.0, 0.0, -9.81], [0.5, 0.0, -9.81]
    path = write_source_model(source, before, after, _folder(tmp_path))
    assert '<option gravity="0.5 0 -9.81"/>' in path.read_text()


def test_servos_keep_their_words(tmp_path: Path) -> None:
    source = ModelText("arm", ARM.encode())
    changes = {
        ("actuator", "servo", "kp"): np.array([41.0]),
        ("actuator", "servo", "kv"): np.array([3.0]),
        ("actuator", "wheel", "kv"): np.array([4.0]),
    }
    text = check(source, changes, _folder(tmp_path))
    assert '<position name="servo" joint="a" class="heavy" kp="41" kv="3"/>' in text
    assert '<velocity name="wheel" joint="b" kv="4"/>' in text


def test_friction_models_are_kept(tmp_path: Path) -> None:
    """What MuJoCo has no attribute for stands in the joint's user data."""
    source = ModelText("arm", ARM.encode())
    before = spec_of(source)
    after = before.copy()
    friction = FrictionParameters(
        friction_viscous=0.1, friction_base=0.2, friction_stribeck=0.3, load_friction_motor=0.05
    )
    apply_friction_to_spec(after, "c", friction)
    path = write_source_model(source, before, after, tmp_path)
    written = mujoco.MjModel.from_xml_path(str(path))
    assert joint_frictions(written) == {"c": friction}
    assert len(changed_lines(ARM, path.read_text())) == 2  # the joint, and a <size>


def test_nothing_identified_changes_nothing(tmp_path: Path) -> None:
    assert check(ModelText("arm", ARM.encode()), {}, _folder(tmp_path)) == ARM


@pytest.mark.parametrize(
    ("name", "joint", "body", "included"),
    [
        ("double_pendulum/double_pendulum.xml", "shoulder", "link2", False),
        ("servo/robot.xml", "servo", None, False),
        ("models/franka_emika_panda/scene.xml", "joint1", "link3", True),
        ("models/trs_so_arm100/scene.xml", "Rotation", "Upper_Arm", True),
    ],
)
def test_real_models(
    name: str, joint: str, body: str | None, included: bool, shared_data: Path, tmp_path: Path
) -> None:
    source = ModelText.from_file(shared_data / name)
    changes = {("joint", joint, "armature"): np.array([1 / 3])}
    if body is not None:
        changes["body", body, "mass"] = np.array([1.25])
    text = check(source, changes, _folder(tmp_path))
    # The folder of the files and the names of included ones may differ too.
    assert len(changed_lines(source.text.decode(), text)) <= 3
    if included:
        original = (shared_data / name).parent
        for path in (tmp_path / "result" / "assets").glob("*.xml"):
            changed = changed_lines((original / path.name).read_text(), path.read_text())
            assert len(changed) <= 4
            assert any("0.3333333333333333" in line for line in changed)


@pytest.mark.filterwarnings("ignore:compiler attribute 'settotalmass' is deprecated")
@pytest.mark.parametrize("setting", ['inertiafromgeom="true"', 'settotalmass="5"'])
def test_settings_that_replace_inertias_go(setting: str, tmp_path: Path) -> None:
    text = ARM.replace('angle="degree"', f'angle="degree" {setting}')
    source = ModelText("arm", text.encode())
    edited = check(source, {("body", "lower", "mass"): np.array([2.5])}, _folder(tmp_path))
    assert setting not in edited


def test_files_are_taken_along_from_everywhere(tmp_path: Path) -> None:
    """Files in folders, above, of equal names, and includes in includes."""
    root = tmp_path / "source"
    (root / "model" / "parts").mkdir(parents=True)
    (root / "meshes" / "deep").mkdir(parents=True)
    shape = "v 0 0 0\nv {s} 0 0\nv 0 {s} 0\nv 0 0 {s}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (root / "meshes" / "deep" / "part.obj").write_text(shape.format(s=1))
    (root / "meshes" / "part.obj").write_text(shape.format(s=2))
    (root / "part.obj").write_text(shape.format(s=3))
    (root / "model" / "parts" / "inner.xml").write_text(
        "<mujocoinclude><body name='inner'><joint name='j'/><geom size='.1'/></body>"
        "</mujocoinclude>"
    )
    (root / "model" / "parts" / "outer.xml").write_text(
        "<mujoco><worldbody><include file='inner.xml'/></worldbody>"
        "<asset><include file='shapes.xml'/></asset></mujoco>"
    )
    (root / "model" / "parts" / "shapes.xml").write_text(
        "<mujocoinclude><mesh name='three' file='../part.obj'/></mujocoinclude>"
    )
    (root / "model" / "main.xml").write_text(
        """<mujoco><compiler meshdir="../meshes"/><include file="parts/outer.xml"/>
        <asset><mesh file="deep/part.obj"/><mesh name="two" file="part.obj"/></asset>
        <worldbody><geom type="mesh" mesh="part"/><geom type="mesh" mesh="two"/>
        <geom type="mesh" mesh="three"/></worldbody></mujoco>"""
    )
    source = ModelText.from_file(root / "model" / "main.xml")
    text = check(source, {("joint", "j", "damping"): np.array([0.5])}, _folder(tmp_path))
    assert 'meshdir="assets"' in text
    assert 'file="deep/part.obj"' in text
    inner = (tmp_path / "result" / "assets" / "inner.xml").read_text()
    assert "<joint name='j' damping=\"0.5\"/>" in inner


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<robot name='r'><link name='l'/></robot>", "the source is URDF"),
        (
            "<mujoco><asset><model name='m' file='m.xml'/></asset></mujoco>",
            "the source attaches other models",
        ),
        (
            "<mujoco><worldbody><replicate count='2' sep='_' offset='1 0 0'><body name='b'>"
            "<joint name='j'/><geom size='.1'/></body></replicate></worldbody></mujoco>",
            "no file of the model writes joint 'j_0'",
        ),
    ],
)
def test_what_cannot_be_kept_is_said(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text("<mujoco/>")
    (tmp_path / "model.xml").write_text(text)
    source = ModelText.from_file(tmp_path / "model.xml")
    before = spec_of(source)
    after = before.copy()
    for joint in after.joints:
        joint.armature = 0.5
    with pytest.raises(ModelError, match=reason):
        write_source_model(source, before, after, _folder(tmp_path))
    assert list((tmp_path / "result").iterdir()) == []


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "result"
    folder.mkdir()
    return folder
