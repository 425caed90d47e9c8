# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How fast wheels turn as their base moves: as MuJoCo has it where they roll."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.elements.rolling_wheels import rolling_wheel

RADIUS, WIDTH = 0.05, 0.3
BASE = """<mujoco><worldbody><body pos="1 2 {r}" quat="{turn}">{free}
  <geom type="box" size=".1 .1 .02" mass="5"/>
  <body pos=".08 {w} 0"><joint name="left" axis="0 {sign} 0"/>
    <geom type="cylinder" size="{r} .01" euler="90 0 0"/></body>
  <body name="caster" pos="-.08 0 0"><joint name="swivel" axis="0 0 1"/><geom size=".01"/></body>
  <body name="bare" pos="-.08 0 0"><joint name="bare" axis="0 1 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</body></worldbody></mujoco>"""

PLANAR = """<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
  <joint axis="0 0 1"/>"""


def base(sign: int = 1, turn: str = "1 0 0 0", free: str = "<freejoint/>") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        BASE.format(r=RADIUS, w=WIDTH / 2.0, sign=sign, turn=turn, free=free)
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("free", "turn"),
    [
        *itertools.product(["<freejoint/>", ""], ["1 0 0 0", "0.5 0 0 -0.8"]),
        (PLANAR, "1 0 0 0"),  # along the world's axes
    ],
)
def test_a_wheel_rolls_without_slip(sign: int, free: str, turn: str) -> None:
    """In the axes of the base, whichever way that is turned where the model begins."""
    model = base(sign, turn, free)
    wheel = rolling_wheel(model, model.joint("left").id)
    assert wheel is not None and wheel.radius == pytest.approx(RADIUS)
    expected = np.array([1.0, 0.0, 0.0, 0.0, -RADIUS, -WIDTH / 2.0]) * sign / RADIUS
    np.testing.assert_allclose(wheel.weights, expected, atol=1e-9)


def test_what_touches_the_floor_does_not_move_along_the_wheel() -> None:
    """By MuJoCo's own Jacobian of the point below the axis."""
    model = base(turn="0.5 0 0 -0.8")
    wheel = rolling_wheel(model, 1)
    assert wheel is not None
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    twist = np.random.default_rng(1).normal(size=6) * [1.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    data.qvel[:3] = data.xmat[1].reshape(3, 3) @ twist[:3]
    data.qvel[3:6] = twist[3:]
    data.qvel[6] = wheel.weights @ twist
    below, jacobian = data.xanchor[1] - [0.0, 0.0, RADIUS], np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, jacobian, None, below, int(model.jnt_bodyid[1]))
    along = data.xmat[1].reshape(3, 3)[:, 0]
    assert along @ jacobian @ data.qvel == pytest.approx(0.0, abs=1e-12)


def test_what_is_no_wheel_has_no_speed() -> None:
    model = base()
    assert rolling_wheel(model, model.joint("swivel").id) is None
    assert rolling_wheel(model, model.joint("bare").id) is None
    assert rolling_wheel(model, 0) is None  # the free joint
    model.opt.gravity[:] = 0.0
    assert rolling_wheel(model, 1) is None
