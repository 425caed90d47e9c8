# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lengths and mount angles of an arm, from a bag of its joint angles and the pose of its tip."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.engine.attributes import lookup
from sysid_ros.experiment import load_experiment
from sysid_ros.pipeline.experiment_run import RunReport, run_experiment

RATE = 100  # Hz
NOISE = 5e-4  # m and rad
TRUE = {  # by name of the parameter
    "fore_pos_z": 0.312,
    "upper_turn_x": 0.04,
    "upper_turn_y": -0.03,
    "camera_turn_z": 0.1,
}
MODEL = """<mujoco>
  <compiler angle="degree"/>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <body name="upper" pos="0 0 0.4" euler="0 0 30">  <!-- on the table -->
      <joint name="yaw" axis="0 0 1" damping="0.3" armature="0.01"/>
      <inertial pos="0 0.02 0.15" mass="1" diaginertia="0.01 0.01 0.004"/>
      <body name="fore" pos="0 0 0.3" axisangle="0 1 0 60">
        <joint name="pitch" axis="0 1 0" damping="0.3" armature="0.01" stiffness="8"/>
        <inertial pos="0.02 0 0.1" mass="0.5" diaginertia="0.004 0.004 0.001"/>
        <site name="camera" pos="0.05 0 0.25" xyaxes="0 1 0 0 0 1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="yaw_motor" joint="yaw"/>
    <motor name="pitch_motor" joint="pitch"/>
  </actuator>
  <sensor>
    <jointpos name="yaw_angle" joint="yaw"/>
    <jointpos name="pitch_angle" joint="pitch"/>
    <framepos name="tip" objtype="site" objname="camera"/>
    <framequat name="view" objtype="site" objname="camera"/>
  </sensor>
</mujoco>
"""
EXPERIMENT = """\
model: arm.xml
sequences: [motion]
signals:
  - {actuator: yaw_motor, topic: /torque, field: "data[0]"}
  - {actuator: pitch_motor, topic: /torque, field: "data[1]"}
  - {sensor: yaw_angle, topic: /joint_states, field: "position[yaw]"}
  - {sensor: pitch_angle, topic: /joint_states, field: "position[pitch]"}
  - {sensor: tip, topic: /tip, field: pose.position}
  - {sensor: view, topic: /tip, field: pose.orientation}
windows: {length: 1.0}
fit: {landscapes: 0, model_error: false}
parameters:
  - {body: fore, pos_z: }
  - {body: upper, turn_x: , turn_y: {min: -0.1, max: 0.1}}
  - {site: camera, turn_z: }
"""
LINES = ('<body name="fore"', '<body name="upper"', '<site name="camera"')


def true_model() -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(MODEL)
    for name, value in TRUE.items():
        element, attribute = name.split("_", 1)
        kind = "site" if element == "camera" else "body"
        lookup(kind, attribute).write(spec, element, np.array([value]))
    return spec.compile()


def write_bag(path: Path, samples: int) -> None:
    """Torque, and noisy readings of angles (2,), tip (3,) and view (4,) at every sample."""
    model, rng = true_model(), np.random.default_rng(3)
    data = mujoco.MjData(model)
    store = get_typestore(Stores.ROS2_KILTED)
    types: Any = store.types
    kinds = {
        "/torque": "std_msgs/msg/Float64MultiArray",
        "/joint_states": "sensor_msgs/msg/JointState",
        "/tip": "geometry_msgs/msg/PoseStamped",
    }
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in kinds.items()
        }
        for i in range(samples):
            if i % 20 == 0:
                data.ctrl[:] = rng.uniform(-1.0, 1.0, 2)
            mujoco.mj_forward(model, data)
            angles = data.qpos + NOISE * rng.standard_normal(2)
            tip = data.sensor("tip").data + NOISE * rng.standard_normal(3)
            w, *v = data.sensor("view").data + 0.5 * NOISE * rng.standard_normal(4)
            stamp = 1_700_000_000_000_000_000 + i * 10**9 // RATE
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header, none = types["std_msgs/msg/Header"](time, ""), np.empty(0)
            pose = types["geometry_msgs/msg/Pose"](
                types["geometry_msgs/msg/Point"](*tip), types["geometry_msgs/msg/Quaternion"](*v, w)
            )
            layout = types["std_msgs/msg/MultiArrayLayout"]([], 0)
            messages = {
                "/torque": types[kinds["/torque"]](layout, data.ctrl.copy()),
                "/joint_states": types[kinds["/joint_states"]](
                    header, ["yaw", "pitch"], angles, none, none
                ),
                "/tip": types[kinds["/tip"]](header, pose),
            }
            for topic, message in messages.items():
                raw = store.serialize_cdr(message, kinds[topic])
                writer.write(connections[topic], stamp, raw)
            mujoco.mj_step(model, data, nstep=round(1.0 / RATE / model.opt.timestep))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    folder = tmp_path_factory.mktemp("calibration")
    write_bag(folder / "motion", 6 * RATE)
    (folder / "arm.xml").write_text(MODEL)
    (folder / "experiment.yaml").write_text(EXPERIMENT)
    return run_experiment(
        load_experiment(folder / "experiment.yaml"), output_dir=folder / "results"
    )


def test_length_and_mount_angles_are_found(report: RunReport) -> None:
    fit = report.outcome.fit
    assert {p.name for p in fit.parameters} == set(TRUE)
    for parameter in fit.parameters:
        assert parameter.value == pytest.approx(TRUE[parameter.name], abs=4e-4)
        assert parameter.unit == ("m" if "_pos_" in parameter.name else "rad")
        assert parameter.standard_error is not None and parameter.standard_error < 3e-4


def test_their_derivatives_are_exact(report: RunReport) -> None:
    stored = json.loads((report.files.folder / "result.json").read_text(encoding="utf-8"))
    assert stored["derivatives"] == dict.fromkeys(TRUE, "exact")


def test_the_model_says_where_things_are_and_changes_nowhere_else(report: RunReport) -> None:
    assert report.files.model is not None
    text = report.files.model.read_text(encoding="utf-8")
    assert len(text.splitlines()) == len(MODEL.splitlines())
    for was, now in zip(MODEL.splitlines(), text.splitlines(), strict=True):
        assert (was.strip() != now.strip()) == was.strip().startswith(LINES)
    found, true = mujoco.MjModel.from_xml_path(str(report.files.model)), true_model()
    np.testing.assert_allclose(found.body_pos, true.body_pos, atol=4e-4)
    np.testing.assert_allclose(found.body_quat, true.body_quat, atol=4e-4)
    np.testing.assert_allclose(found.site_quat, true.site_quat, atol=4e-4)
