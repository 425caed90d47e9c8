# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A measured wrench as a known external force: in a model, and from a bag to a fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros import sysid
from sysid_ros.errors import ModelError
from sysid_ros.experiment import load_experiment, parse_experiment
from sysid_ros.pipeline.experiment_run import run_experiment

TRUE = {"inertia": 0.03, "damping": 0.15}
RATE = 200  # Hz
MODEL = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body name="arm"><joint name="hinge" axis="0 1 0" armature="{inertia}" damping="{damping}"/>
    <inertial pos="0 0 -0.3" mass="1" diaginertia="0.01 0.01 0.01"/>
    <site name="tip" pos="0 0 -0.4" euler="0 30 0"/></body></worldbody>
  <sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
EXPERIMENT = """
model: arm.xml
sequences: [pushed]
signals:
  - {wrench: tip, topic: /ft_sensor, field: wrench}
  - {sensor: angle, topic: /joint_states, field: "position[hinge]"}
fit: {landscapes: 0, model_error: false}
parameters:
  - joint: hinge
    armature: {max: 0.2}
    damping: {max: 1.0}
"""


def pushed(seed: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Wrench in the site's frame (samples, 6), and the angle it leads to, by applied forces."""
    model = mujoco.MjModel.from_xml_string(MODEL.format(**TRUE))
    model.opt.timestep = 1e-4
    data = mujoco.MjData(model)
    t = np.arange(samples) / RATE
    rng = np.random.default_rng(seed)
    wrench = np.stack(
        [sum(rng.uniform(0.2, 0.8) * np.sin(w * t + rng.uniform(0, 6)) for w in (3, 7, 13))
         for _ in range(6)], axis=1
    )  # fmt: skip
    angle = np.empty(samples)
    for i in range(samples):
        mujoco.mj_forward(model, data)
        angle[i] = data.qpos[0]
        for k in range(round(1 / RATE / model.opt.timestep)):
            following = wrench[min(i + 1, samples - 1)]
            now = wrench[i] + (following - wrench[i]) * k * model.opt.timestep * RATE
            mujoco.mj_kinematics(model, data)
            frame = data.site("tip").xmat.reshape(3, 3)
            data.qfrc_applied[:] = 0.0
            mujoco.mj_comPos(model, data)
            mujoco.mj_applyFT(
                model, data, frame @ now[:3], frame @ now[3:], data.site("tip").xpos,
                model.body("arm").id, data.qfrc_applied,
            )  # fmt: skip
            mujoco.mj_step(model, data)
    return wrench, angle


def write_bag(path: Path, wrench: np.ndarray, angle: np.ndarray) -> None:
    store = get_typestore(Stores.ROS2_KILTED)
    types: Any = store.types
    vector = types["geometry_msgs/msg/Vector3"]
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        kinds = {
            "/ft_sensor": "geometry_msgs/msg/WrenchStamped",
            "/joint_states": "sensor_msgs/msg/JointState",
        }
        connections = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in kinds.items()
        }
        for i, (row, position) in enumerate(zip(wrench, angle, strict=True)):
            stamp = 1_700_000_000_000_000_000 + i * 10**9 // RATE
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](time, "tip")
            force = types["geometry_msgs/msg/Wrench"](vector(*row[:3]), vector(*row[3:]))
            empty = np.empty(0)
            messages = {
                "/ft_sensor": types[kinds["/ft_sensor"]](header, force),
                "/joint_states": types[kinds["/joint_states"]](
                    header, ["hinge"], np.array([position]), empty, empty
                ),
            }
            for topic, message in messages.items():
                data = store.serialize_cdr(message, kinds[topic])
                writer.write(connections[topic], stamp, data)


def test_a_wrench_from_a_bag_identifies_what_it_pushes(tmp_path: Path) -> None:
    wrench, angle = pushed(seed=0, samples=4 * RATE)
    noisy = angle + 2e-4 * np.random.default_rng(1).normal(size=angle.shape)
    write_bag(tmp_path / "pushed", wrench, noisy)
    (tmp_path / "arm.xml").write_text(MODEL.format(inertia=0.1, damping=0.5))
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    report = run_experiment(
        load_experiment(tmp_path / "experiment.yaml"), output_dir=tmp_path / "results"
    )
    for parameter, truth in zip(report.outcome.fit.parameters, TRUE.values(), strict=True):
        assert parameter.value == pytest.approx(truth, rel=0.01)
    assert not any("measured effort" in warning for warning in report.outcome.warnings)
    assert report.files.model is not None
    identified = mujoco.MjModel.from_xml_path(str(report.files.model))
    assert identified.nu == 0  # the force is the experiment's, not the robot's


def test_inputs_act_as_applied_forces_do() -> None:
    spec = mujoco.MjSpec.from_string(MODEL.format(**TRUE))
    model = sysid.with_wrenches(spec, ["tip"]).compile()
    assert spec.copy().compile().nu == 0
    assert [model.actuator(i).name for i in range(6)] == list(sysid.wrench_inputs("tip"))
    data = mujoco.MjData(model)
    data.qpos[0] = 0.4
    data.ctrl[:] = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    mujoco.mj_forward(model, data)
    frame = data.site("tip").xmat.reshape(3, 3)
    expected = np.zeros(model.nv)
    mujoco.mj_applyFT(
        model, data, frame @ data.ctrl[:3], frame @ data.ctrl[3:], data.site("tip").xpos,
        model.body("arm").id, expected,
    )  # fmt: skip
    np.testing.assert_allclose(data.qfrc_actuator, expected)


def test_sites_are_checked() -> None:
    spec = mujoco.MjSpec.from_string(MODEL.format(**TRUE))
    with pytest.raises(ModelError, match="tip"):
        sysid.with_wrenches(spec, ["tipp"])
    twice = sysid.with_wrenches(spec, ["tip"])
    with pytest.raises(ModelError, match="tip_force_x"):
        sysid.with_wrenches(twice, ["tip"])


def test_a_wrench_is_six_interpolated_inputs() -> None:
    signals = parse_experiment(EXPERIMENT).signals
    assert [signal.field for signal in signals[:6]] == [
        f"wrench.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"
    ]
    assert {signal.interpolation.value for signal in signals[:6]} == {"linear"}
