# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A pose tells two slides and a hinge on a level where they are, and no other joints."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.mapping import map_channels
from sysid_ros.proposal.signals.planar_bases import planar_positions

TIMES = np.arange(0.0, 8.0, 0.02)
BOAT = """<mujoco><worldbody><body name="boat"><joint name="surge" type="slide" axis="1 0 0"/>
  <joint name="sway" type="slide" axis="0 {sway} 0"/><joint name="yaw" axis="{turn}"/>
  <geom size=".1" mass="1"/><site name="bow"/>
  <body><joint name="rudder" axis="0 0 1"/><geom size=".1" mass="1"/></body></body></worldbody>
  <sensor><framepos name="bow_position" objtype="site" objname="bow"/></sensor></mujoco>"""


def pose(**values: FloatArray) -> list[Channel]:
    """What changes of a pose."""
    return [
        Channel(
            "/boat/pose", "geometry_msgs/msg/PoseStamped", f"pose.{field.replace('_', '.')}", "",
            "", 0, False, (TIMES,), (own,),
        )
        for field, own in values.items()
    ]  # fmt: skip


def recorded(reach: float = 1.0) -> list[Channel]:
    half = 0.5 * 0.9 * TIMES
    return pose(
        position_x=reach * np.sin(TIMES), position_y=np.cos(TIMES),
        position_z=1e-4 * np.sin(9.0 * TIMES),
        orientation_z=np.sin(half), orientation_w=np.cos(half),
    )  # fmt: skip


def test_a_pose_is_the_positions_of_a_planar_base() -> None:
    model = mujoco.MjModel.from_xml_string(BOAT.format(sway=1, turn="0 0 1"))
    found = map_channels(model, recorded())
    told = {(one.kind, one.name): one.channel.field for one in (*found.lines, *found.bodies)}
    assert told == {
        ("qpos", "surge"): "pose.position.x",
        ("qpos", "sway"): "pose.position.y",
        ("qpos", "yaw"): "pose.orientation.yaw",
    }
    assert found.unmapped[0] == "joint 'rudder' has no measured position"
    far = map_channels(model, recorded(80.0))  # of the model, which no slide in metres goes
    assert not [one for one in far.lines if "in mm" in one.doubt]
    heading, sure = planar_positions(model, recorded())[2]
    np.testing.assert_allclose(heading.values[0], 0.9 * TIMES, atol=1e-9)
    assert not sure


@pytest.mark.parametrize(("sway", "turn"), [(-1, "0 0 1"), (1, "0 1 0"), (1, "0 0 -1")])
def test_joints_along_other_axes_are_no_planar_base(sway: int, turn: str) -> None:
    model = mujoco.MjModel.from_xml_string(BOAT.format(sway=sway, turn=turn))
    assert planar_positions(model, recorded()) == {}
