# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of random arms: a bag, an experiment and a model whose numbers are far off."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.arrays import FloatArray

START_NS = 1_700_000_000_000_000_000
MOTOR = '<motor name="m{}" joint="j{}"/>'


@dataclass(frozen=True)
class ArmRecording:
    """What an arm did: times (n,) s; position, velocity and input (n, joints).

    Inputs are torques of motors, or positions that servos are asked for.
    """

    times: FloatArray
    position: FloatArray
    velocity: FloatArray
    command: FloatArray

    def changed(
        self, what: str, joint: int, change: Callable[[FloatArray], FloatArray]
    ) -> ArmRecording:
        """The recording with one channel changed."""
        table = getattr(self, what).copy()
        table[:, joint] = change(table[:, joint])
        return replace(self, **{what: table})

    def exchanged(self, what: str, first: int, second: int) -> ArmRecording:
        """The recording with two joints' channels exchanged."""
        table = getattr(self, what).copy()
        table[:, [first, second]] = table[:, [second, first]]
        return replace(self, **{what: table})


def arm_model(seed: int, joints: int, *, servos: bool = False) -> str:
    """A random serial arm with position and velocity sensors, and motors or servos, as MJCF."""
    rng = np.random.default_rng(seed)
    bodies, below = "", 0.0
    for i in range(joints):
        length = rng.uniform(0.15, 0.4)
        mass = rng.uniform(0.3, 2.0) * 0.7**i
        centre = -length * rng.uniform(0.4, 1.0)
        moment = mass * length**2 / 12.0
        axis = "0 1 0" if i == 0 or rng.uniform() < 0.5 else "1 0 0"
        bodies += (
            f'<body name="link{i}" pos="0 0 {-below}"><joint name="j{i}" axis="{axis}" '
            f'damping="{rng.uniform(0.02, 0.1)}" frictionloss="{rng.uniform(0.0, 0.05)}" '
            f'armature="{rng.uniform(0.001, 0.02)}"/><inertial pos="0 0 {centre}" mass="{mass}" '
            f'diaginertia="{moment} {moment} {moment / 10.0}"/>'
        )
        below = length
    kind = '<position name="m{}" joint="j{}" kp="30" kv="1.5"/>' if servos else MOTOR
    actuators = "".join(kind.format(i, i) for i in range(joints))
    sensors = "".join(
        f'<jointpos name="p{i}" joint="j{i}"/><jointvel name="v{i}" joint="j{i}"/>'
        for i in range(joints)
    )
    return (
        '<mujoco><option timestep="0.001" integrator="implicitfast">'
        f'<flag contact="disable"/></option><worldbody>{bodies}{"</body>" * joints}</worldbody>'
        f"<actuator>{actuators}</actuator><sensor>{sensors}</sensor></mujoco>"
    )


def wrong_model(xml: str, seed: int, error: float = 0.5) -> str:
    """The same arm with every inertia and friction off by up to ``error``."""
    spec = mujoco.MjSpec.from_string(xml)
    rng = np.random.default_rng(seed + 1000)

    def factor() -> float:
        return float(rng.uniform(1.0 - error, 1.0 + error))

    for body in spec.bodies[1:]:
        share = factor()
        body.mass *= share
        body.inertia = np.array(body.inertia) * share * factor()
        body.ipos = np.array(body.ipos) * factor()
    for joint in spec.joints:
        joint.damping = np.array(joint.damping) * factor()
        joint.armature *= factor()
        joint.frictionloss *= factor()
    text: str = spec.to_xml()
    return text


@functools.cache
def simulate(
    xml: str,
    seed: int,
    *,
    duration: float = 8.0,
    rate: float = 200.0,
    noise: float = 5e-4,
    lag: float = 0.0,
) -> ArmRecording:
    """Follow multisines with servos or computed torques, and measure; once for many tests.

    Args:
      xml: The true arm.
      seed: Of the motion and the noise.
      duration: s.
      rate: Hz, of commands and measurements.
      noise: Of positions, rad; that of velocities is ten times as large.
      lag: From a command's stamp to its effect, s; a multiple of 1 ms.
    """
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    n, count = model.nv, round(duration * rate)
    steps = round(1.0 / rate / model.opt.timestep)
    frequency = rng.uniform(0.1, 1.5, (n, 5))
    phase = rng.uniform(0.0, 2.0 * np.pi, (n, 5))
    size = rng.uniform(0.3, 1.0, (n, 5)) / (1.0 + frequency)
    position, velocity, sent = (np.empty((count, n)) for _ in range(3))
    mass = np.empty((n, n))
    servos = model.nu > 0 and model.actuator_biasprm[0, 1] < 0.0
    late = round(lag / model.opt.timestep)
    pending = [np.zeros(n)] * late
    for i in range(count):
        t = i / rate
        ramp = min(1.0, t)
        angle = 2.0 * np.pi * frequency * t + phase
        goal = ramp * np.sum(size * np.sin(angle), axis=1)
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, mass)
        wanted = 60.0 * (goal - data.qpos) - 12.0 * data.qvel
        command = goal if servos else mass @ wanted + data.qfrc_bias
        position[i], velocity[i], sent[i] = data.qpos, data.qvel, command
        for _ in range(steps):
            pending.append(command)
            data.ctrl[:] = pending.pop(0)
            mujoco.mj_step(model, data)
    tables = (
        np.arange(count) / rate,
        position + noise * rng.standard_normal(position.shape),
        velocity + 10.0 * noise * rng.standard_normal(velocity.shape),
        sent,
    )
    for table in tables:
        table.flags.writeable = False
    return ArmRecording(*tables)


def write_experiment(
    folder: Path,
    xml: str,
    recording: ArmRecording,
    *,
    velocities: bool = False,
    free_inertia: bool = False,
) -> Path:
    """Write model, bag and experiment; torques are commands on a topic of their own."""
    joints = recording.position.shape[1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "arm.xml").write_text(xml)
    write_bag(folder / "bag", recording)
    lines = [f'  - {{actuator: m{i}, topic: /torque, field: "data[{i}]"}}' for i in range(joints)]
    kinds = {"p": "position", "v": "velocity"} if velocities else {"p": "position"}
    lines += [
        f'  - {{sensor: {name}{i}, topic: /joint_states, field: "{field}[j{i}]"}}'
        for name, field in kinds.items()
        for i in range(joints)
    ]
    file = folder / "experiment.yaml"
    file.write_text(
        "model: arm.xml\nsequences: [bag]\nsignals:\n"
        + "\n".join(lines)
        + '\nparameters:\n  - {joint: "*", damping: , armature: }\n'
        + ('  - {body: "link*", inertia: pseudo}\n' if free_inertia else "")
    )
    return file


def write_bag(
    path: Path,
    recording: ArmRecording,
    *,
    names: list[str] | None = None,
    measured_torque: bool = False,
    commands: bool = True,
    behind: float = 0.0,
) -> None:
    """Write joint states and torque commands.

    Args:
      path: A new folder.
      recording: What to write.
      names: What the joints are called; ``j0`` and so on by default.
      measured_torque: Whether the joint states have the torque as effort.
      commands: Whether the torque commands are written.
      behind: By how much the clock of the joint states is behind the recorder's, s.
    """
    store = get_typestore(Stores.ROS2_KILTED)
    types = store.types
    names = names or [f"j{i}" for i in range(recording.position.shape[1])]
    layout = types["std_msgs/msg/MultiArrayLayout"]([], 0)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = {
            "/torque": "std_msgs/msg/Float64MultiArray",
            "/joint_states": "sensor_msgs/msg/JointState",
        }
        connections = {
            topic: writer.add_connection(topic, msgtype, typestore=store)
            for topic, msgtype in topics.items()
            if commands or topic != "/torque"
        }
        for i, t in enumerate(recording.times):
            stamp = START_NS + round(1e9 * t)
            shown = stamp - round(1e9 * behind)
            time = types["builtin_interfaces/msg/Time"](shown // 10**9, shown % 10**9)
            header = types["std_msgs/msg/Header"](time, "")
            state = types["sensor_msgs/msg/JointState"](
                header,
                names,
                recording.position[i],
                recording.velocity[i],
                recording.command[i] if measured_torque else np.empty(0),
            )
            torque = types["std_msgs/msg/Float64MultiArray"](layout, recording.command[i].copy())
            messages = {"/torque": torque, "/joint_states": state}
            for topic in connections:
                message = messages[topic]
                data = store.serialize_cdr(message, topics[topic])
                writer.write(connections[topic], stamp, data)
