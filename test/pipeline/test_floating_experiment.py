# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot without a fixed base, from a bag of odometry and measured forces to its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros import sysid
from sysid_ros.diagnosis import check_experiment
from sysid_ros.experiment import load_experiment
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.playback.recorded_motion import load_motion

RATE = 100  # Hz
NOISE = 1e-3  # m and rad
MODEL = """<mujoco><option timestep="0.005" integrator="RK4"/><worldbody>
  <body name="box"><freejoint name="base"/>
    <inertial pos="{com} 0 0" mass="{mass}" diaginertia="0.02 0.03 0.025"/>
    <site name="imu"/></body></worldbody></mujoco>"""
EXPERIMENT = """
model: box.xml
sequences: [flight]
signals:
  - {wrench: imu, topic: /wrench, field: wrench}
  - {qpos: base, topic: /odom, field: pose.pose}
windows: {length: 0.5}
fit: {landscapes: 0, model_error: false}
parameters:
  - body: box
    inertia: pseudo
"""


def flight(samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Wrench (samples, 6) in the body's frame, and pose (samples, 7) with noise."""
    rng = np.random.default_rng(1)
    times = np.arange(samples) / RATE
    waves = np.sin(np.outer(times, [2.3, 5.1, 9.7]))
    wrench = waves @ rng.normal(size=(3, 6)) * [1, 1, 1, 0.1, 0.1, 0.1]
    wrench[:, 2] += 9.81 * 1.2
    spec = sysid.with_wrenches(mujoco.MjSpec.from_string(MODEL.format(com=0.04, mass=1.2)), ["imu"])
    spec.option.timestep = 0.1 / RATE
    model = spec.compile()
    instants = np.arange(10 * samples) / 10.0 + 0.05
    control = np.stack([np.interp(instants, np.arange(samples), c) for c in wrench.T], axis=1)
    start = sysid.create_initial_state(model, model.qpos0)
    states, _ = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], control[None])
    pose = np.vstack([start, states[0]])[:-1:10, 1:8]
    pose[:, :3] += NOISE * rng.normal(size=(samples, 3))
    for quaternion in pose[:, 3:]:
        mujoco.mju_quatIntegrate(quaternion, rng.normal(size=3), NOISE)
    return wrench, pose


def write_bag(path: Path, wrench: np.ndarray, pose: np.ndarray) -> None:
    store = get_typestore(Stores.ROS2_KILTED)
    types: Any = store.types
    vector, point = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Point"]
    kinds = {"/wrench": "geometry_msgs/msg/WrenchStamped", "/odom": "nav_msgs/msg/Odometry"}
    still = types["geometry_msgs/msg/TwistWithCovariance"](
        types["geometry_msgs/msg/Twist"](vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)), np.zeros(36)
    )
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in kinds.items()
        }
        for i, (force, (x, y, z, w, *v)) in enumerate(zip(wrench, pose, strict=True)):
            stamp = 1_700_000_000_000_000_000 + i * 10**9 // RATE
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](time, "odom")
            turned = types["geometry_msgs/msg/Quaternion"](*v, w)
            where = types["geometry_msgs/msg/Pose"](point(x, y, z), turned)
            measured = types["geometry_msgs/msg/PoseWithCovariance"](where, np.zeros(36))
            messages = {
                "/wrench": types[kinds["/wrench"]](
                    header,
                    types["geometry_msgs/msg/Wrench"](vector(*force[:3]), vector(*force[3:])),
                ),
                "/odom": types[kinds["/odom"]](header, "box", measured, still),
            }
            for topic, message in messages.items():
                data = store.serialize_cdr(message, kinds[topic])
                writer.write(connections[topic], stamp, data)


def test_a_flight_identifies_the_whole_inertia(tmp_path: Path) -> None:
    """From a body whose centre of mass is at its origin exactly, where compilers cut corners."""
    wrench, pose = flight(4 * RATE)
    write_bag(tmp_path / "flight", wrench, pose)
    (tmp_path / "box.xml").write_text(MODEL.format(com=0.0, mass=1.0))
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    report = run_experiment(
        load_experiment(tmp_path / "experiment.yaml"), output_dir=tmp_path / "results"
    )
    fit = report.outcome.fit
    assert len(fit.noise) == 6
    assert all(level == pytest.approx(NOISE, rel=0.2) for level in fit.noise.values())
    assert fit.unidentifiable == ()
    assert report.files.model is not None
    body = mujoco.MjModel.from_xml_path(str(report.files.model)).body("box")
    assert body.mass[0] == pytest.approx(1.2, rel=0.005)
    np.testing.assert_allclose(body.ipos, [0.04, 0.0, 0.0], atol=1e-3)

    motion, _ = load_motion(report.files.folder)
    assert motion.joints == ()
    rows = np.round(motion.times * RATE).astype(int)
    assert len(rows) > 3 * RATE
    facing = np.sign(np.sum(motion.measured_qpos[:, 3:] * pose[rows, 3:], axis=1, keepdims=True))
    pose[rows, 3:] *= facing  # q and -q are the same
    np.testing.assert_allclose(motion.measured_qpos, pose[rows], atol=1e-9)
    np.testing.assert_allclose(motion.simulated_qpos, pose[rows], atol=0.1)  # rough starts
    assert np.abs(motion.simulated_qpos - motion.measured_qpos)[:, 3:].max() > 1e-4
    np.testing.assert_allclose(np.sort(body.inertia), [0.02, 0.025, 0.03], rtol=0.01)


def test_a_twist_that_never_changes_is_named_where_nothing_else_is_measured(tmp_path: Path) -> None:
    write_bag(tmp_path / "flight", *flight(2 * RATE))
    (tmp_path / "box.xml").write_text(MODEL.format(com=0.0, mass=1.0))
    text = EXPERIMENT.replace("qpos: base", "qvel: base").replace("pose.pose", "twist.twist")
    (tmp_path / "experiment.yaml").write_text(text)
    found = check_experiment(load_experiment(tmp_path / "experiment.yaml"), None)
    assert [one.signals for one in found] == [("base_qvel",)]
    assert "(/odom, twist.twist) never changes" in found[0].sentence


def test_a_urdf_floats_where_its_pose_is_measured(tmp_path: Path) -> None:
    write_bag(tmp_path / "flight", *flight(2 * RATE))
    (tmp_path / "box.urdf").write_text(
        '<robot name="r"><link name="box"><inertial><origin xyz="0.04 0 0"/><mass value="1"/>'
        f'<inertia ixx="{0.02 / 1.2}" iyy="{0.03 / 1.2}" izz="{0.025 / 1.2}" ixy="0" ixz="0" '
        'iyz="0"/></inertial></link>'
        '<link name="imu"/><joint name="fixed" type="fixed"><parent link="box"/>'
        '<child link="imu"/></joint></robot>'
    )
    text = EXPERIMENT.replace("box.xml", "box.urdf").replace("qpos: base", "qpos: box")
    (tmp_path / "experiment.yaml").write_text(text.replace("inertia: pseudo", "mass: {max: 5}"))
    report = run_experiment(
        load_experiment(tmp_path / "experiment.yaml"), output_dir=tmp_path / "results"
    )
    assert report.outcome.fit.parameters[0].value == pytest.approx(1.2, rel=0.01)
    assert [text for text in report.outcome.warnings if "'box' floats" in text]
