# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Odometry as the state of a free joint, an orientation as that of a ball joint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.errors import ModelError
from sysid_ros.experiment.load import load_experiment, parse_experiment
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.robots.source import with_state_sensors

RATE = 100
MASS = 1.3
MODEL = """<mujoco><option timestep="0.005" integrator="RK4"/><worldbody>
  <body name="base" pos="0 0 2"><freejoint/>
    <inertial pos="0 0 0" mass="{mass}" diaginertia="0.02 0.03 0.025"/><site name="thrust"/>
  </body></worldbody>
  <actuator><motor name="lift" site="thrust" gear="0 0 1 0 0 0"/>
    <motor name="turn" site="thrust" gear="0 0 0 1 0.4 0"/></actuator></mujoco>"""
EXPERIMENT = """
model: drone.xml
sequences: [flight]
signals:
  - {qpos: base, topic: /odom, field: pose.pose}
  - {qvel: base, topic: /odom, field: twist.twist}
  - {actuator: lift, topic: /thrust, field: "data[0]"}
  - {actuator: turn, topic: /thrust, field: "data[1]"}
windows: {length: 0.5}
fit: {landscapes: 0, model_error: false}
parameters:
  - {body: base, mass: {min: 0.5, max: 3.0}}
  - {signal: "base_qpos_*", delay: {min: -0.05, max: 0.05, shared: true}}
"""
BALL = """<mujoco><worldbody><body name="bob"><joint name="ball" type="ball"/>
  <geom size="0.1" pos="0 0 -0.3"/></body></worldbody></mujoco>"""


def fly(path: Path, delay: float) -> None:
    """Write a flight as Odometry (pose in the world, twist in the body) and thrust commands."""
    model = mujoco.MjModel.from_xml_string(MODEL.format(mass=MASS))
    model.opt.timestep = 0.001
    data = mujoco.MjData(model)
    store = get_typestore(Stores.ROS2_KILTED)
    types: Any = store.types
    vector, noise = types["geometry_msgs/msg/Vector3"], np.random.default_rng(3)
    kinds = {"/odom": "nav_msgs/msg/Odometry", "/thrust": "std_msgs/msg/Float64MultiArray"}
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in kinds.items()
        }
        for tick in range(3 * RATE):
            now = 1_700_000_000_000_000_000 + tick * 10**9 // RATE
            thrust = np.array([MASS * 9.81 + 3.0 * np.sin(0.11 * tick), 0.05 * np.cos(0.2 * tick)])
            layout = types["std_msgs/msg/MultiArrayLayout"]([], 0)
            command = types[kinds["/thrust"]](layout, thrust)
            writer.write(topics["/thrust"], now, store.serialize_cdr(command, kinds["/thrust"]))
            stamp = now + round(delay * 1e9)
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            frame = data.qpos[3:7]
            into_body, linear = frame * [1.0, -1.0, -1.0, -1.0], np.empty(3)
            mujoco.mju_rotVecQuat(linear, data.qvel[:3], into_body)
            position = data.qpos[:3] + 1e-3 * noise.normal(size=3)
            sign = -1.0 if tick % 9 == 4 else 1.0
            pose = types["geometry_msgs/msg/Pose"](
                types["geometry_msgs/msg/Point"](*position),
                types["geometry_msgs/msg/Quaternion"](*(sign * frame[[1, 2, 3, 0]])),
            )
            twist = types["geometry_msgs/msg/Twist"](vector(*linear), vector(*data.qvel[3:]))
            message = types[kinds["/odom"]](
                types["std_msgs/msg/Header"](time, "odom"), "base",
                types["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36)),
                types["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)),
            )  # fmt: skip
            writer.write(topics["/odom"], now, store.serialize_cdr(message, kinds["/odom"]))
            data.ctrl[:] = thrust
            mujoco.mj_step(model, data, nstep=10)


def test_the_mass_of_a_drone_from_its_odometry(tmp_path) -> None:
    fly(tmp_path / "flight", delay=0.0)
    (tmp_path / "drone.xml").write_text(MODEL.format(mass=1.0))
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    outcome = run_experiment(
        load_experiment(tmp_path / "experiment.yaml"), output_dir=tmp_path / "results"
    ).outcome
    mass, delay = outcome.fit.parameters
    assert mass.value == pytest.approx(MASS, rel=0.01)
    assert delay.name == "base_qpos_delay"
    # The twist is not delayed, so the pose's delay shows.
    assert delay.value == pytest.approx(0.0, abs=1e-3)
    assert {signal.split("[")[0] for signal in outcome.training.rmse} >= {
        "base_qpos_position", "base_qpos_orientation", "base_qvel_linear", "base_qvel_angular",
    }  # fmt: skip


def test_a_ball_joint_takes_an_orientation_and_a_rate() -> None:
    signals = parse_experiment(
        """
model: m.xml
sequences: [bag]
signals:
  - {qpos: ball, topic: /imu, field: orientation}
  - {qvel: ball, topic: /imu, field: angular_velocity}
parameters: []
"""
    ).signals
    spec = with_state_sensors(mujoco.MjSpec.from_string(BALL), signals)
    model = spec.compile()
    widths = {model.sensor(i).name: int(model.sensor_dim[i]) for i in range(model.nsensor)}
    assert widths == {"ball_qpos": 4, "ball_qvel": 3}


def test_free_joints_are_known_by_their_bodies() -> None:
    text = EXPERIMENT.replace("qpos: base", "qpos: trunk")
    spec = mujoco.MjSpec.from_string(MODEL.format(mass=1.0))
    with pytest.raises(ModelError, match=r"trunk.*base"):
        with_state_sensors(spec, parse_experiment(text).signals)
    noisy = EXPERIMENT.replace("field: pose.pose", "field: pose.pose, noise: 0.1")
    with pytest.raises(ModelError, match="two units"):
        with_state_sensors(spec, parse_experiment(noisy).signals)
    assert len(spec.sensors) == 0
