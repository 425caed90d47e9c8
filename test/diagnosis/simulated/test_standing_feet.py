# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of legs that put a foot above or within the floor that the others stand on are told."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Recorded, Samples, repaired
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.simulated import standing_explanations

LINK, FOOT = 0.2, 0.02  # m
CORNERS = {"fl": (0.2, 0.1), "fr": (0.2, -0.1), "rl": (-0.2, 0.1), "rr": (-0.2, -0.1)}  # m
LEG = f"""<body pos="{{1}} {{2}} 0"><joint name="{{0}}_hip" axis="0 1 0" range="-60 150"/>
  <geom type="capsule" size=".01" fromto="0 0 0 0 0 -{LINK}" mass=".2"/>
  <body pos="0 0 -{LINK}"><joint name="{{0}}_knee" axis="0 1 0" range="-160 -10"/>
    <geom type="capsule" size=".01" fromto="0 0 0 0 0 -{LINK}" mass=".2"/>
    <geom type="sphere" size="{FOOT}" pos="0 0 -{LINK}" mass=".01"/></body></body>"""
DOG = f"""<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 .3"><freejoint/><geom type="box" size=".2 .1 .05" mass="5"/>
  {"".join(LEG.format(name, *place) for name, place in CORNERS.items())}
  </body></worldbody></mujoco>"""
TIMES = np.arange(0.0, 6.0, 0.02)  # s
KNEE, HIP = "fl_knee", "fl_hip"


def legs(moving: float = 1.0) -> tuple[list[FloatArray], dict[str, FloatArray]]:
    """The pose of a base that rises, goes ahead and tilts on its feet, and the angles of its legs.

    ``moving`` is how much of that it does.
    """
    ahead = 0.02 * moving * np.sin(2.1 * TIMES)
    height = 0.28 + FOOT + 0.03 * moving * np.sin(1.3 * TIMES)
    tilt = 0.08 * moving * np.sin(1.7 * TIMES + 1.0)
    angles = {}
    for name, (x, _) in CORNERS.items():
        # From the hip to the foot, in the world's axes and then in the base's.
        foot = x - ahead - x * np.cos(tilt), FOOT - height + x * np.sin(tilt)
        right = np.cos(tilt) * foot[0] - np.sin(tilt) * foot[1]
        up = np.sin(tilt) * foot[0] + np.cos(tilt) * foot[1]
        knee = -np.arccos((right**2 + up**2) / (2.0 * LINK**2) - 1.0)
        angles[f"{name}_hip"] = np.arctan2(-right, -up) - 0.5 * knee
        angles[f"{name}_knee"] = knee
    still = np.zeros_like(TIMES)
    pose = [ahead, still, height, np.cos(0.5 * tilt), still, np.sin(0.5 * tilt), still]
    return pose, angles


def recording(moving: float = 1.0, lower: float = 0.0) -> Recorded:
    """The dog as recorded, by an odometry whose zero is higher than the floor."""
    pose, angles = legs(moving)
    pose[2] = pose[2] - lower
    labels = tuple(f"coordinate {k}" for k in range(7))
    noise = 1e-3 * np.random.default_rng(0).standard_normal((len(angles), len(TIMES)))
    signals = {one: Samples(TIMES, x) for one, x in zip(labels, pose, strict=True)}
    signals |= {
        one: Samples(TIMES, x + more) for (one, x), more in zip(angles.items(), noise, strict=True)
    }
    model = mujoco.MjModel.from_xml_string(DOG)
    positions = {model.joint(name).id: name for name in angles}
    return Recorded(model, (signals,), ({},), positions, {}, {}, {}, poses={0: labels})


def told(own: Recorded, *mistakes: Change) -> list[tuple[str, str, float]]:
    """Kind, signal and size of what is told of mistakes that are planted."""
    for one in mistakes:
        own = repaired(own, one)
    return [
        (one.change.kind.value, one.change.signals[0], round(one.size, 1))
        for one in standing_explanations(own)
    ]


SWAP = Change(FindingKind.SWAP, exchange=((HIP, KNEE),))


def sign(label: str) -> Change:
    return Change(FindingKind.SIGN, scale={label: -1.0})


def zero(label: str, size: float = 0.4) -> Change:
    return Change(FindingKind.OFFSET, offset={label: size})


@pytest.mark.parametrize("lower", [0.0, 0.2])
def test_a_robot_that_stands_says_nothing(lower: float) -> None:
    """Whatever the height of the floor."""
    assert told(recording(lower=lower)) == []


@pytest.mark.parametrize(
    ("mistakes", "expected"),
    [
        ([zero(KNEE)], [("offset", KNEE, -0.4)]),
        ([zero(HIP, -0.4)], [("offset", HIP, 0.4)]),
        ([sign(KNEE)], [("sign", KNEE, 0.0)]),
        ([sign(HIP)], [("sign", HIP, 0.0)]),
        ([Change(FindingKind.SCALE, scale={KNEE: 0.5})], [("scale", KNEE, 2.0)]),
        ([SWAP], [("swap", HIP, 0.0)]),
        ([sign(KNEE), SWAP], [("swap", HIP, 0.0), ("sign", KNEE, 0.0)]),
        ([zero(HIP), sign(KNEE)], [("sign", KNEE, 0.0), ("offset", HIP, -0.4)]),
        ([zero(KNEE), sign("rr_knee")], [("sign", "rr_knee", 0.0), ("offset", KNEE, -0.4)]),
    ],
)
def test_mistaken_positions(mistakes: list[Change], expected: list[object]) -> None:
    assert sorted(told(recording(lower=0.1), *mistakes), key=str) == sorted(expected, key=str)


def test_the_interval_of_a_zero_holds_it() -> None:
    (one,) = standing_explanations(repaired(recording(), zero(KNEE)))
    assert one.interval is not None and one.interval[0] < -0.4 < one.interval[1]
    assert one.interval[1] - one.interval[0] < 0.2


def test_a_leg_that_is_held_up_says_nothing() -> None:
    """Its foot is carried by the base; of one that keeps its height nothing else is to be said."""
    own = recording()
    held = {one: Samples(TIMES, np.full_like(TIMES, -0.2)) for one in (HIP, KNEE)}
    held[KNEE] = Samples(TIMES, np.full_like(TIMES, -2.0))
    lifted = Recorded(
        own.model, ({**own.recordings[0], **held},), ({},), own.positions, {}, {}, {},
        poses=own.poses,
    )  # fmt: skip
    assert told(lifted) == []


def test_a_base_that_does_not_move_says_nothing() -> None:
    """As a leg may be held up then, at any height."""
    assert told(recording(moving=0.01), zero(KNEE)) == []


def test_a_robot_that_hangs_says_nothing() -> None:
    """Its feet are nowhere in common."""
    own = recording()
    swung = {
        one: Samples(TIMES, samples.values + 0.4 * np.sin((3.0 + k) * TIMES))
        for k, (one, samples) in enumerate(own.recordings[0].items())
        if one.endswith(("hip", "knee"))
    }
    hanging = Recorded(
        own.model, ({**own.recordings[0], **swung},), ({},), own.positions, {}, {}, {},
        poses=own.poses,
    )  # fmt: skip
    assert told(hanging) == []
