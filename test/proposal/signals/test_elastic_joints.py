# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Encoders on both sides of a spring: names or the motion tell which is behind it."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.mapping import map_channels

LEG = """<mujoco><option timestep="0.0005" integrator="implicitfast"/><worldbody><body>
  <joint name="drive" axis="0 1 0" armature="0.2" damping="1" frictionloss="0.3"/>
  <geom size=".03" mass=".2"/><body><joint name="spring" axis="0 1 0" stiffness="150" damping=".5"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.35" size=".03" mass="2"/></body></body></worldbody>
  <actuator><position name="servo" joint="drive" kp="300" kv="10"/></actuator></mujoco>"""


@cache
def course() -> tuple[np.ndarray, np.ndarray]:
    """Positions of motor and link, as encoders with noise show them."""
    model = mujoco.MjModel.from_xml_string(LEG)
    data, rows = mujoco.MjData(model), []
    for step in range(16000):
        time = step * model.opt.timestep
        data.ctrl[0] = 0.4 * np.sin(1.9 * time) + 0.15 * np.sin(9.0 * time + 1.0)
        mujoco.mj_step(model, data)
        if step % 10 == 0:
            rows.append((data.qpos[0], data.qpos.sum()))
    shown = np.array(rows) + 5e-5 * np.random.default_rng(0).standard_normal((len(rows), 2))
    return shown[:, 0], shown[:, 1]


def encoder(name: str, values: np.ndarray) -> Channel:
    times = 0.005 * np.arange(len(values), dtype=np.float64)
    state = "sensor_msgs/msg/JointState"
    field = f"position[{name}]"
    return Channel("/joint_states", state, field, name, "position", 0, False, (times,), (values,))


def mapped(*names: str, values: tuple[np.ndarray, ...]) -> dict[str, tuple[str, str]]:
    """By signal the name in the messages, and where its sensor is."""
    model = mujoco.MjModel.from_xml_string(LEG)
    found = map_channels(model, [encoder(*one) for one in zip(names, values, strict=True)])
    assert not any(line.doubt for line in found.bodies)
    return {one.name: (one.channel.name, "".join(one.placed[1:])) for one in found.signals}


@pytest.mark.parametrize(
    ("motor_name", "link_name"),
    [
        ("drive", "spring"),
        ("spring", "drive"),  # whatever joint a name suits, the motion tells
        ("a", "b"),
        ("b", "a"),
        ("hip_motor_position", "hip"),
    ],
)
def test_an_encoder_behind_a_spring_shows_the_sum_of_two_joints(
    motor_name: str, link_name: str
) -> None:
    motor, link = course()
    found = mapped(*sorted((motor_name, link_name)), values=(
        (motor, link) if motor_name < link_name else (link, motor)
    ))  # fmt: skip
    assert found == {
        "drive": (motor_name, ""), "spring_encoder": (link_name, "drive + spring")
    }  # fmt: skip


def test_a_measured_deflection_stays_the_springs_own() -> None:
    motor, link = course()
    found = mapped("drive", "spring", values=(motor, link - motor))
    assert found == {"drive": ("drive", ""), "spring": ("spring", "")}
