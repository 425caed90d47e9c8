# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""ros2_control.yaml is read by a real node, number for number."""

from __future__ import annotations

from pathlib import Path

import mujoco
import rclpy
from outcomes import outcome as synthetic
from rclpy.context import Context

from sysid_ros.exports.ros2_control import ros2_control_yaml

MODEL = """<mujoco><worldbody><body><joint name="elbow" damping="0.1234567890123456"/>
  <geom size=".1"/></body></worldbody>
  <actuator><position joint="elbow" kp="30" kv="1e-7"/></actuator></mujoco>"""


def test_a_node_gets_the_parameters(ros_environment: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "ros2_control.yaml"
    file.write_text(ros2_control_yaml(synthetic(), mujoco.MjModel.from_xml_string(MODEL)))
    context = Context()
    rclpy.init(args=["--ros-args", "--params-file", str(file)], context=context)
    try:
        node = rclpy.create_node(
            "controller", context=context, automatically_declare_parameters_from_overrides=True
        )
        values = {
            name: node.get_parameter(name).value
            for name in ("joints", "gains.elbow.p", "gains.elbow.d", "dynamics.elbow.damping")
        }
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    assert values == {
        "joints": ["elbow"],
        "gains.elbow.p": 30.0,
        "gains.elbow.d": 1e-7,
        "dynamics.elbow.damping": 0.1234567890123456,
    }
