# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``replay``: a fitted recording side by side, as it was measured and as the model moves.

Publishes ``measured/joint_states`` and ``simulated/joint_states``, the frames of both robots on
``/tf``, called ``measured/<body>`` and ``simulated/<body>``, and their shapes as the markers
``measured/robot`` and ``simulated/robot``. A motion that is planned is ``planned`` instead of
``measured``, and what the model makes of it under its own servos is ``simulated``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ExperimentError
from sysid_ros.excitation.design import load_planned
from sysid_ros.exports import URDF
from sysid_ros.files import read_regular_text
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.process import run_node
from sysid_ros.playback import GHOST, SIMULATED, Frame, frames_of, load_motion, shapes_of


class Replay(Node):
    """Plays one recording of a result."""

    def __init__(self, **node_options: Any) -> None:
        """Read the result and begin.

        Raises:
          SysidError: It cannot be read, or a parameter is out of its range.
        """
        super().__init__("replay", **node_options)
        given = NodeParameters(self)
        folder = given.path("result", "result folder; an experiment's file for motion")
        if folder is None:
            raise ExperimentError("parameter result of replay must name the folder of a result")
        sequence = given.text("sequence", "", "recording; the first held-out one if empty")
        simulated = given.choice("simulated", SIMULATED, "with which parameters")
        planned = given.optional_file(
            "motion", "CSV file of a motion to show before anything moves"
        )
        if planned is None:
            self._robots = ("measured", "simulated")
            self._motion, self._model = load_motion(folder, sequence, simulated)
        else:
            self._robots = ("planned", "simulated")
            self._motion, self._model = load_planned(folder, planned)
        self._rate = given.positive("rate", 1.0, "speed; 1 is as it happened")
        frequency = given.positive("frequency", 50.0, "joint states per second")
        self._loop = given.flag("loop", True, "whether to begin again at the end")
        self._apart = given.number(
            "apart", 0.0, "m along y between the two robots' frames; 0: one in the other"
        )
        self._world = given.text("frame", "world", "frame that both robots stand in")
        self._states = {
            robot: self.create_publisher(JointState, f"{robot}/joint_states", 10)
            for robot in self._robots
        }
        self._frames = self._frame_publisher()
        if planned is None:
            self._publish_description(folder / URDF)
        self._publish_shapes()
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._begin = self._steady.now()
        self.done = False
        self._timer = self.create_timer(1.0 / frequency, self._tick, clock=self._steady)
        log_of(self).info(
            f"replaying {self._motion.sequence}: {self._motion.duration:.1f} s, joints "
            + (", ".join(self._motion.joints) or "without names of their own")
        )

    def _frame_publisher(self) -> Any:
        """A publisher of ``/tf``, where the messages of tf2 are installed."""
        if find_spec("tf2_msgs") is None:
            log_of(self).warning("no frames on /tf: tf2_msgs is not installed")
            return None
        from tf2_msgs.msg import TFMessage

        return self.create_publisher(TFMessage, "/tf", 100)

    def _publish_shapes(self) -> None:
        """Offer what the robots look like, where the messages of RViz are installed."""
        if find_spec("visualization_msgs") is None:
            log_of(self).warning("no markers: visualization_msgs is not installed")
            return
        from visualization_msgs.msg import MarkerArray

        from sysid_ros.nodes.replay.robot_markers import robot_markers

        shapes, stamp = shapes_of(self._model), self.get_clock().now().to_msg()
        self._shapes = {
            robot: self.create_publisher(MarkerArray, f"{robot}/robot", LATCHED)
            for robot in self._robots
        }
        for robot, publisher in self._shapes.items():
            colour = GHOST if robot == "simulated" else None
            publisher.publish(robot_markers(shapes, self._framed(robot), stamp, colour))

    def _framed(self, robot: str) -> str:
        """The beginning of a robot's frames: nodes of all namespaces share ``/tf``."""
        return f"{self.get_namespace()}/{robot}".strip("/")

    def _publish_description(self, urdf: Path) -> None:
        """Offer the identified URDF, where the result has one, to RViz and Foxglove."""
        if not urdf.is_file():
            return
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=read_regular_text(urdf)))

    def _tick(self) -> None:
        motion = self._motion
        elapsed = (self._steady.now() - self._begin).nanoseconds * 1e-9 * self._rate
        if elapsed > motion.duration:
            self.done = not self._loop
            elapsed = elapsed % motion.duration if self._loop and motion.duration else elapsed
        row = motion.row_at(elapsed)
        stamp = self.get_clock().now().to_msg()
        shown = (
            (motion.measured, motion.measured_velocity, motion.measured_qpos),
            (motion.simulated, motion.simulated_velocity, motion.simulated_qpos),
        )
        for robot, (positions, velocities, qpos) in zip(self._robots, shown, strict=True):
            state = JointState(name=list(motion.joints), position=positions[row].tolist())
            if np.isfinite(velocities[row]).all():
                state.velocity = velocities[row].tolist()
            state.header.stamp = stamp
            self._states[robot].publish(state)
            if self._frames is not None:
                self._publish_frames(robot, qpos[row], stamp)

    def _publish_frames(self, robot: str, qpos: FloatArray, stamp: Any) -> None:
        from tf2_msgs.msg import TFMessage

        shift, robot = self._apart if robot == "simulated" else 0.0, self._framed(robot)
        base = Frame(self._world, "world", np.array([0.0, shift, 0.0]), np.array([1.0, 0, 0, 0]))
        transforms = [_transform(base, self._world, f"{robot}/world", stamp)]
        transforms += [
            _transform(frame, f"{robot}/{frame.parent}", f"{robot}/{frame.child}", stamp)
            for frame in frames_of(self._model, qpos)
        ]
        self._frames.publish(TFMessage(transforms=transforms))


def _transform(frame: Frame, parent: str, child: str, stamp: Any) -> TransformStamped:
    message = TransformStamped(child_frame_id=child)
    message.header.stamp, message.header.frame_id = stamp, parent
    place, turn = message.transform.translation, message.transform.rotation
    place.x, place.y, place.z = frame.position.tolist()
    turn.w, turn.x, turn.y, turn.z = frame.quaternion.tolist()
    return message


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit status."""
    return run_node(Replay, args, done=lambda node: node.done)
