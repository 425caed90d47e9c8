# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of all kinds of joints from the signals of a result."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.engine.signals.tangent import rotation_between
from sysid_ros.judgement.outcome import SequenceFit, SignalFit
from sysid_ros.playback.joint_positions import configurations, shown_joints

MODEL = """<mujoco><worldbody>
  <body name="trunk"><freejoint/><geom size="0.1"/>
    <body name="arm"><joint name="shoulder" type="ball"/><geom size="0.1"/>
      <body><joint name="elbow" axis="0 1 0" ref="0.1"/><geom size="0.1"/></body></body></body>
</worldbody></mujoco>"""
COUNT = 20
TIMES = np.arange(COUNT) / 100.0


def turned(rng: np.random.Generator) -> np.ndarray:
    """Orientations that go on turning, (COUNT, 4)."""
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    rows = []
    for _ in range(COUNT):
        rows.append(quaternion.copy())
        mujoco.mju_quatIntegrate(quaternion, rng.normal(size=3), 0.5)
    return np.array(rows)


def orientation(name: str, measured: np.ndarray, fitted: np.ndarray) -> list[SignalFit]:
    """The three signals of an orientation, as results have them."""
    first = np.repeat(measured[:1], COUNT, axis=0)
    vector, error = rotation_between(first, measured), rotation_between(measured, fitted)
    origin = tuple(measured[0].tolist())
    return [
        SignalFit(f"{name}[{k}]", "rad", TIMES, vector[:, k], vector[:, k], column, origin=origin)
        for k, column in enumerate((vector + error).T)
    ]


def number(name: str, unit: str, values: np.ndarray, joint: str = "") -> SignalFit:
    return SignalFit(name, unit, TIMES, values, values, values + 0.5, joint)


def same_turn(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(rotation_between(a, b), 0.0, atol=1e-9)


@given(st.integers(0, 1000))
def test_every_joint_is_where_its_signals_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = mujoco.MjModel.from_xml_string(MODEL)
    trunk, trunk_fitted, ball, ball_fitted = (turned(rng) for _ in range(4))
    place, angle = rng.normal(size=(COUNT, 3)), rng.normal(size=COUNT)
    signals = [
        number("elbow_encoder", "rad", angle, "elbow"),
        *orientation("shoulder_qpos", ball, ball_fitted),
        *(number(f"trunk_qpos_position[{k}]", "m", place[:, k]) for k in range(3)),
        *orientation("trunk_qpos_orientation", trunk, trunk_fitted),
        number("trunk_qvel_linear[0]", "m/s", angle),
        number("touch", "N", angle),
    ]
    shown = shown_joints(model, SequenceFit("any", "training", tuple(signals), np.zeros(1)))
    measured = configurations(model, shown, "measured", TIMES)
    np.testing.assert_allclose(measured[:, :3], place)
    same_turn(measured[:, 3:7], trunk)
    same_turn(measured[:, 7:11], ball)
    np.testing.assert_allclose(measured[:, 11], angle)
    fitted = configurations(model, shown, "fitted", TIMES)
    np.testing.assert_allclose(fitted[:, :3], place + 0.5)
    same_turn(fitted[:, 3:7], trunk_fitted)
    same_turn(fitted[:, 7:11], ball_fitted)


def test_parts_that_are_missing_stay_as_they_are() -> None:
    rng = np.random.default_rng(0)
    model = mujoco.MjModel.from_xml_string(MODEL)
    quaternions = turned(rng)
    oriented = orientation("trunk_qpos_orientation", quaternions, quaternions)
    gap = np.full(COUNT, np.nan)
    lost = [replace(s, fitted=gap) for s in orientation("shoulder_qpos", quaternions, quaternions)]
    signals = (*oriented, *lost, number("trunk_qpos_position[1]", "m", np.ones(COUNT)))
    shown = shown_joints(model, SequenceFit("any", "training", signals, np.zeros(1)))
    fitted = configurations(model, shown, "fitted", TIMES)
    assert np.all(fitted[:, :3] == 0.0)  # one of three coordinates says little
    same_turn(fitted[:, 3:7], quaternions)
    same_turn(fitted[:, 7:11], np.repeat(quaternions[:1], COUNT, axis=0))  # as it was first
    assert np.all(fitted[:, 11] == model.qpos0[11])

    unknown = tuple(replace(signal, origin=()) for signal in lost)  # of an older result
    alone = (*unknown, number("trunk_qpos_position[1]", "m", np.ones(COUNT)))
    assert shown_joints(model, SequenceFit("any", "training", alone, np.zeros(1))) == ()
