# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of a model that the pass has a table for, and those that it would miss."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.engine.derivatives.followed_model import FollowedModel

VALUES = {
    "link": 0.2, "axis": 0.1, "mass": 1.0, "sensor": 0.1, "led": 0.1, "beside": 1.1, "limit": 1.0,
}  # fmt: skip
TEXT = """<mujoco><worldbody><site name="from" pos="0 0 1"/>
  <geom name="drum" type="sphere" size="0.05" pos="1 1 1"/><site name="side" pos="1 1 {beside}"/>
  <body><joint/><geom size="0.1"/><body pos="0 0 {link}"><joint axis="{axis} 1 0" limited="true"
  range="-1 {limit}"/><geom size="0.1" mass="{mass}"/><site name="imu" pos="0 0 {sensor}"/>
  <site name="led" pos="0 0 {led}"/></body></body></worldbody>{tendon}
  <sensor><gyro site="imu"/></sensor></mujoco>"""
TENDON = """<tendon><spatial><site site="from"/><geom geom="drum" sidesite="side"/>
  <site site="led"/></spatial></tendon>"""


def changed(what: str, tendon: str = "") -> str | None:
    base, moved = (
        mujoco.MjModel.from_xml_string(TEXT.format(tendon=tendon, **VALUES | more))
        for more in ({}, {what: VALUES[what] + 0.1})
    )
    return FollowedModel(base).unfollowed_change(moved)


@pytest.mark.parametrize("what", ["link", "axis", "mass", "sensor", "led", "beside"])
def test_inertia_and_geometry_are_followed(what: str) -> None:
    assert changed(what) is None


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("link", "body_pos of a model with spatial tendons"),
        ("axis", "jnt_axis of a model with spatial tendons"),
        ("led", "site_pos"),
        ("beside", "site_pos"),
        ("limit", "jnt_range"),
    ],
)
def test_what_else_follows_from_geometry_is_told(what: str, name: str) -> None:
    assert changed(what, TENDON) == name


def test_a_sensor_beside_a_tendon_is_followed() -> None:
    assert changed("sensor", TENDON) is None
