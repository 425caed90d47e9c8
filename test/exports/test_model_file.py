# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""model.xml loads by itself, somewhere else, and is the same model."""

from __future__ import annotations

import shutil
import struct
import zlib
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.errors import ModelError
from sysid_ros.exports import StartState, write_model

# Compiled fields that decide how the model moves; 0 tolerance for what identification changes.
EXACT = (
    "nq", "nv", "nu", "na", "nsensordata", "nmesh", "ntex", "nhfield", "body_mass", "dof_armature",
    "dof_damping", "dof_frictionloss", "jnt_range", "jnt_stiffness", "actuator_gear",
    "actuator_biasprm", "actuator_dynprm", "actuator_forcerange", "geom_friction",
)  # fmt: skip
CLOSE = ("body_inertia", "body_ipos", "body_pos", "geom_size", "actuator_gainprm", "qpos0")


def moved(path: Path, tmp_path: Path) -> mujoco.MjModel:
    """Load a copy of the result from another folder, with the first one gone."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(path.parent, elsewhere)
    shutil.rmtree(path.parent)
    return mujoco.MjModel.from_xml_path(str(elsewhere / path.name))


def assert_same_model(model: mujoco.MjModel, expected: mujoco.MjModel) -> None:
    for name in EXACT:
        np.testing.assert_allclose(
            getattr(model, name), getattr(expected, name), rtol=1e-15, err_msg=name
        )
    for name in CLOSE:
        np.testing.assert_allclose(
            getattr(model, name), getattr(expected, name), rtol=1e-5, atol=1e-9, err_msg=name
        )


def identified(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Give the first joint and body values with more digits than MuJoCo writes."""
    spec.joints[0].armature = 0.123456789012345
    spec.joints[0].frictionloss = 1 / 3
    return spec


@pytest.mark.parametrize(
    "name",
    [
        "double_pendulum/double_pendulum.xml",
        "servo/robot.xml",
        "models/franka_emika_panda/scene.xml",  # includes panda.xml
        "models/trs_so_arm100/so_arm100.xml",
    ],
)
def test_real_models(name: str, shared_data: Path, tmp_path: Path) -> None:
    spec = identified(mujoco.MjSpec.from_file(str(shared_data / name)))
    (tmp_path / "result").mkdir()
    path = write_model(spec, tmp_path / "result")
    model = moved(path, tmp_path)
    assert_same_model(model, spec.compile())
    assert model.dof_armature[0] == 0.123456789012345
    assert model.dof_frictionloss[0] == 1 / 3


@pytest.mark.parametrize("name", ["double_pendulum/double_pendulum.xml", "servo/robot.xml"])
def test_moves_alike(name: str, shared_data: Path, tmp_path: Path) -> None:
    spec = identified(mujoco.MjSpec.from_file(str(shared_data / name)))
    expected = spec.compile()
    model = mujoco.MjModel.from_xml_path(str(write_model(spec, tmp_path)))
    ends = []
    for each in (expected, model):
        data = mujoco.MjData(each)
        data.qpos[:] = 0.7
        data.ctrl[:] = 0.3
        for _ in range(500):
            mujoco.mj_step(each, data)
        ends.append(np.concatenate([data.qpos, data.qvel]))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9, atol=1e-12)


def test_start_state(tmp_path: Path, shared_data: Path) -> None:
    spec = mujoco.MjSpec.from_file(str(shared_data / "double_pendulum/double_pendulum.xml"))
    start = StartState(qpos=[np.pi, -1 / 3], qvel=[0.1, 0.0], ctrl=[0.5, 0.0])
    (tmp_path / "result").mkdir()
    model = moved(write_model(spec, tmp_path / "result", start_state=start), tmp_path)
    np.testing.assert_array_equal(model.key("start").qpos, start.qpos)
    np.testing.assert_array_equal(model.key("start").qvel, start.qvel)
    np.testing.assert_array_equal(model.key("start").ctrl, start.ctrl)
    assert len(spec.keys) == 0  # the caller's model is not touched


def test_keyframe_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody>"
        "<keyframe><key name='home' qpos='2'/><key name='start' qpos='1'/></keyframe></mujoco>"
    )
    path = write_model(spec, tmp_path, start_state=StartState(qpos=[0.25], qvel=[0.0]))
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.nkey == 2
    assert model.key("start").qpos == [0.25]
    assert model.key("home").qpos == [2.0]


def png(path: Path, red: int) -> None:
    """An 8x8 picture."""
    rows = b"".join(b"\0" + bytes([red, i * 16, 0] * 8) for i in range(8))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


TETRAHEDRON = "v 0 0 0\nv {s} 0 0\nv 0 {s} 0\nv 0 0 {s}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def scattered(tmp_path: Path) -> Path:
    """A model over several folders: includes, equal file names, textures, a height field."""
    source = tmp_path / "source"
    (source / "a" / "deep").mkdir(parents=True)
    (source / "b").mkdir()
    (source / "a/deep/part.obj").write_text(TETRAHEDRON.format(s=1))
    (source / "b/part.obj").write_text(TETRAHEDRON.format(s=2))
    png(source / "b/skin.png", 10)
    png(source / "b/side.png", 200)
    (source / "inc.xml").write_text(
        "<mujoco><worldbody><body name='inc'><joint name='ji'/><geom size='.1'/></body></worldbody>"
        "<actuator><motor name='m' joint='ji'/></actuator></mujoco>"
    )
    (source / "main.xml").write_text(
        """<mujoco model="scattered"><compiler meshdir="a" texturedir="b"/><include file="inc.xml"/>
        <asset>
          <mesh file="deep/part.obj"/>
          <mesh name="other" file="../b/part.obj" scale="0.5 0.5 0.5"/>
          <texture name="t" type="2d" file="skin.png"/>
          <texture name="c" type="cube" fileright="side.png" fileleft="skin.png"/>
          <hfield name="h" file="../b/skin.png" size="1 1 1 0.1"/>
          <material name="m" texture="t"/>
        </asset>
        <worldbody><geom type="hfield" hfield="h"/>
          <body name="b"><joint name="j"/><geom name="g" type="mesh" mesh="part" material="m"/>
            <geom type="mesh" mesh="other"/></body></worldbody></mujoco>"""
    )
    return source / "main.xml"


def test_scattered_assets(scattered: Path, tmp_path: Path) -> None:
    spec = identified(mujoco.MjSpec.from_file(str(scattered)))
    expected = spec.compile()
    (tmp_path / "result").mkdir()
    path = write_model(spec, tmp_path / "result")
    shutil.rmtree(scattered.parent)
    model = moved(path, tmp_path)
    assert_same_model(model, expected)
    assert model.mesh("part").id == expected.mesh("part").id
    np.testing.assert_array_equal(model.mesh_vert, expected.mesh_vert)
    np.testing.assert_array_equal(model.tex_data, expected.tex_data)
    np.testing.assert_array_equal(model.hfield_data, expected.hfield_data)


def test_assets_in_memory(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(
        "<mujoco><asset><mesh name='part' file='part.obj'/></asset><worldbody><body><joint/>"
        "<geom type='mesh' mesh='part'/></body></worldbody></mujoco>",
        assets={"part.obj": TETRAHEDRON.format(s=1).encode()},
    )
    (tmp_path / "result").mkdir()
    model = moved(write_model(spec, tmp_path / "result"), tmp_path)
    assert model.nmesh == 1


def test_urdf(tmp_path: Path) -> None:
    source = tmp_path / "urdf"
    (source / "meshes").mkdir(parents=True)
    (source / "meshes/part.obj").write_text(TETRAHEDRON.format(s=0.1))
    (source / "arm.urdf").write_text(
        """<robot name="arm">
        <mujoco><compiler strippath="false" discardvisual="false"/></mujoco>
        <link name="base"/>
        <link name="l1"><inertial><origin xyz="0 0 0.1234567890123"/><mass value="1.23456789"/>
          <inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0.001" ixz="0" iyz="0"/></inertial>
          <visual><geometry><mesh filename="meshes/part.obj"/></geometry></visual></link>
        <joint name="j1" type="revolute"><parent link="base"/><child link="l1"/><axis xyz="0 1 0"/>
          <limit lower="-1" upper="1" effort="10" velocity="3"/>
          <dynamics damping="0.1" friction="0.05"/></joint></robot>"""
    )
    spec = identified(mujoco.MjSpec.from_file(str(source / "arm.urdf")))
    expected = spec.compile()
    (tmp_path / "result").mkdir()
    path = write_model(spec, tmp_path / "result")
    shutil.rmtree(source)
    model = moved(path, tmp_path)
    assert_same_model(model, expected)
    assert model.body("l1").mass == 1.23456789


def test_missing_file_is_named(scattered: Path, tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_file(str(scattered))
    spec.compile()
    (scattered.parent / "b/skin.png").unlink()
    with pytest.raises(ModelError, match=r"skin\.png"):
        write_model(spec, tmp_path)


def test_a_payload_that_was_added_in_code_is_kept(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="cart"><joint type="slide"/>'
        '<inertial pos="0 0 0" mass="2" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>'
    )
    payload = spec.body("cart").add_body(name="payload")
    payload.mass = 1.0
    payload.inertia = [0.001, 0.001, 0.001]
    expected = spec.copy().compile()
    assert expected.body("payload").mass[0] == 1.0
    (tmp_path / "result").mkdir()
    model = moved(write_model(spec, tmp_path / "result"), tmp_path)
    assert_same_model(model, expected)
    assert not payload.explicitinertial  # the user's spec is not changed
