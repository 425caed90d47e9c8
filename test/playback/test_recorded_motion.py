# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions are read from results as they were measured and simulated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pendulum_result import DURATION, MODEL, measured, sequence, write_pendulum_result

from sysid_ros.errors import DataError, ModelError
from sysid_ros.playback.frames import frames_of
from sysid_ros.playback.recorded_motion import load_motion, motion_of
from sysid_ros.results import ResultError


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pendulum_result(tmp_path_factory.mktemp("results"))


def test_what_was_held_out_is_shown_first(result: Path) -> None:
    motion, model = load_motion(result)
    assert (motion.sequence, motion.joints) == ("held_out", ("shoulder",))
    assert motion.duration == DURATION
    np.testing.assert_array_equal(motion.measured[:, 0], measured(motion.times))
    np.testing.assert_array_equal(motion.measured_velocity[:, 0], np.cos(motion.times))
    assert model.joint("elbow").id == 1


def test_gaps_of_the_simulation_are_bridged(result: Path) -> None:
    motion, _ = load_motion(result, "trained")
    predicted = np.r_[0:50, 60:201]
    np.testing.assert_allclose((motion.simulated - motion.measured)[predicted], 0.8)
    assert np.isfinite(motion.simulated).all()


def test_the_initial_simulation_can_be_chosen(result: Path) -> None:
    motion, _ = load_motion(result, simulated="initial")
    np.testing.assert_allclose(motion.simulated - motion.measured, 1.6)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"sequence": "heldout"}, DataError, "held_out"),
        ({"simulated": "final"}, DataError, "fitted"),
    ],
)
def test_wrong_names_are_said(given, error, message: str, result: Path) -> None:
    with pytest.raises(error, match=message):
        load_motion(result, **given)


def test_results_that_cannot_move_are_said(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="not a result folder"):
        load_motion(tmp_path)
    folder = write_pendulum_result(tmp_path)
    (folder / "model.xml").unlink()
    with pytest.raises(ModelError, match=r"no model\.xml"):
        load_motion(folder)
    (folder / "residuals.npz").unlink()
    assert json.loads((folder / "result.json").read_text())["format"]
    with pytest.raises((DataError, ModelError)):
        load_motion(folder)


def test_signals_of_no_joint_are_no_motion() -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(DataError, match="force"):
        motion_of(sequence("any", "training"), model)
    whole = sequence("any", "training")
    torques = tuple(replace(signal, unit="N m") for signal in whole.signals)
    with pytest.raises(DataError, match=r"\(a fit to measured torque simulates no motion\)"):
        motion_of(replace(whole, signals=torques), model)


@given(st.floats(-1.0, 5.0))
def test_rows_are_found_by_time(elapsed: float) -> None:
    motion = motion_of(sequence("any", "training"), mujoco.MjModel.from_xml_string(MODEL))
    row = motion.row_at(elapsed)
    assert 0 <= row < len(motion.times)
    assert motion.times[row] <= max(elapsed, 0.0)
    assert row == len(motion.times) - 1 or motion.times[row + 1] > elapsed


def test_joints_that_were_not_measured_stay() -> None:
    motion = motion_of(sequence("any", "training"), mujoco.MjModel.from_xml_string(MODEL))
    np.testing.assert_array_equal(motion.measured_qpos[:, 0], motion.measured[:, 0])
    np.testing.assert_array_equal(motion.simulated_qpos[:, 0], motion.simulated[:, 0])
    assert np.all(motion.simulated_qpos[:, 1] == 0.1)


@given(st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2))
def test_frames_lead_to_where_the_bodies_are(angles: list[float]) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    data.qpos[:] = angles
    mujoco.mj_kinematics(model, data)
    position, quaternion = np.zeros(3), np.array([1.0, 0, 0, 0])
    for frame, child in zip(frames_of(model, np.array(angles)), ("upper", "lower"), strict=True):
        turned = np.empty(3)
        mujoco.mju_rotVecQuat(turned, frame.position, quaternion)
        position = position + turned
        product = np.empty(4)
        mujoco.mju_mulQuat(product, quaternion, frame.quaternion)
        quaternion = product
        assert frame.child == child
        np.testing.assert_allclose(position, data.body(child).xpos, atol=1e-12)
        np.testing.assert_allclose(quaternion, data.body(child).xquat, atol=1e-12)
