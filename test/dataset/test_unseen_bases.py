# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Free bodies whose pose nothing measures are named, with what is not known of them."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.dataset.unseen_bases import unseen_bases

MODEL = """<mujoco><worldbody><body name="hull"><freejoint/><geom size=".1"/>
  <body name="arm"><joint name="elbow"/><geom size=".1"/></body><site name="imu"/></body>
  </worldbody><sensor>{}</sensor></mujoco>"""
GYRO = '<gyro name="gyro" site="imu"/>'
PLACE = '<framepos name="place" objtype="xbody" objname="hull"/>'
TURN = '<framequat name="turn" objtype="site" objname="imu"/>'


@pytest.mark.parametrize(
    ("sensors", "unmeasured", "lacking"),
    [
        (GYRO, set(), "where it is or how it is turned"),
        (GYRO + TURN, set(), "where it is"),
        (PLACE + TURN, {"turn"}, "how it is turned"),
        (PLACE + TURN, set(), ""),
    ],
)
def test_it_is_said_what_nothing_measures(sensors: str, unmeasured: set[str], lacking: str) -> None:
    said = unseen_bases(mujoco.MjSpec.from_string(MODEL.format(sensors)), unmeasured)
    assert len(said) == bool(lacking)
    assert all(f"Body 'hull' floats and nothing measures {lacking}: " in one for one in said)
