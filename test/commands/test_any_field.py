# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fields of the messages that ROS robots publish, from a bag to a table by ``sysid_ros export``."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from sysid_ros.cli import main

START = 1_700_000_000_000_000_000
TICKS = 50
CONTROL_MSGS = {
    "InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    "DynamicJointState": (
        "std_msgs/Header header\nstring[] joint_names\ncontrol_msgs/InterfaceValue[] "
        "interface_values\n"
    ),
    "JointTrajectoryControllerState": (
        "std_msgs/Header header\nstring[] joint_names\n"
        "trajectory_msgs/JointTrajectoryPoint {0}\ntrajectory_msgs/JointTrajectoryPoint {1}\n"
        "trajectory_msgs/JointTrajectoryPoint error\ntrajectory_msgs/JointTrajectoryPoint output\n"
    ),
    "MultiDOFCommand": "string[] dof_names\nfloat64[] values\nfloat64[] values_dot\n",
}
MODEL = """<mujoco><worldbody>
  <body name="arm"><joint name="elbow" type="hinge"/><geom size="0.1" pos="0 0 -0.3"/>
    <site name="imu"/>
    <body name="wrist"><joint name="wrist" type="ball"/><geom size="0.1" pos="0 0 -0.3"/></body>
  </body>
  <body name="base"><freejoint/><geom size="0.1"/></body></worldbody>
  <actuator><motor name="drive" joint="elbow"/></actuator>
  <sensor><jointpos name="position" joint="elbow"/><gyro name="rate" site="imu"/>
    <framequat name="attitude" objtype="site" objname="imu"/></sensor></mujoco>"""


def angle(tick: int) -> float:
    return float(np.sin(0.1 * tick))


def effort(tick: int) -> float:
    return float(10.0 * np.cos(0.1 * tick))


def turned(tick: int) -> tuple[float, float, float, float]:
    """A rotation about z as x y z w, of either sign."""
    half, sign = 0.05 * tick, (-1.0) ** (tick // 7)
    return 0.0, 0.0, sign * float(np.sin(half)), sign * float(np.cos(half))


@pytest.fixture(scope="module", params=[("desired", "actual"), ("reference", "feedback")])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a recording of everything, with a controller of the older or newer kind."""
    path = tmp_path_factory.mktemp("robot")
    (path / "robot.xml").write_text(MODEL)
    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = set(store.types)
    for name, text in CONTROL_MSGS.items():
        full = f"control_msgs/msg/{name}"
        assert full not in kinds
        store.register(get_types_from_msg(text.format(*request.param), full))
    with Writer(path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics: dict[str, Any] = {}
        for tick in range(TICKS):
            for topic, message in messages(store.types, tick):
                kind = message.__msgtype__
                if topic not in topics:
                    topics[topic] = writer.add_connection(topic, kind, typestore=store)
                data = store.serialize_cdr(message, kind)
                writer.write(topics[topic], START + tick * 10_000_000 + 1_000_000, data)
    return path


def messages(types: Any, tick: int) -> list[tuple[str, Any]]:
    """What is published at one instant; the order of the joints changes."""
    stamp = START + tick * 10_000_000
    time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
    header = types["std_msgs/msg/Header"](time, "base")
    names = ["shoulder", "elbow"] if tick % 3 else ["elbow", "shoulder"]
    place = names.index("elbow")

    def row(value: float) -> np.ndarray:
        return np.array([value if one == place else -99.0 for one in range(2)])

    interfaces = [
        types["control_msgs/msg/InterfaceValue"](
            ["position", "effort"],
            np.array([angle(tick), effort(tick)] if one == place else [-99.0, -99.0]),
        )
        for one in range(2)
    ]
    duration, empty = types["builtin_interfaces/msg/Duration"](0, 0), np.empty(0)
    point = types["trajectory_msgs/msg/JointTrajectoryPoint"]
    wanted, measured, other, output = (
        point(row(position), empty, empty, row(torque), duration)
        for position, torque in ((angle(tick) + 1.0, 0.0), (angle(tick), 0.0), (0.0, 0.0),
                                 (0.0, effort(tick)))
    )  # fmt: skip
    quaternion = types["geometry_msgs/msg/Quaternion"](*turned(tick))
    vector = types["geometry_msgs/msg/Vector3"]
    pose = types["geometry_msgs/msg/Pose"](
        types["geometry_msgs/msg/Point"](angle(tick), 2.0, 3.0), quaternion
    )
    twist = types["geometry_msgs/msg/Twist"](vector(1.0, angle(tick), 0.0), vector(0.0, 0.0, 5.0))
    return [
        (
            "/dynamic_joint_states",
            types["control_msgs/msg/DynamicJointState"](header, names, interfaces),
        ),
        (
            "/controller_state",
            types["control_msgs/msg/JointTrajectoryControllerState"](
                header, names, wanted, measured, other, output
            ),
        ),
        (
            "/trajectory",
            types["trajectory_msgs/msg/JointTrajectory"](header, names, [other, wanted]),
        ),
        (
            "/imu",
            types["sensor_msgs/msg/Imu"](
                header, quaternion, np.zeros(9), vector(1.0, angle(tick), 3.0), np.zeros(9),
                vector(0.0, 0.0, 9.8), np.zeros(9),
            ),
        ),
        (
            "/odom",
            types["nav_msgs/msg/Odometry"](
                header, "base",
                types["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36)),
                types["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)),
            ),
        ),
        (
            "/command",
            types["control_msgs/msg/MultiDOFCommand"](names, row(effort(tick)), row(0.0)),
        ),
        ("/powered", types["std_msgs/msg/Bool"](tick >= 20)),
        ("/mode", types["std_msgs/msg/UInt8"](tick // 10)),
    ]  # fmt: skip


def exported(folder: Path, *signals: str) -> dict[str, np.ndarray]:
    """Times and values of the signals as the command writes them."""
    file, table = folder / "experiment.yaml", folder / "table.csv"
    entries = "".join(f"  - {{{signal}}}\n" for signal in signals)
    file.write_text(
        "model: robot.xml\nsequences: [bag]\nparameters: [{joint: elbow, damping: }]\n"
        f"signals:\n{entries}"
    )
    assert main(["export", str(file), "--bag", "bag", "--output", str(table)]) == 0
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    return {
        name: np.array([float(row[name]) if row[name] else np.nan for row in rows])
        for name in rows[0]
    }


POSITION = 'sensor: position, topic: /dynamic_joint_states, field: "interface_values[elbow]'
POSITION += '.values[position]"'
ANGLES = np.array([angle(tick) for tick in range(TICKS)])
EFFORTS = np.array([effort(tick) for tick in range(TICKS)])


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        (POSITION, ANGLES),
        ('actuator: drive, topic: /dynamic_joint_states, field: "interface_values[elbow]'
         '.values[effort]"', EFFORTS),
        ('sensor: position, topic: /controller_state, field: "feedback.positions[elbow]"', ANGLES),
        ('sensor: position, topic: /controller_state, field: "actual.positions[elbow]"', ANGLES),
        ('sensor: position, topic: /controller_state, field: "reference.positions[elbow]"',
         ANGLES + 1),
        ('sensor: position, topic: /controller_state, field: "desired.positions[elbow]"',
         ANGLES + 1),
        ('actuator: drive, topic: /controller_state, field: "output.effort[elbow]"', EFFORTS),
        ('actuator: drive, topic: /trajectory, field: "points[-1].positions[elbow]"', ANGLES + 1),
        ('actuator: drive, topic: /command, field: "values[elbow]"', EFFORTS),
        ('sensor: position, topic: /odom, field: pose.pose.position.x', ANGLES),
        ('sensor: position, topic: /imu, field: angular_velocity.y', ANGLES),
        ('sensor: position, topic: /dynamic_joint_states, field: "interface_values[-1].values[0]"',
         np.where(np.arange(TICKS) % 3, ANGLES, -99.0)),
    ],
)  # fmt: skip
def test_numbers(folder: Path, signal: str, expected: np.ndarray) -> None:
    measured = POSITION if signal.startswith("actuator") else ""
    found = exported(folder, *filter(None, (signal, measured)))
    name = "position" if signal.startswith("sensor") else "drive_ctrl"
    values = found[name][np.isfinite(found[name])]
    changes = values[np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0)]  # a command is held
    assert changes == pytest.approx(expected, abs=1e-12)


def columns(found: dict[str, np.ndarray], name: str) -> np.ndarray:
    return np.stack([found[key] for key in found if key.startswith(f"{name}[")], axis=1)


def test_vectors_and_orientations(folder: Path) -> None:
    found = exported(
        folder,
        "sensor: rate, topic: /imu, field: angular_velocity",
        "sensor: attitude, topic: /imu, field: orientation",
        "qpos: wrist, topic: /imu, field: orientation",
    )
    rate = np.stack([np.ones(TICKS), ANGLES, np.full(TICKS, 3.0)], axis=1)
    half = 0.05 * np.arange(TICKS)
    attitude = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
    assert np.allclose(columns(found, "rate"), rate)
    assert np.allclose(columns(found, "attitude"), attitude), "w x y z without jumps of sign"
    assert np.allclose(columns(found, "wrist_qpos"), attitude)


def test_odometry_of_a_free_joint(folder: Path) -> None:
    found = exported(
        folder,
        "qpos: base, topic: /odom, field: pose.pose",
        "qvel: base, topic: /odom, field: twist.twist",
    )
    assert np.allclose(columns(found, "base_qpos")[:, 0], ANGLES)
    assert columns(found, "base_qpos").shape == (TICKS, 7)
    assert np.allclose(columns(found, "base_qvel")[:, 1], ANGLES)
    assert np.allclose(columns(found, "base_qvel")[:, 5], 5.0)


@pytest.mark.parametrize(
    ("mask", "ticks"),
    [
        ("{topic: /powered, field: data, clock: receive}", range(20, TICKS)),
        ("{topic: /powered, field: data, clock: receive, invert: true}", range(20)),
        ("{topic: /mode, field: data, clock: receive, equals: [1, 3]}",
         [*range(10, 20), *range(30, 40)]),
        ("[{topic: /powered, field: data, clock: receive}, "
         "{topic: /mode, field: data, clock: receive, equals: 2}]", range(20, 30)),
    ],
)  # fmt: skip
def test_masks(folder: Path, mask: str, ticks: list[int]) -> None:
    found = exported(folder, f"{POSITION}, enabled_when: {mask}")
    values = found["position"][np.isfinite(found["position"])]
    wanted = ANGLES[list(ticks)]
    assert set(values) <= set(wanted)
    assert len(values) >= len(wanted) - 2, "a sample at each end may be between two messages"
