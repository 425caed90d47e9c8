# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``sim_robot``: a MuJoCo robot with hidden true parameters.

It publishes ``joint_states`` and obeys ``command``, or else the goals of the action
``follow_joint_trajectory`` with ``controller_state`` beside it, either by the wall clock
(:mod:`~sysid_ros.nodes.sim_robot.real_time`) or on a time of its own, which waits for every command
(:mod:`~sysid_ros.nodes.sim_robot.lock_step`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from sysid_ros.errors import ExperimentError
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.process import run_node
from sysid_ros.nodes.sim_robot.lock_step import LockStep
from sysid_ros.nodes.sim_robot.real_time import RealTime
from sysid_ros.nodes.sim_robot.simulated_robot import RobotState, SimulatedRobot, build_true_model
from sysid_ros.nodes.sim_robot.trajectory_action import TrajectoryAction
from sysid_ros.nodes.sim_robot.trajectory_topic import TrajectoryTopic
from sysid_ros.rehearsal import TrueParameter, read_true_parameters

# In lock-step the robot does not wait for who only listens: enough for some seconds of delay.
_QUEUE = 5000


class SimRobot(Node):
    """The simulated robot on its topics."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__("sim_robot", **node_options)
        self._action: TrajectoryAction | None = None
        self._topic: TrajectoryTopic | None = None
        given = NodeParameters(self)
        rate = given.positive("rate", 500.0, "joint states per second")
        command_type = given.choice(
            "command_type",
            ("float64_multi_array", "joint_trajectory", "follow_joint_trajectory"),
            "message type of the topic command, or an action instead of it",
        )
        self._robot = self._make_robot(given, rate)
        self._states = self.create_publisher(JointState, "joint_states", QoSProfile(depth=_QUEUE))
        if command_type == "follow_joint_trajectory":
            first = self._robot.measure().position
            self._action = TrajectoryAction(self, self._robot.joints, first, self._begin)
        elif command_type == "joint_trajectory":
            self._topic = TrajectoryTopic(self._robot.joints)
            hear = partial(self._on_trajectory, self._topic)
            self.create_subscription(JointTrajectory, "command", hear, _QUEUE)
        else:
            self.create_subscription(Float64MultiArray, "command", self._on_array, _QUEUE)
        self._time = self._make_time(given, rate)
        log_of(self).info(f"simulating {', '.join(self._robot.joints)}")

    def _make_robot(self, given: NodeParameters, rate: float) -> SimulatedRobot:
        model_file = given.required_file("model", "MJCF or URDF file")
        truth_file = given.optional_file("true_parameters", "YAML file with the hidden values")
        timestep = given.positive("timestep", 0.0005, "simulation timestep in s")
        noise = [
            given.number(f"noise.{what}", 0.0, f"standard deviation of {what}", low=0.0)
            for what in ("position", "velocity", "effort")
        ]
        seed = given.integer("seed", 0, "seed of the noise", low=0)
        truth = read_true_parameters(truth_file) if truth_file else ()
        return SimulatedRobot(
            build_true_model(model_file, truth, timestep),
            rate=rate,
            command_delay=_command_delay(truth),
            noise=(noise[0], noise[1], noise[2]),
            seed=seed,
        )

    def _make_time(self, given: NodeParameters, rate: float) -> RealTime | LockStep:
        latency = given.number(
            "latency", 0.05, "seconds by which the simulation runs behind the wall clock", low=0.0
        )
        lockstep = given.number(
            "lockstep",
            0.0,
            "commands per second, each of which the robot waits for while excite plays, on a time "
            "of its own (/clock); 0: by the wall clock",
            low=0.0,
        )
        patience = given.positive("patience", 30.0, "seconds to wait for a command in lock-step")
        excite = given.text("excite", "excite", "name of the node that plays a motion")
        if lockstep <= 0.0:
            return RealTime(self, self._robot, self._publish, rate=rate, latency=latency)
        return LockStep(
            self,
            self._robot,
            self._publish,
            rate=lockstep,
            patience=patience,
            excite=excite,
            waits=self._action is None,
        )

    def _begin(self) -> None:
        self._time.begin()

    def destroy_node(self) -> None:
        """End the action with the node."""
        if self._action is not None:
            self._action.close()
        super().destroy_node()

    def report_late_commands(self) -> bool:
        """Say how many commands came too late to take effect at their instant, if any did.

        Returns:
          True.
        """
        if self._robot.late_commands:
            log_of(self).warning(f"{self._robot.late_commands} commands arrived too late")
        return True

    def _on_array(self, message: Float64MultiArray, info: Any) -> None:
        self._obey(message.data, info)

    def _on_trajectory(self, topic: TrajectoryTopic, message: JointTrajectory, info: Any) -> None:
        if topic.follow(message):
            self._time.heard(info["source_timestamp"] or time.time_ns())
            return
        log_of(self).repeated_warning(
            f"trajectory ignored: every point needs a later time than the one before and a finite "
            f"position for each of {', '.join(self._robot.joints)}",
            period=5.0,
        )

    def _obey(self, values: Sequence[float], info: Any) -> None:
        command = np.array(values, dtype=np.float64)
        if command.size != self._robot.command_size or not np.all(np.isfinite(command)):
            log_of(self).repeated_warning(
                f"command of {command.size} values ignored: {self._robot.command_size} finite "
                "values are needed",
                period=5.0,
            )
            return
        late = self._robot.late_commands
        self._time.obey(command, info["source_timestamp"] or time.time_ns())
        if self._robot.late_commands > late:
            log_of(self).repeated_warning(
                "a command arrived too late and takes effect later than it says: this machine does "
                "not keep up; with lockstep the robot waits for commands",
                period=5.0,
            )

    def _publish(self, state: RobotState, stamp_ns: int) -> None:
        if self._action is not None:
            self._robot.command(state.time, self._action.control(state, stamp_ns))
        if self._topic is not None:
            measured = np.array([state.position, state.velocity])
            command = self._topic.control(state.time, stamp_ns, measured)
            if command is not None:
                self._robot.command(state.time, command)
        message = JointState()
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
        message.name = self._robot.joints
        message.position = state.position.tolist()
        message.velocity = state.velocity.tolist()
        message.effort = state.effort.tolist()
        self._states.publish(message)


def _command_delay(truth: Sequence[TrueParameter]) -> float:
    """The hidden delay of all commands.

    Raises:
      ExperimentError: Something other than one delay is hidden in the signals.
    """
    signals = [value for value in truth if value.element == "signal"]
    if any(value.attribute != "delay" for value in signals) or len(signals) > 1:
        raise ExperimentError("of signals a simulated robot hides one delay of all its commands")
    return signals[0].value if signals else 0.0


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit status."""
    return run_node(SimRobot, args, ready_to_end=SimRobot.report_late_commands)
