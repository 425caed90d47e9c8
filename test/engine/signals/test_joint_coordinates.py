# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals tell the coordinates of joints, wherever on the body their sensors are mounted."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.signals import base_is_known, joint_signal

MODEL = """
<mujoco>
  <worldbody>
    <body name="base">
      <freejoint name="free"/>
      <inertial pos="0.1 0.2 -0.1" mass="2" fullinertia="1 1.5 0.8 0.1 0.2 0.05"/>
      <site name="marker" pos="0.1 -0.2 0.3" euler="20 -30 40"/>
      <body name="head" pos="0 0 1"><joint name="ball" type="ball"/><geom size="0.1"/>
        <body name="arm" pos="0 0 1"><joint name="hinge"/><geom size="0.1"/></body></body>
    </body>
  </worldbody>
  <sensor>
    <framepos name="site_pos" objtype="site" objname="marker"/>
    <framequat name="site_quat" objtype="site" objname="marker"/>
    <framepos name="xbody_pos" objtype="xbody" objname="base"/>
    <framequat name="xbody_quat" objtype="xbody" objname="base"/>
    <framepos name="body_pos" objtype="body" objname="base"/>
    <framequat name="body_quat" objtype="body" objname="base"/>
    <framepos name="relative" objtype="site" objname="marker" reftype="xbody" refname="head"/>
    <framepos name="elsewhere" objtype="xbody" objname="arm"/>
    <ballquat name="neck" joint="ball"/>
    <jointpos name="elbow" joint="hinge"/>
    <jointvel name="speed" joint="hinge"/>
  </sensor>
</mujoco>
"""


@pytest.fixture(scope="module")
def moved() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    data.qpos[:] = np.random.default_rng(0).normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("frame", ["site", "xbody", "body"])
def test_a_free_body_is_found_from_any_frame_on_it(
    moved: tuple[mujoco.MjModel, mujoco.MjData], frame: str
) -> None:
    model, data = moved
    turned = joint_signal(model, f"{frame}_quat")
    placed = joint_signal(model, f"{frame}_pos")
    assert turned is not None
    assert placed is not None
    assert turned.joint == placed.joint == model.joint("free").id
    assert [*placed.coordinates, *turned.coordinates] == list(range(7))
    quaternion = turned.body_orientation(3.0 * data.sensor(f"{frame}_quat").data[None])
    place = placed.body_position(data.sensor(f"{frame}_pos").data[None], quaternion)
    sign = np.sign(quaternion[0] @ data.qpos[3:7])
    np.testing.assert_allclose(sign * quaternion[0], data.qpos[3:7], atol=1e-12)
    np.testing.assert_allclose(place[0], data.qpos[:3], atol=1e-12)


def test_a_base_is_known_by_its_place_and_its_orientation(
    moved: tuple[mujoco.MjModel, mujoco.MjData],
) -> None:
    model = moved[0]
    for names, known in (
        (("site_pos", "body_quat"), True),
        (("base_qpos",), True),  # a free joint goes by its body's name too
        (("site_pos", "neck"), False),
        (("nothing_qpos",), False),
    ):
        assert base_is_known(model, (joint_signal(model, name) for name in names)) == known


def test_joints_are_found_by_sensor_and_by_state(
    moved: tuple[mujoco.MjModel, mujoco.MjData],
) -> None:
    model, data = moved
    for name, joint in (("neck", "ball"), ("elbow", "hinge")):
        told = joint_signal(model, name)
        assert told is not None
        np.testing.assert_array_equal(data.qpos[told.coordinates], data.sensor(name).data)
        assert told == joint_signal(model, f"{joint}_qpos")
    whole = joint_signal(model, "free_qpos")
    assert whole is not None
    assert list(whole.coordinates) == list(range(7))


@pytest.mark.parametrize("name", ["relative", "elsewhere", "speed", "hinge", "nothing_qpos"])
def test_what_tells_no_joint_is_none(
    moved: tuple[mujoco.MjModel, mujoco.MjData], name: str
) -> None:
    assert joint_signal(moved[0], name) is None
