# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros apply`` writes a result into other files of the robot, as far as they have room."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from outcomes import outcome as synthetic

from sysid_ros.cli import main
from sysid_ros.engine.elements import read_inertia, theta_from_inertia
from sysid_ros.engine.parameters.modifiers import (
    AttributeModifier,
    BodyInertiaModifier,
    LostCallback,
    SignalModifier,
    StartModifier,
)
from sysid_ros.errors import ErrorCode
from sysid_ros.exports.applying import apply_parameters
from sysid_ros.judgement.outcome import AppliedParameter
from sysid_ros.pipeline.result_writing import write_results

URDF = """<robot name="arm"><link name="base"/>
  <link name="forearm"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="forearm"/></joint>
</robot>"""
MJCF = """<mujoco><worldbody><body name="forearm"><joint name="elbow"/>
  <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


@pytest.fixture
def result(tmp_path: Path) -> Path:
    applied = (
        AppliedParameter("d", (0.25,), AttributeModifier("joint", "elbow", "damping").to_dict()),
        AppliedParameter("a", (0.03,), AttributeModifier("joint", "elbow", "armature").to_dict()),
        AppliedParameter("m", (2.0,), AttributeModifier("body", "forearm", "mass").to_dict()),
        AppliedParameter("k", (9.0,), AttributeModifier("actuator", "servo", "kp").to_dict()),
        AppliedParameter("t", (0.01,), SignalModifier("elbow_qpos", "delay").to_dict()),
    )
    spec = mujoco.MjSpec.from_string(MJCF)
    return write_results(replace(synthetic(), applied=applied), spec, tmp_path / "results").folder


@pytest.mark.parametrize(("text", "suffix"), [(URDF, "urdf"), (MJCF, "xml")])
def test_values_are_written_by_name(
    text: str, suffix: str, result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / f"robot.{suffix}"
    source.write_text(text)
    assert main(["apply", str(result), str(source), "--output", str(tmp_path / "new")]) == 0
    output = capsys.readouterr()
    path = tmp_path / "new" / f"model.{suffix}"
    assert output.out.splitlines()[-1] == str(path)
    assert "damping of joint elbow" in output.out
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.joint("elbow").damping[0] == 0.25
    assert model.body("forearm").mass == 2.0
    np.testing.assert_allclose(model.body("forearm").inertia, 0.2)
    assert "left out: k: Actuator 'servo' not found" in output.err or suffix == "urdf"
    assert "left out: t belongs to a signal" in output.err
    assert ("URDF has no place for the armature" in output.err) == (suffix == "urdf")
    assert source.read_text() == text


def test_nothing_is_overwritten(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.xml").write_text(MJCF)
    command = ["apply", str(result), str(tmp_path / "model.xml"), "--output", str(tmp_path)]
    assert main(command) == ErrorCode.OUTPUT_UNWRITABLE
    assert "choose another folder" in capsys.readouterr().err
    assert (tmp_path / "model.xml").read_text() == MJCF


def test_another_robot_is_refused(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cat.xml").write_text(MJCF.replace("elbow", "tail").replace("forearm", "cat"))
    command = ["apply", str(result), str(tmp_path / "cat.xml"), "--output", str(tmp_path / "new")]
    assert main(command) == ErrorCode.INVALID_MODEL
    assert "Joint 'elbow' not found" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_one_of_several_robots_is_chosen(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elbow = AttributeModifier("joint", "elbow", "damping").to_dict()
    applied = (
        AppliedParameter("d_1", (0.25,), elbow, "unit_1"),
        AppliedParameter("d_2", (0.5,), elbow, "unit_2"),
    )
    spec = mujoco.MjSpec.from_string(MJCF)
    folder = write_results(replace(synthetic(), applied=applied), spec, tmp_path / "two").folder
    (tmp_path / "robot.xml").write_text(MJCF)
    command = ["apply", str(folder), str(tmp_path / "robot.xml"), "--output"]
    assert main([*command, str(tmp_path / "a")]) == ErrorCode.DATA_UNUSABLE
    assert "choose --robot unit_1 or unit_2" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "a"), "--robot", "unit_2"]) == 0
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a" / "model.xml"))
    assert model.joint("elbow").damping[0] == 0.5
    assert main([*command, str(tmp_path / "b"), "--robot", "unit_3"]) == ErrorCode.DATA_UNUSABLE
    assert "unit_2" in capsys.readouterr().err


def test_a_whole_inertia_is_written_and_what_is_not_has_its_own_reason() -> None:
    spec = mujoco.MjSpec.from_string(MJCF)
    theta = theta_from_inertia(read_inertia(spec, "forearm"))
    theta[0] += 0.5 * np.log(2.0)  # the same body of twice the density
    whole = BodyInertiaModifier("forearm").to_dict()
    applied = (
        AppliedParameter("whole", tuple(theta), whole),
        AppliedParameter("mass", (2.0,), whole),
        AppliedParameter("start", (0.1, 0.0), StartModifier("run").to_dict()),
        AppliedParameter("code", (0.1,), LostCallback("robot:wear").to_dict()),
        AppliedParameter("free", (0.1,), {}),
    )
    changed, written, left_out = apply_parameters(spec, applied, urdf=False)
    assert [(one.parameter, one.attribute) for one in written] == [("whole", "inertia")]
    body = changed.compile().body("forearm")
    np.testing.assert_allclose([*body.mass, *body.inertia], [2.0, 0.2, 0.2, 0.2], rtol=1e-4)
    reasons = ("mass is a body's mass", "start belongs to", "code is written by", "free is written")
    assert [one.startswith(r) for one, r in zip(left_out, reasons, strict=True)] == [True] * 4
