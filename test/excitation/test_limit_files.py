# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits from numbers, joint_limits.yaml and URDF, in this order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sysid_ros.excitation import ExcitationError, join_limits, read_joint_limits, read_urdf_limits

JOINTS = ("shoulder", "elbow")

URDF = """<robot name="arm">
  <joint name="shoulder" type="revolute">
    <limit lower="-1.5" upper="1.5" velocity="2" effort="30"/>
    <safety_controller soft_lower_limit="-1.2" soft_upper_limit="1.3" k_velocity="5"/>
  </joint>
  <joint name="elbow" type="revolute"><limit lower="-2" upper="2" velocity="3" effort="20"/></joint>
  <joint name="wheel" type="continuous"><limit lower="0" upper="0" velocity="9" effort="1"/></joint>
</robot>"""

MOVEIT = """
default_velocity_scaling_factor: 0.1
joint_limits:
  shoulder:
    has_velocity_limits: true
    max_velocity: 1
    has_acceleration_limits: true
    max_acceleration: 4
  elbow:
    has_position_limits: true
    min_position: !degrees -90
    max_position: !radians 1.0
    has_velocity_limits: false
    max_velocity: 0.1
    max_acceleration: 6.0
    max_deceleration: 5.0
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "limits"
    path.write_text(text)
    return path


def test_numbers_come_first_then_yaml_then_urdf(tmp_path: Path):
    sources = (read_joint_limits(write(tmp_path, MOVEIT)), read_urdf_limits(write(tmp_path, URDF)))
    limits = join_limits(JOINTS, {"effort": np.array([7.0, 8.0])}, sources)
    np.testing.assert_allclose(limits.lower, [-1.2, -np.pi / 2])
    np.testing.assert_allclose(limits.upper, [1.3, 1.0])
    np.testing.assert_allclose(limits.velocity, [1.0, 3.0])
    np.testing.assert_allclose(limits.acceleration, [4.0, 5.0])
    np.testing.assert_allclose(limits.effort, [7.0, 8.0])


def test_of_two_limits_in_a_file_the_narrower_counts(tmp_path: Path):
    wide = URDF.replace('"-1.2"', '"-9"').replace('"1.3"', '"9"')
    limits = read_urdf_limits(write(tmp_path, wide))["shoulder"]
    assert (limits["lower"], limits["upper"]) == (-1.5, 1.5)
    text = """
a: {joint_limits: {elbow: {min_position: -1, max_position: 1, max_velocity: 2}}}
b: {joint_limits: {elbow: {min_position: -3, max_position: 3, max_velocity: 1.5}}}
"""
    found = {"elbow": {"lower": -1.0, "upper": 1.0, "velocity": 1.5}}
    assert read_joint_limits(write(tmp_path, text)) == found


def test_a_deceleration_may_be_negative(tmp_path: Path):
    path = tmp_path / "joint_limits.yaml"
    path.write_text("joint_limits: {elbow: {max_acceleration: 5, max_deceleration: -4}}")
    assert read_joint_limits(path) == {"elbow": {"acceleration": 4.0}}


def test_joints_that_ros2_control_names_keep_the_limits_of_the_robot(tmp_path: Path):
    control = '<ros2_control name="arm"><joint name="elbow"/></ros2_control></robot>'
    limits = read_urdf_limits(write(tmp_path, URDF.replace("</robot>", control)))
    assert limits == read_urdf_limits(write(tmp_path, URDF))


def test_parameters_of_a_node_are_understood(tmp_path: Path):
    text = "/**:\n  ros__parameters:\n    joint_limits: {elbow: {max_velocity: 2}}\n"
    assert read_joint_limits(write(tmp_path, text)) == {"elbow": {"velocity": 2.0}}


def test_without_limits_of_acceleration_the_velocity_limit_takes_half_a_second():
    given = {"lower": -np.ones(2), "upper": np.ones(2), "velocity": np.array([1.0, 3.0])}
    limits = join_limits(JOINTS, given, ())
    np.testing.assert_allclose(limits.acceleration, [2.0, 6.0])
    assert np.all(np.isinf(limits.effort))


def test_a_continuous_joint_has_no_range_of_its_own(tmp_path: Path):
    with pytest.raises(ExcitationError, match="the limit lower of joint wheel;"):
        join_limits(("wheel",), {}, (read_urdf_limits(write(tmp_path, URDF)),))


@pytest.mark.parametrize(
    ("reader", "text", "words"),
    [
        (read_urdf_limits, "<robot>", "cannot be read from the URDF"),
        (read_urdf_limits, URDF.replace('"2"', '"fast"'), "velocity of joint 'shoulder' is 'fast'"),
        (read_joint_limits, "a: [", "cannot be read"),
        (read_joint_limits, "a: 1", "has no section 'joint_limits'"),
        (read_joint_limits, MOVEIT.replace("max_velocity: 1", "max_velocity: yes"), "is True"),
        (read_joint_limits, "a: !!python/object:os.system {}", "cannot be read"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, reader, text: str, words: str):
    with pytest.raises(ExcitationError, match=words):
        reader(write(tmp_path, text))
