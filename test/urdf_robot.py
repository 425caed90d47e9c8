# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A swinging link with an IMU as a URDF, its mesh, and recordings of it with known parameters."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

START_NS = 1_700_000_000_000_000_000
URDF = """<?xml version="1.0"?>
<robot name="swing">
  <link name="base_link"/>
  <link name="arm">
    <inertial><origin xyz="0 0 -0.2"/><mass value="0.8"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://swing_description/meshes/arm.dae"/></geometry>
    </visual>
    <collision><geometry><mesh filename="{mesh}"/></geometry></collision>
  </link>
  <link name="imu_link"/>
  <joint name="shoulder" type="revolute"><parent link="base_link"/><child link="arm"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="50" velocity="10"/>
    <dynamics damping="{damping}" friction="0"/></joint>
  <joint name="imu_joint" type="fixed"><parent link="arm"/><child link="imu_link"/>
    <origin xyz="0 0 -0.3"/></joint>
</robot>
"""
MESH = "package://swing_description/meshes/arm.stl"


def write_mesh(path: Path, size: float = 0.05) -> None:
    """Write a tetrahedron as binary STL."""
    corners = size * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(bytes(80) + struct.pack("<I", 4))
        for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
            file.write(bytes(12) + corners[list(face)].tobytes() + bytes(2))


def write_package(folder: Path, name: str = "swing_description") -> Path:
    """Write a ROS package with the mesh into a folder, which need not be called by its name."""
    write_mesh(folder / "meshes" / "arm.stl")
    (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    return folder


def urdf(*, damping: float = 0.05, mesh: str = MESH) -> str:
    return URDF.format(damping=damping, mesh=mesh)


def write_bag(path: Path, description: str, *, damping: float, duration: float = 4.0) -> None:
    """Record a driven swing: /joint_states with efforts, /imu, and the nominal description."""
    spec = mujoco.MjSpec.from_string(
        urdf(damping=damping, mesh="").replace(
            '<collision><geometry><mesh filename=""/></geometry></collision>', ""
        )
    )
    spec.option.timestep = 0.001
    arm = spec.body("arm")
    arm.add_site(name="imu", pos=[0, 0, -0.3])
    spec.add_sensor(
        name="gyro",
        type=mujoco.mjtSensor.mjSENS_GYRO,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname="imu",
    )
    spec.add_actuator(name="motor", trntype=mujoco.mjtTrn.mjTRN_JOINT, target="shoulder")
    model = spec.compile()
    data = mujoco.MjData(model)
    store = get_typestore(Stores.ROS2_KILTED)
    types: Any = store.types
    kinds = {
        "/joint_states": "sensor_msgs/msg/JointState",
        "/imu": "sensor_msgs/msg/Imu",
        "/robot_description": "std_msgs/msg/String",
    }
    vector = types["geometry_msgs/msg/Vector3"]
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = {t: writer.add_connection(t, kind, typestore=store) for t, kind in kinds.items()}

        def write(topic: str, stamp: int, message: Any) -> None:
            writer.write(topics[topic], stamp, store.serialize_cdr(message, kinds[topic]))

        write("/robot_description", START_NS, types["std_msgs/msg/String"](description))
        for tick in range(round(100 * duration)):
            t, stamp = tick / 100, START_NS + tick * 10_000_000
            data.ctrl[0] = np.sin(3.0 * t) + 0.5 * np.sin(7.0 * t)
            mujoco.mj_forward(model, data)
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](time, "imu_link")
            state = types["sensor_msgs/msg/JointState"](
                header, ["shoulder"], data.qpos.copy(), np.empty(0), data.ctrl.copy()
            )
            imu = types["sensor_msgs/msg/Imu"](
                header,
                types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0),
                np.zeros(9),
                vector(*map(float, data.sensordata)),
                np.zeros(9),
                vector(0.0, 0.0, 9.81),
                np.zeros(9),
            )
            write("/joint_states", stamp, state)
            write("/imu", stamp, imu)
            for _ in range(10):
                data.ctrl[0] = np.sin(3.0 * t) + 0.5 * np.sin(7.0 * t)
                mujoco.mj_step(model, data)
