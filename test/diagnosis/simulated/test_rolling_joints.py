# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Wheels' angles that contradict the pose of the base that rolls on them are told, each alone."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Recorded, Samples
from sysid_ros.diagnosis.simulated import rolling_explanations

RADIUS, SIDE = 0.08, 0.15  # m
WHEEL = """<body name="{0}" pos="0 {1} 0"><joint name="{0}" axis="0 1 0"/>
  <geom type="cylinder" size=".08 .02" zaxis="0 1 0" mass="1"/></body>"""
BASE = f"""<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 {RADIUS}"><freejoint/><geom type="box" size=".1 .1 .03" mass="5"/>
  {WHEEL.format("left", SIDE)}{WHEEL.format("right", -SIDE)}</body></worldbody></mujoco>"""
TIMES = np.arange(0.0, 12.0, 0.02)  # s


def angles() -> dict[str, FloatArray]:
    """Of both wheels, of a base that goes to and fro and turns."""
    ahead, turn = 0.3 * np.sin(1.3 * TIMES), 0.8 * np.sin(0.9 * TIMES + 0.5)
    return {"left": (ahead - SIDE * turn) / RADIUS, "right": (ahead + SIDE * turn) / RADIUS}


def recording(
    measured: Mapping[str, FloatArray],
    height: float = RADIUS,
    own: Mapping[str, FloatArray] | None = None,
    turning: float = 1.0,
) -> Recorded:
    """The base as wheels move it that turn so, with what was measured of their angles.

    It turns by a share of what it would if wheels did not skid.
    """
    own = own or angles()
    ahead = 0.5 * RADIUS * (own["left"] + own["right"])
    yaw = turning * 0.5 * RADIUS / SIDE * (own["right"] - own["left"])
    steps = np.diff(ahead, prepend=ahead[0])
    place = np.cumsum(steps * np.cos(yaw)), np.cumsum(steps * np.sin(yaw))
    still = np.zeros_like(yaw)
    pose = (*place, still + height, np.cos(0.5 * yaw), still, still, np.sin(0.5 * yaw))
    labels = tuple(f"coordinate {k}" for k in range(7))
    signals = {one: Samples(TIMES, np.asarray(x)) for one, x in zip(labels, pose, strict=True)}
    noise = 1e-4 * np.random.default_rng(0).standard_normal(len(TIMES))
    signals |= {one: Samples(TIMES, measured[one] + noise) for one in ("left", "right")}
    model = mujoco.MjModel.from_xml_string(BASE)
    positions = {model.joint(name).id: name for name in ("left", "right")}
    return Recorded(model, (signals,), ({},), positions, {}, {}, {}, poses={0: labels})


def told(measured: Mapping[str, FloatArray], height: float = RADIUS) -> list[tuple[object, ...]]:
    found = rolling_explanations(recording(measured, height))
    return [(one.change.kind.value, *one.change.signals, round(one.size, 2)) for one in found]


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((1.0, 1.0), []),
        ((-1.0, 1.0), [("sign", "left", 0.0)]),
        ((1.0, 180.0 / np.pi), [("degrees", "right", 0.0)]),
        ((2.0, 1.0), [("scale", "left", 0.5)]),
        ((180.0 / np.pi, -1.0), [("degrees", "left", 0.0), ("sign", "right", 0.0)]),
        ((1.1, 1.0), []),  # a radius that is rounded, and slip
        ((-1.0, -1.0), []),  # or the pose is turned, ...
        ((2.0, 2.0), []),  # ... or radii are half
    ],
)
def test_the_angle_of_a_wheel(
    factors: tuple[float, float], expected: list[tuple[object, ...]]
) -> None:
    own = angles()
    assert told({"left": factors[0] * own["left"], "right": factors[1] * own["right"]}) == expected


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_exchanged_wheels(sign: float) -> None:
    """With a sign, which is told behind the exchange."""
    own = angles()
    swap, reversed_ = ("swap", "left", "right", 0.0), ("sign", "right", 0.0)
    measured = {"left": sign * own["right"], "right": own["left"]}
    assert told(measured) == ([swap] if sign > 0.0 else [swap, reversed_])


def test_a_base_that_is_not_on_its_floor_tells_nothing() -> None:
    """As of odometry in a plane, whose zero is the floor's."""
    own = angles()
    assert told({"left": -own["left"], "right": own["right"]}, height=0.0) == []


@pytest.mark.parametrize("turning", [0.8, 0.6, 0.4])
def test_wheels_that_skid_in_a_circle_have_no_factors(turning: float) -> None:
    """Of all that it turns, a base whose wheels nothing steers turns a part."""
    steps = 0.02 / RADIUS * np.array([0.1 + 0.03 * np.sin(TIMES), 0.5 + 0.05 * np.sin(1.3 * TIMES)])
    left, right = np.cumsum(steps, axis=1)
    own = {"left": left, "right": right}
    assert rolling_explanations(recording(own, own=own, turning=turning)) == []
    (sign,) = rolling_explanations(recording({**own, "left": -left}, own=own))
    assert sign.change.signals == ("left",)
