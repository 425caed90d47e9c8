# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording of a simulated 7-joint arm as a folder with model, bag and experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.arrays import FloatArray

SECONDS, TIMESTEP, EVERY = 20.0, 0.002, 4  # recorded at 125 Hz
NOISE = 1e-4  # rad
START_NS = 1_700_000_000_000_000_000
TRUE = {"armature": 0.1, "damping": 1.0, "frictionloss": 0.5}
BOUNDS = {"armature": 1.0, "damping": 10.0, "frictionloss": 5.0}


def write_arm(
    folder: Path,
    panda: Path,
    seconds: float = SECONDS,
    every: int = EVERY,
    finer: int = 1,
    seed: int = 0,
) -> Path:
    """Write ``arm.xml``, ``bag`` and ``experiment.yaml``.

    Args:
      folder: Exists.
      panda: MJCF of the Panda without its hand; its servos move it.
      seconds: Of motion.
      every: Time steps from one message to the next.
      finer: Steps of the simulated robot in one of the model's. A real robot takes no steps, and
        commands at the beginning of coarse ones act half a step too early.
      seed: Of the motion and the noise.

    Returns:
      The experiment file.
    """
    spec = mujoco.MjSpec.from_file(str(panda))
    spec.option.timestep = TIMESTEP
    joints = [f"joint{i}" for i in range(1, 8)]
    for name in joints:
        joint = spec.joint(name)
        joint.armature, joint.frictionloss = TRUE["armature"], TRUE["frictionloss"]
        joint.damping = np.array([TRUE["damping"], 0.0, 0.0])
        spec.add_sensor(
            name=f"{name}_pos",
            type=mujoco.mjtSensor.mjSENS_JOINTPOS,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=name,
        )
    true = spec.copy()
    true.option.timestep = TIMESTEP / finer
    told, position = _motion(true.compile(), seconds, every * finer, seed)
    _write_bag(folder / "bag", joints, told, position, TIMESTEP * every)
    for name in joints:  # what a user would start from
        joint = spec.joint(name)
        joint.armature, joint.frictionloss = 0.05, 0.2
        joint.damping = np.array([0.5, 0.0, 0.0])
    spec.meshdir = str(panda.parent / spec.meshdir)
    (folder / "arm.xml").write_text(spec.to_xml())
    lines = [
        f'  - {{actuator: actuator{i + 1}, topic: /command, field: "data[{i}]"}}'
        for i in range(len(joints))
    ]
    lines += [
        f'  - {{sensor: {name}_pos, topic: /joint_states, field: "position[{name}]"}}'
        for name in joints
    ]
    bounds = [f"    {name}: {{min: 0.0, max: {most}}}" for name, most in BOUNDS.items()]
    experiment = folder / "experiment.yaml"
    head = ["model: arm.xml", "sequences: [bag]", "validation: {fraction: 0.2}", "signals:"]
    tail = ["windows: {length: 1.0}", "parameters:", '  - joint: "*"', *bounds, ""]
    experiment.write_text("\n".join([*head, *lines, *tail]))
    return experiment


def _motion(model: Any, seconds: float, every: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Commands and noisy positions at the recorded instants, every so many steps, (n, 7) each."""
    random = np.random.default_rng(seed)
    step = model.opt.timestep
    times = step * np.arange(round(seconds / step))
    home = model.key_ctrl[0]
    told = home + 0.4 * np.sin(2.0 * np.pi * times[:, None] * random.uniform(0.1, 0.6, len(home)))
    told = np.repeat(told[::every], every, axis=0)[: len(times)]  # held between messages
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    physics = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(mujoco.mj_stateSize(model, physics))
    mujoco.mj_getState(model, data, start, physics)
    _, sensors = mujoco.rollout.rollout(model, data, start[None], told[None])
    shown = sensors[0][::every, -7:]
    return told[::every], shown + NOISE * random.normal(size=shown.shape)


def _write_bag(
    path: Path, joints: list[str], told: FloatArray, position: FloatArray, step: float
) -> None:
    store = get_typestore(Stores.LATEST)
    types: Any = store.types
    layout = types["std_msgs/msg/MultiArrayLayout"]([], 0)
    kinds = {"/joint_states": "sensor_msgs/msg/JointState"}
    kinds["/command"] = "std_msgs/msg/Float64MultiArray"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in kinds.items()
        }
        for i in range(len(told)):
            stamp = START_NS + round(1e9 * step * i)
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            none = np.zeros(0)
            messages = {
                "/joint_states": types["sensor_msgs/msg/JointState"](
                    types["std_msgs/msg/Header"](time, ""), joints, position[i], none, none
                ),
                "/command": types["std_msgs/msg/Float64MultiArray"](layout, told[i]),
            }
            for topic, message in messages.items():
                content = store.serialize_cdr(message, kinds[topic])
                writer.write(topics[topic], stamp, content)
