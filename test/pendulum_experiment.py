# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A small experiment with known truth: bags of a driven pendulum, a model, an experiment file."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mujoco
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

START_NS = 1_700_000_000_000_000_000
RATE = 200  # Hz, of torque and measurement
NOISE = 2e-4  # rad
_STEP = 20  # samples of one torque
TRUE = {"pivot_armature": 0.02, "pivot_damping": 0.15}

MODEL = """
<mujoco>
  <option timestep="0.0025" integrator="implicitfast"/>
  <worldbody>
    <body name="arm">
      <joint name="pivot" axis="0 1 0" armature="{armature}" damping="{damping}"/>
      <inertial pos="0 0 -0.3" mass="1" diaginertia="0.01 0.01 0.01"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="pivot"/></actuator>
  <sensor><jointpos name="angle" joint="pivot"/></sensor>
</mujoco>
"""
EXPERIMENT = """\
model: pendulum.xml
sequences: [bags/first]
validation: {bags: [bags/second]}
signals:
  - {actuator: motor, topic: /torque, field: "data[0]"}
  - {sensor: angle, topic: /joint_states, field: "position[pivot]"}
windows: {length: 1.0}
fit: {landscapes: 0, model_error: false}
parameters:
  - joint: pivot
    armature: {max: 0.2}
    damping: {max: 1.0}
"""

# A hook that makes every step take its time, so that a process can be killed between two.
SLOW = """\
import os
import time

from sysid_ros.engine.parameters.parameter import Parameter

def add(parameters, spec):
    def write(spec, parameter):
        time.sleep(float(os.environ.get("SLOW", "0")))
    parameters.add(Parameter("nothing", 0.5, 0, 1, modifier=write))
"""


def write_pendulum_experiment(folder: Path, *, duration: float = 6.0) -> Path:
    """Write an experiment with two bags, as much as ``sysid_ros fit`` needs.

    Args:
      folder: Where; the model guesses other values than the bags were made with.
      duration: Length of each bag in s.

    Returns:
      The experiment file.
    """
    (folder / "bags").mkdir(parents=True)
    (folder / "pendulum.xml").write_text(MODEL.format(armature=0.1, damping=0.5))
    for seed, name in enumerate(("first", "second")):
        write_pendulum_bag(folder / "bags" / name, duration=duration, seed=seed)
    file = folder / "experiment.yaml"
    file.write_text(EXPERIMENT)
    return file


def write_pendulum_bag(
    path: Path,
    *,
    duration: float = 6.0,
    seed: int = 0,
    joint: str = "pivot",
    constant: bool = False,
    nan: bool = False,
    true: Mapping[str, float] = TRUE,
    namespace: str = "",
    pausing: bool = False,
) -> None:
    """Write one bag: torque steps and the angle they lead to.

    Args:
      path: A new folder.
      duration: s.
      seed: Of torque and noise.
      joint: What the recording calls the joint.
      constant: Whether the encoder is stuck.
      nan: Whether one sample is NaN.
      true: The pendulum's parameters.
      namespace: Before the topics, such as ``/left``.
      pausing: Whether torque stays as it is from 1.2 s to 2 s of every 2 s, and is not sent but for
        the last 0.1 s of these.
    """
    given = (duration, seed, joint, constant, nan, tuple(true.items()), namespace, pausing)
    path.mkdir(parents=True)
    for name, content in _bag_files(path.name, *given).items():
        (path / name).write_bytes(content)


@functools.cache
def _bag_files(name: str, *given: Any) -> Mapping[str, bytes]:
    """The files of a bag, made once: many tests begin with the same."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        _write(path, *given)
        return {file.name: file.read_bytes() for file in path.iterdir()}


def _write(
    path: Path,
    duration: float,
    seed: int,
    joint: str,
    constant: bool,
    nan: bool,
    true: tuple[tuple[str, float], ...],
    namespace: str,
    pausing: bool,
) -> None:
    rng = np.random.default_rng(seed)
    torque = _torque(round(duration * RATE), rng, pausing=pausing)
    angle = _simulate(torque, rng, dict(true))
    if constant:
        angle[:] = 0.1
    if nan:
        angle[50] = np.nan
    store = get_typestore(Stores.ROS2_KILTED)
    types = store.types
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:

        def publisher(topic: str, msgtype: str) -> Any:
            connection = writer.add_connection(topic, msgtype, typestore=store)
            return lambda stamp, message: writer.write(
                connection, stamp, store.serialize_cdr(message, msgtype)
            )

        torques = publisher(f"{namespace}/torque", "std_msgs/msg/Float64MultiArray")
        states = publisher(f"{namespace}/joint_states", "sensor_msgs/msg/JointState")
        layout = types["std_msgs/msg/MultiArrayLayout"]([], 0)
        empty = np.empty(0)
        for i, (command, measured) in enumerate(zip(torque, angle, strict=True)):
            stamp = START_NS + i * 10**9 // RATE
            data = np.array([command])
            if not (pausing and 12 <= i // _STEP % 20 < 19):
                torques(stamp, types["std_msgs/msg/Float64MultiArray"](layout, data))
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](time, "")
            position = np.array([measured])
            states(
                stamp, types["sensor_msgs/msg/JointState"](header, [joint], position, empty, empty)
            )


def _torque(samples: int, rng: np.random.Generator, *, pausing: bool) -> np.ndarray:
    """Torque, (samples,) in N m, another one every 0.1 s."""
    steps = rng.uniform(-1.5, 1.5, samples // _STEP + 1)
    if pausing:
        for k in range(len(steps)):
            steps[k] = steps[k - 1] if k % 20 >= 12 else steps[k]
    return np.repeat(steps, _STEP)[:samples]


def _simulate(
    torque: np.ndarray, rng: np.random.Generator, true: Mapping[str, float]
) -> np.ndarray:
    """The measured angle, (samples,) in rad, of torque that is held between samples."""
    text = MODEL.format(armature=true["pivot_armature"], damping=true["pivot_damping"])
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = 1e-4  # a robot does not know the steps of the identified model
    data = mujoco.MjData(model)
    angle = np.empty(len(torque))
    for i in range(len(torque)):
        angle[i] = data.qpos[0]
        data.ctrl[0] = torque[i]
        mujoco.mj_step(model, data, nstep=round(1.0 / RATE / model.opt.timestep))
    return angle + NOISE * rng.standard_normal(len(torque))
