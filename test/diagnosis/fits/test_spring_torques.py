# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Torque against springs of joints and of tendons, at every posture."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.fits import spring_torques

MODEL = """<mujoco><worldbody>
  <body><joint name="hinge" axis="0 1 0" {hinge}/><geom size=".1" mass="1"/>
    <body><joint name="slide" type="slide"/><geom size=".1" mass="1"/></body></body></worldbody>
  <tendon><fixed name="cable" {cable}><joint joint="slide" coef="2"/></fixed></tendon></mujoco>"""


def test_each_spring_pulls_at_what_it_moves() -> None:
    text = MODEL.format(
        hinge='stiffness="3" springref="10"', cable='stiffness="5" springlength=".1"'
    )
    qpos = np.array([[0.3, 0.2], [-0.1, 0.05]])
    found = spring_torques(mujoco.MjModel.from_xml_string(text), qpos)
    rest = np.deg2rad(10.0)
    assert found[:, 0, 0] == pytest.approx(3.0 * (qpos[:, 0] - rest))
    assert found[:, 1, 0] == pytest.approx(2.0 * 5.0 * (2.0 * qpos[:, 1] - 0.1))


def test_a_model_without_springs_has_no_column() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL.format(hinge="", cable=""))
    assert spring_torques(model, np.zeros((4, 2))).shape == (4, 2, 0)
