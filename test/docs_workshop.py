# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A folder in which the documentation's commands work as they are written: README's own robot."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path

import mujoco
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.cli import main
from sysid_ros.comparison.resume_states import fit_states
from sysid_ros.errors import OutputError
from sysid_ros.experiment import load_experiment

ROOT = Path(__file__).resolve().parents[1]
START_NS = 1_700_000_000_000_000_000
JOINTS = ("shoulder", "elbow")

ROBOT = """<mujoco model="my_robot">
  <!-- What the drawings say. -->
  <option timestep="0.0025" integrator="implicitfast"/>
  <worldbody>
    <body name="upper_arm">
      <joint name="shoulder" axis="0 1 0" armature="{armature}" damping="{damping}"/>
      <inertial pos="0 0 -0.15" mass="1.2" diaginertia="0.01 0.01 0.002"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="0"/>
      <body name="forearm" pos="0 0 -0.3">
        <joint name="elbow" axis="0 1 0" armature="{armature}" damping="{damping}"/>
        <inertial pos="0 0 -0.12" mass="{mass}" diaginertia="0.005 0.005 0.001"/>
        <geom type="capsule" size="0.025" fromto="0 0 0 0 0 -0.25" mass="0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder_servo" joint="shoulder" kp="40" kv="1"/>
    <position name="elbow_servo" joint="elbow" kp="20" kv="0.5"/>
  </actuator>
</mujoco>
"""
URDF = """<robot name="my_robot">
  <link name="base"/>
  <link name="upper_arm"><inertial><mass value="1.2"/><origin xyz="0 0 -0.15"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="forearm"><inertial><mass value="0.8"/><origin xyz="0 0 -0.12"/>
    <inertia ixx="0.005" iyy="0.005" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper_arm"/>
    <axis xyz="0 1 0"/><dynamics damping="0.1" friction="0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper_arm"/><child link="forearm"/>
    <origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/><dynamics damping="0.1" friction="0"/></joint>
</robot>
"""


def make_workshop(folder: Path) -> Path:
    """Everything that README and docs name: models, bags, an experiment file, results.

    Args:
      folder: A new folder.

    Returns:
      The folder.
    """
    guessed = ROBOT.format(armature=0.01, damping=0.1, mass=0.8)
    for name in ("my_robot.xml", "robot.xml"):
        (folder / name).write_text(guessed)
    (folder / "my_robot.urdf").write_text(URDF)
    for seed, name in enumerate(("motion_1", "motion_2", "motion_3")):
        _write_bag(folder / "bags" / name, _motion(seed), seed)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (experiment,) = re.findall(r"```yaml experiment\n(.*?)```", readme, re.DOTALL)
    (folder / "experiment.yaml").write_text(experiment)
    messages = folder / "ws" / "src" / "hand_msgs" / "msg"
    messages.mkdir(parents=True)
    (messages / "Grip.msg").write_text("float64 width\n")
    (messages.parent / "package.xml").write_text("<package><name>hand_msgs</name></package>")
    _fit(folder)
    _cut_a_comparison_short(folder)
    for name in ("another", "rosbag2_2026-01-31_12-00-00"):
        shutil.copytree(folder / "bags" / "motion_2", folder / "bags" / name)
    for name in ("m1", "m4", "results/monday", "results/tuesday"):
        shutil.copytree(folder / "results" / "RESULT", folder / name)
    _results_of_a_week(folder)
    return folder


def _fit(folder: Path) -> None:
    """Two results, of a fit that was stopped early, so that it can be carried on with."""
    results = folder / "results"
    arguments = ["fit", str(folder / "experiment.yaml"), "--output", str(results), "--quiet"]
    main([*arguments, "--set", "fit.max_iterations=2"])
    (made,) = results.iterdir()
    shutil.copytree(made, results / "OTHER")
    made.rename(results / "RESULT")


def _results_of_a_week(folder: Path) -> None:
    """Results of other recordings on days after one another, with a condition."""
    document = json.loads((folder / "results" / "RESULT" / "result.json").read_text())
    recordings = {topic["sequence"] for topic in document["quality"]}
    conditions = "sequences: [{bag: x, conditions: {temperature: 21.5}}]"
    for day in range(1, 8):
        dates = {f"recorded {name}": f"2026-03-0{day}T12:00:00+00:00" for name in recordings}
        hashes = {name: f"{name} of day {day}" for name in recordings}
        result = folder / "runs" / f"day_{day}"
        result.mkdir(parents=True)
        changed = {
            **document,
            "hashes": {**document["hashes"], **hashes},
            "provenance": {**document["provenance"], **dates, "experiment": conditions},
        }
        (result / "result.json").write_text(json.dumps(changed))


def _cut_a_comparison_short(folder: Path) -> None:
    """Leave behind what a comparison on a full disk does, for another to carry on with."""
    experiment = load_experiment(folder / "experiment.yaml")
    with suppress(OutputError), fit_states(experiment, folder / "results", resume=False):
        raise OutputError("the disk is full")


def _motion(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Commands, measured angles and torques of the robot as it is, (500, 2) each, at 200 Hz."""
    model = mujoco.MjModel.from_xml_string(ROBOT.format(armature=0.02, damping=0.3, mass=1.0))
    model.dof_frictionloss[:] = 0.1
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    count = 500
    times = np.arange(count) / 200.0
    phases = rng.uniform(0.0, 2.0 * np.pi, (2, 4))
    frequencies = np.array([[0.4, 0.9, 1.7, 2.6], [0.5, 1.1, 2.0, 3.1]])
    waves = np.sin(2.0 * np.pi * frequencies[..., None] * times + phases[..., None])
    commands = 0.35 * (waves.sum(axis=1) - waves[..., 0].sum(axis=1, keepdims=True)).T
    angles, torques = np.empty((2, count, 2))
    held = np.vstack([np.zeros((4, 2)), commands])  # commands act 20 ms late
    for i in range(count):
        angles[i] = data.qpos
        data.ctrl[:] = held[i]
        mujoco.mj_forward(model, data)
        torques[i] = data.qfrc_actuator
        mujoco.mj_step(model, data, nstep=round(0.005 / model.opt.timestep))
    noisy = angles + 2e-4 * rng.standard_normal(angles.shape)
    return np.ascontiguousarray(commands), noisy, torques


def _write_bag(path: Path, motion: tuple[np.ndarray, ...], seed: int) -> None:
    path.parent.mkdir(exist_ok=True)
    store = get_typestore(Stores.ROS2_KILTED)
    types, empty = store.types, np.empty(0)
    layout = types["std_msgs/msg/MultiArrayLayout"]([], 0)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        kinds = {
            "/position_controller/commands": "std_msgs/msg/Float64MultiArray",
            "/joint_states": "sensor_msgs/msg/JointState",
            "/robot_description": "std_msgs/msg/String",
        }
        topics = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in kinds.items()
        }
        begin = START_NS + seed * 60 * 10**9
        description = store.serialize_cdr(types["std_msgs/msg/String"](URDF), "std_msgs/msg/String")
        writer.write(topics["/robot_description"], begin, description)
        for i, (command, angle, torque) in enumerate(zip(*motion, strict=True)):
            stamp = begin + i * 5_000_000
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](time, "")
            messages = {
                "/position_controller/commands": types["std_msgs/msg/Float64MultiArray"](
                    layout, command
                ),
                "/joint_states": types["sensor_msgs/msg/JointState"](
                    header, list(JOINTS), angle, empty, torque
                ),
            }
            for topic, message in messages.items():
                writer.write(topics[topic], stamp, store.serialize_cdr(message, kinds[topic]))
