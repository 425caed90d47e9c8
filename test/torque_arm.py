# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm whose joint torque is measured, with a known truth: as sequences, and as a bag."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from simulated_arms import coloured, three_joint_xml

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.inverse_dynamics import Motion, mujoco_torque, sharpen_friction
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries, create_initial_state

JOINTS = ("a", "b", "c")
BODIES = ("base", "upper", "fore")
OFFSETS = np.array([0.3, -0.2, 0.4])  # N m
STEP = 0.002  # s
# Of the library's parameters alone: its recordings are not read from a bag.
JOINT_EXPERIMENT = """
model: arm.xml
sequences: [bag]
signals: [{effort: a, topic: /joint_states, field: "effort[a]"}]
fit: {method: inverse_dynamics}
parameters: [{joint: "*", armature: , damping: , frictionloss: }]
"""
START_NS = 1_700_000_000_000_000_000


def true_spec() -> mujoco.MjSpec:
    """The arm as it is; its friction is MuJoCo's at its sharpest."""
    spec = mujoco.MjSpec.from_string(three_joint_xml(STEP))
    sharpen_friction(spec)
    return spec


def nominal_xml() -> str:
    """The arm as a data sheet has it: other masses, no friction, no armature."""
    spec = mujoco.MjSpec.from_string(three_joint_xml(STEP))
    for joint in spec.joints:
        joint.armature = joint.frictionloss = 0.0
        joint.damping = np.zeros_like(joint.damping)
    for body in spec.bodies:
        if body.name != "world":
            body.mass *= 1.3
            body.fullinertia = 1.3 * np.array(body.fullinertia)
    return str(spec.to_xml())


def moved(
    model: mujoco.MjModel,
    duration: float = 20.0,
    rate: float = 250.0,
    *,
    still: tuple[int, ...] = (),
    seed: int = 0,
) -> tuple[np.ndarray, Motion, np.ndarray]:
    """Instants, an exciting motion and the torque that it takes, offsets included."""
    rng, times = np.random.default_rng(seed), np.arange(0.0, duration, 1.0 / rate)
    parts = [np.zeros((len(times), model.nv)) for _ in range(3)]
    for k in range(1, 6):
        omega = 2.0 * np.pi * 0.15 * k
        size, phase = 0.4 * rng.normal(size=model.nv), rng.uniform(0.0, 2.0 * np.pi, model.nv)
        size[list(still)] = 0.0
        angle = omega * times[:, None] + phase
        parts[0] += size * np.sin(angle)
        parts[1] += size * omega * np.cos(angle)
        parts[2] -= size * omega**2 * np.sin(angle)
    motion = Motion(*parts)
    return times, motion, mujoco_torque(model, motion) + OFFSETS


def slowed(times: np.ndarray, motion: Motion, at: float, to: float = 0.0) -> Motion:
    """The same until an instant, at a share of its speed half a second later."""
    share = np.clip((times - at) / 0.5, 0.0, 1.0)
    rate = to + (1.0 - to) * 0.5 * (1.0 + np.cos(np.pi * share))
    slower = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(times))])
    qpos = np.stack([np.interp(slower, times, each) for each in motion.qpos.T], axis=1)
    along = np.stack([np.interp(slower, times, v) for v in motion.qvel.T], axis=1)
    qacc = np.stack([np.interp(slower, times, a) for a in motion.qacc.T], axis=1)
    turn = np.gradient(rate, times)[:, None]
    return Motion(qpos, rate[:, None] * along, rate[:, None] ** 2 * qacc + turn * along)


def noisy(positions: np.ndarray, torque: np.ndarray, rate: float = 250.0) -> Any:
    """Positions and torque as sensors give them: 1e-5 rad, and coloured 0.05 N m."""
    rng = np.random.default_rng(1)
    return (
        positions + 1e-5 * rng.standard_normal(positions.shape),
        torque + coloured(rng, torque.shape, rate, 0.05, 0.02),
    )


def inertia_and_friction(
    spec: mujoco.MjSpec, joints: Sequence[str] = JOINTS, bodies: Sequence[str] = BODIES
) -> ParameterDict:
    """Inertia of bodies from the model's on, and what moves their joints, of which nothing is."""
    params = ParameterDict()
    for name in joints:
        for what in ("armature", "damping", "frictionloss"):
            modifier = AttributeModifier("joint", name, what)
            params.add(Parameter(f"{name}_{what}", 0.0, 0.0, np.inf, modifier=modifier))
    for body in bodies:
        nominal = lookup("body", "inertia").read(spec, body)
        modifier = AttributeModifier("body", body, "inertia")
        params.add(Parameter(body, nominal, -np.inf, np.inf, modifier=modifier))
    return params


def friction_and_more(spec: mujoco.MjSpec) -> ParameterDict:
    """What joints have besides inertia, all of it free."""
    params = ParameterDict()
    for name in JOINTS:
        for what in ("armature", "damping", "frictionloss", "torque_offset"):
            nominal = lookup("joint", what).read(spec, name)
            low = -np.inf if what == "torque_offset" else 0.0
            modifier = AttributeModifier("joint", name, what)
            params.add(Parameter(f"{name}_{what}", nominal, low, np.inf, modifier=modifier))
    return params


def torque_sequences(
    spec: mujoco.MjSpec, times: np.ndarray, qpos: np.ndarray, torque: np.ndarray
) -> ModelSequences:
    """A recording with position sensors and one motor per joint."""
    spec = spec.copy()
    joints = [joint.name for joint in spec.joints][: qpos.shape[1]]  # others are not measured
    for joint in joints:
        spec.add_sensor(
            name=f"{joint}_pos", type=mujoco.mjtSensor.mjSENS_JOINTPOS,
            objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint,
        )  # fmt: skip
        spec.add_actuator(name=f"{joint}_effort", trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint)
    model = spec.copy().compile()
    columns = {n: np.array([i]) for i, n in enumerate(joints)}
    return ModelSequences(
        "arm",
        spec,
        "run",
        create_initial_state(model, model.qpos0, np.zeros(model.nv)),
        TimeSeries(
            times, torque, {f"{n}_effort": (SignalType.MjCtrl, c) for n, c in columns.items()}
        ),
        TimeSeries(times, qpos, {f"{n}_pos": (SignalType.MjSensor, c) for n, c in columns.items()}),
    )


def part_of(
    whole: ModelSequences, begin: float, end: float, *, origin: float = 0.0
) -> ModelSequences:
    """What was recorded from ``begin`` to ``end`` [s], in times from ``origin`` on."""
    part = copy.copy(whole)

    def cut(series: TimeSeries) -> TimeSeries:
        chosen = (series.times >= begin) & (series.times <= end)
        times, data = series.times[chosen] - origin, series.data[chosen]
        return TimeSeries(times, data, series.signal_mapping)

    part.control, part.sensordata = [cut(whole.control[0])], [cut(whole.sensordata[0])]
    return part


def write_torque_bag(path: Path, times: np.ndarray, qpos: np.ndarray, torque: np.ndarray) -> None:
    """Write /joint_states with positions and efforts."""
    store = get_typestore(Stores.ROS2_KILTED)
    types: Any = store.types
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        for t, position, effort in zip(times, qpos, torque, strict=True):
            stamp = START_NS + round(1e9 * float(t))
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](time, "")
            message = types["sensor_msgs/msg/JointState"](
                header, list(JOINTS), position, np.empty(0), effort
            )
            writer.write(topic, stamp, store.serialize_cdr(message, "sensor_msgs/msg/JointState"))


def experiment_text(more: str = "", *, fit: str = "{method: inverse_dynamics}") -> str:
    """An experiment that identifies everything, with ``more`` parameters."""
    lines = ["model: arm.xml", "sequences: [bag]", "validation: {fraction: 0.3}", f"fit: {fit}"]
    lines.append("signals:")
    for name in JOINTS:
        for kind, field in (("qpos", "position"), ("effort", "effort")):
            lines.append(f'  - {{{kind}: {name}, topic: /joint_states, field: "{field}[{name}]"}}')
    lines += ["parameters:", '  - {joint: "*", armature: , damping: , frictionloss: }', more]
    return "\n".join(lines) + "\n"
