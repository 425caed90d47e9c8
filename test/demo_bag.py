# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording of the demo's robot, made without waiting for real time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from sysid_ros.excitation import CommandLimits, ExcitationPath, design_multisine
from sysid_ros.nodes.demo import demo_folder
from sysid_ros.nodes.recorder.message_definitions import definition
from sysid_ros.nodes.sim_robot.simulated_robot import SimulatedRobot, build_true_model
from sysid_ros.recording.bags import BagFolder, BagTopic
from sysid_ros.rehearsal import TrueParameter, read_true_parameters

START_NS = 1_800_000_000 * 10**9


def true_parameters() -> tuple[TrueParameter, ...]:
    """What the demo's robot hides."""
    return read_true_parameters(demo_folder() / "true_parameters.yaml")


def write_demo_bag(folder: Path, duration: float = 10.0) -> Path:
    """Simulate the demo's robot for ``duration`` seconds and write what a recorder would."""
    truth = true_parameters()
    delay = next(value.value for value in truth if value.element == "signal")
    robot = SimulatedRobot(
        build_true_model(demo_folder() / "arm.xml", truth, 0.0005),
        rate=250.0,
        command_delay=delay,
        noise=(2e-4, 0.0, 0.0),
    )
    reach, speed = np.array([1.2, 1.5]), np.array([6.0, 6.0])
    limits = CommandLimits(-reach, reach, speed, np.full(2, np.inf))
    motion = design_multisine(robot.joints, limits, duration=duration, seed=1)
    path = ExcitationPath(motion, np.zeros(2), ramp=1.0)
    bag = BagFolder(folder, "demo")
    states = bag.add_topic(_topic("/joint_states", "sensor_msgs/msg/JointState"))
    commands = bag.add_topic(_topic("/command", "std_msgs/msg/Float64MultiArray"))
    for tick in np.arange(0.0, duration, 0.01):
        command = path.commands(np.array([tick]))[0]
        robot.command(tick, command)
        stamp = START_NS + round(1e9 * tick)
        data = serialize_message(Float64MultiArray(data=command.tolist()))
        bag.write(commands, data, log_ns=stamp + 100_000, publish_ns=stamp)
        for state in robot.advance(tick + 0.01):
            stamp = START_NS + round(1e9 * state.time)
            message = JointState(name=robot.joints, position=state.position.tolist())
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
            data = serialize_message(message)
            bag.write(states, data, log_ns=stamp + 100_000, publish_ns=stamp)
    bag.close()
    return bag.path


def _topic(name: str, msgtype: str) -> BagTopic:
    return BagTopic(name, msgtype, definition(msgtype), "")
