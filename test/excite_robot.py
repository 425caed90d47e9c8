# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot for tests of ``excite``: joint states from the test, and everything that excite says."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from excitation_limits import assert_no_step, largest_step
from ros_client import LATCHED, RosClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool

from sysid_ros.nodes.demo.child_processes import ChildProcesses
from sysid_ros.nodes.sim_robot.trajectory_topic import TrajectoryTopic

JOINTS = ("shoulder", "elbow")
# One second out and back, from where the robot stands.
MOTION = "time,elbow,shoulder\n0,0,0\n0.5,0.5,0.2\n1.5,0.5,0.2\n2,0,0\n"
# To and fro at 1.6 rad/s for ten seconds, and limits that also let it begin from either end.
LONG_MOTION = "time,elbow,shoulder\n0,0,0\n" + "".join(
    f"{0.5 + second},{0.8 * (-1) ** second},{0.2 * (-1) ** second}\n" for second in range(10)
)
LONG_LIMITS = {
    "limits.velocity": "[4, 4]",  # integers are numbers
    "limits.acceleration": "[30, 30]",
    "ramp": "1.5",
}
LIMITS = {
    "limits.lower": "[-1.0, -1.0]",
    "limits.upper": "[1.0, 1.0]",
    "limits.velocity": "[3.0, 3.0]",
    "limits.acceleration": "[40.0, 40.0]",
}
PERIOD = 0.01  # s
# Nothing that a busy machine holds up is a fault, where a test is not about that.
PATIENT = {"timeout": "60.0", "following.delay": "60.0"}
_REMINDER = 0.02  # s
# Answers of an excite that has not heard yet of this robot's subscription, or of its node.
_UNKNOWN = ("nobody subscribes to /command", "has not told yet")


class Robot:
    """Follows every command at once, unless it is told not to.

    On simulated time it is in lock-step: the clock goes on by one period as the motion begins, and
    with every command, so that a busy machine changes nothing. Meanwhile it tells the time again
    now and then, as messages of ``/clock`` may be lost.
    """

    def __init__(
        self,
        client: RosClient,
        command_type: type = Float64MultiArray,
        *,
        simulated: bool = False,
        qos: Any = 10,
    ) -> None:
        self.client = client
        self.limits = (3.0, 40.0)  # of velocity and acceleration
        self.moving = True  # whether joint states are published
        self.follows = True  # whether positions are those commanded
        self.position = [0.0, 0.0, 0.0]  # of shoulder, wrist, elbow
        self.change: Callable[[JointState], Any] = lambda message: None
        self.ticks = 1  # of simulated time
        self._heard, self._told = (0, 0), 0.0
        self._clock = client.node.create_publisher(Clock, "/clock", 10) if simulated else None
        self._publisher = client.node.create_publisher(JointState, "/joint_states", qos)
        client.node.create_timer(0.002 if simulated else 0.01, self._publish)
        self.commands = client.collect(command_type, "/command")
        self._controller = TrajectoryTopic(JOINTS)  # of trajectories
        self._obeyed = 0  # of the commands
        self.states = client.collect(String, "/excite/state", LATCHED)

    def _answered(self) -> bool:
        """Whether excite has begun, or sent a command, since the last period of simulated time."""
        begun = sum(message.data == "running" for message in self.states)
        before, self._heard = self._heard, (begun, len(self.commands))
        return self._heard != before

    def _publish(self) -> None:
        goes_on = self._clock is None or self._answered()
        if not goes_on and time.monotonic() - self._told < _REMINDER:
            return
        if self.follows and self.commands:
            self.position[0], self.position[2] = self._reference()
        if self.moving:
            names = ["shoulder", "wrist", "elbow"]
            message = JointState(name=names, position=self.position)
            self.change(message)
            self.publish(message)
        if self._clock is not None:
            self.ticks += goes_on
            time_now = Clock()
            time_now.clock.sec, centi = divmod(self.ticks, 100)
            time_now.clock.nanosec = 10_000_000 * centi
            self._clock.publish(time_now)
            self._told = time.monotonic()

    def _reference(self) -> Any:
        """What the controller of the joints is at now."""
        if hasattr(self.commands[-1], "data"):
            return self.commands[-1].data
        now = time.time_ns() if self._clock is None else 10_000_000 * self.ticks
        measured = np.array([[self.position[0], self.position[2]], np.zeros(2)])
        self._controller.control(1e-9 * now, now, measured)
        for message in self.commands[self._obeyed :]:
            assert self._controller.follow(message)
        self._obeyed = len(self.commands)
        return self._controller.control(1e-9 * now, now, measured)

    def publish(self, message: JointState) -> None:
        self._publisher.publish(message)

    @property
    def state(self) -> str:
        return self.states[-1].data if self.states else ""

    def stopped_since(self, count: int) -> bool:
        """Whether a fault has stopped the motion, by what was said after so many states."""
        return any(message.data.startswith("stopped") for message in self.states[count:])

    def values(self) -> np.ndarray:
        """Every command so far, (m, n)."""
        return np.array([message.data for message in self.commands])

    def arm(self, data: bool = True) -> SetBool.Response:
        """Ask for the motion, or its end, again until those who hear commands are known."""
        answers = []

        def known() -> bool:
            answers.append(self.client.call(SetBool, "/excite/arm", SetBool.Request(data=data)))
            return not any(words in answers[-1].message for words in _UNKNOWN)

        self.client.wait_until(known)
        return answers[-1]

    def wait_for(self, state: str) -> None:
        self.client.wait_until(lambda: self.state.startswith(state))

    def wait_for_commands(self, count: int) -> None:
        """Wait until that many more commands have come."""
        before = len(self.commands)
        self.client.wait_until(lambda: len(self.commands) >= before + count)

    def wait_for_rest(self) -> None:
        """Wait until excite has stopped moving anything and every command that it sent has come."""
        self.client.wait_until(lambda: self.arm(False).message == "nothing is moving")
        count = -1
        while count != len(self.commands):
            count = len(self.commands)
            for _ in range(3):  # an answer may overtake a command
                self.arm(False)

    def largest_step(self) -> float:
        """The largest difference of two successive commands of a joint, rad."""
        return float(largest_step(self.values()).max())

    def assert_no_step(self, begin: tuple[float, float] = (0.0, 0.0)) -> int:
        """Fail if two commands differ by more than the limits allow; count interruptions."""
        commands = np.array([begin, begin, *self.values()])
        velocity, acceleration = (np.full(2, limit) for limit in self.limits)
        return assert_no_step(commands, PERIOD, velocity, acceleration)


def start_excite(
    nodes: ChildProcesses, tmp_path: Path, motion: str = MOTION, **parameters: str | None
) -> subprocess.Popen[bytes]:
    """Start the node with that motion, a ramp of 0.2 s and the limits of this module.

    A parameter that is ``None`` is not given.
    """
    (tmp_path / "motion.csv").write_text(motion)
    given = {
        "joints": "[shoulder, elbow]",
        "trajectory": str(tmp_path / "motion.csv"),
        "ramp": "0.2",
        **LIMITS,
        **PATIENT,
        **parameters,
    }
    values = [f"{name}:={value}" for name, value in given.items() if value is not None]
    values = [part for value in values for part in ("-p", value)]
    return nodes.start("excite", ["sysid_ros.nodes.excite", "--ros-args", *values])
