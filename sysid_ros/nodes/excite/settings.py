# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of ``excite``, read and checked once at its start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from sysid_ros.errors import listed
from sysid_ros.excitation import (
    KINDS,
    CommandGuard,
    CommandLimits,
    ControlledMotion,
    ExcitationError,
    ExcitationPath,
    FloatArray,
    FollowingWatch,
    JointMonitor,
    Motion,
    MotionLimits,
    Playback,
    Reference,
    SlowReference,
    check_limits,
    design_multisine,
    join_limits,
    read_joint_limits,
    read_trajectory,
    read_urdf_limits,
)
from sysid_ros.nodes.excite.described_limits import described_limits
from sysid_ros.nodes.parameters import NodeParameters

_COMMAND_TYPES = {
    "float64_multi_array": Float64MultiArray,
    "joint_trajectory": JointTrajectory,
    "follow_joint_trajectory": None,  # an action, and no message
}
_POINTS = 0.01  # s between points of a goal at least: more make a stop slow to plan, not softer
# Messages per second: each repeats 0.15 s of the way, so that more of them are larger, too.
_MOST_TRAJECTORIES = 100.0
_SLOW_SHARE = 0.5  # of the tolerance that a slow pass may take
_TOLERANCE_SHARE, _LARGEST_TOLERANCE = 0.1, 0.2  # of a joint's range; rad or m


class NamedMotion(NamedTuple):
    """A motion and where it comes from: a file's absolute path, or words."""

    reference: Reference
    source: str


@dataclass(frozen=True)
class ExcitationSettings:
    """The motions to play, and their limits."""

    motions: tuple[NamedMotion, ...]  # of the same joints; each arming plays the next
    limits: MotionLimits
    command_type: Any  # message class; None: goals of an action
    action: str  # name of that action
    is_effort: bool  # whether commands are efforts rather than positions
    rate: float  # commands per second
    ramp: float  # s
    slow_pass: float  # share of its speed at which the motion is played before; 0: it is not
    stop_time: float  # s
    timeout: float  # s without joint states, or without a command
    tolerance: FloatArray  # (n,) rad or m between commanded and measured position
    following_delay: float  # s that a joint may take to follow

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that move, in the order of the command."""
        return self.motions[0].reference.joints

    @property
    def period(self) -> float:
        """Nominal seconds between commands."""
        return 1.0 / self.rate

    @property
    def is_controlled(self) -> bool:
        """True if the controller gets the motion as a whole and times it."""
        return self.command_type is None

    @property
    def sends_numbers(self) -> bool:
        """True if commands are numbers alone, without the names of their joints."""
        return self.command_type is Float64MultiArray

    @property
    def announces(self) -> bool:
        """True if messages can tell the controller how to stop if no other follows."""
        return self.command_type is JointTrajectory

    def monitor(self) -> JointMonitor:
        """The monitor that watches the robot."""
        following = FollowingWatch(
            self.joints, self.tolerance, delay=self.following_delay, is_effort=self.is_effort
        )
        return JointMonitor(self.joints, self.limits, following, timeout=self.timeout)

    @property
    def passes(self) -> tuple[float, ...]:
        """Shares of the motion's speed at which it is played, one after the other."""
        return (self.slow_pass, 1.0) if self.slow_pass else (1.0,)

    def strayed(self, farthest: FloatArray) -> str:
        """Say which joint followed a slow pass too badly for the full one; empty if none did.

        Args:
          farthest: Largest distance (n,) from its commands, rad or m.
        """
        for i in np.flatnonzero(farthest > _SLOW_SHARE * self.tolerance)[:1]:
            return (
                f"in the slow pass joint {self.joints[i]!r} was {farthest[i]:.4g} away from its "
                f"commands, more than {_SLOW_SHARE:g} of its tolerance {self.tolerance[i]:.4g}: at "
                "full speed it would not follow"
            )
        return ""

    def refuse_beyond_limits(self, reference: Reference, position: FloatArray) -> None:
        """Plan a motion at full speed from ``position``, (n,), and forget it.

        Raises:
          ExcitationError: It would leave the limits.
        """
        plan = self.controlled if self.is_controlled else self.streamed
        plan(reference, position)

    def controlled(
        self, reference: Reference, position: FloatArray, speed: float = 1.0
    ) -> ControlledMotion:
        """Plan a motion that a controller times, from ``position``, (n,).

        Raises:
          ExcitationError: It would leave the limits.
        """
        path = self._path(reference, position, speed)
        limits, period = self.limits.of_positions(), max(self.period, _POINTS)
        return ControlledMotion(path, limits, period=period, stop_time=self.stop_time)

    def streamed(self, reference: Reference, position: FloatArray, speed: float = 1.0) -> Motion:
        """Plan a motion that is sent command by command, likewise.

        Raises:
          ExcitationError: It would leave the limits.
        """
        limits = self._command_limits()
        rest = np.zeros(len(self.joints)) if self.is_effort else position
        path = self._path(reference, rest, speed)
        check_limits(path, limits)
        playback = Playback(
            path,
            limits,
            period=self.period,
            stop_time=self.stop_time,
            release=self.is_effort,
            announces=self.announces,
        )
        return Motion(
            playback,
            CommandGuard(limits, self.period, rest),
            period=self.period,
            timeout=self.timeout,
            released=rest if self.is_effort else None,
        )

    def _path(self, reference: Reference, rest: FloatArray, speed: float) -> ExcitationPath:
        played = reference if speed == 1.0 else SlowReference(reference, speed)
        return ExcitationPath(played, rest, ramp=self.ramp / speed)

    def _command_limits(self) -> CommandLimits:
        return self.limits.of_efforts() if self.is_effort else self.limits.of_positions()


def declare_excitation(node: Node) -> ExcitationSettings:
    """Declare the node's parameters and plan its motion.

    Raises:
      SysidError: A parameter is missing or contradicts another.
    """
    given = NodeParameters(node)
    joints = given.texts("joints", "joints to move, in the order of the command")
    if not joints:
        raise ExcitationError("parameter joints of excite is empty: name the joints to move")
    if repeated := [joint for joint in dict.fromkeys(joints) if joints.count(joint) > 1]:
        raise ExcitationError(f"parameter joints of excite names {listed(repeated)} repeatedly")
    is_effort = _is_effort(given)
    command_type = given.choice(
        "command_type",
        tuple(_COMMAND_TYPES),
        "message type of the topic command, or the whole motion as goal of a controller's action",
    )
    if is_effort and command_type != "float64_multi_array":
        raise ExcitationError(
            f"command_type: {command_type} of excite is of positions, not of efforts: controllers "
            "refuse trajectories without positions; take float64_multi_array"
        )
    rate = given.positive("rate", 100.0, "commands per second")
    if command_type == "joint_trajectory" and rate > _MOST_TRAJECTORIES:
        raise ExcitationError(
            f"parameter rate of excite is {rate:g}: with command_type: joint_trajectory it is at "
            f"most {_MOST_TRAJECTORIES:g}: each message tells the way 0.1 s ahead, and more of "
            "them make it no smoother"
        )
    limits = _limits(given, joints)
    if is_effort and not np.all(np.isfinite(limits.effort)):
        raise ExcitationError("interface: effort of excite needs limits.effort for every joint")
    settings = ExcitationSettings(
        motions=_motions(
            given, joints, limits.of_efforts() if is_effort else limits.of_positions()
        ),
        limits=limits,
        command_type=_COMMAND_TYPES[command_type],
        action=given.text(
            "action",
            "follow_joint_trajectory",
            "name of the controller's action, for command_type: follow_joint_trajectory",
        ),
        is_effort=is_effort,
        rate=rate,
        ramp=given.positive("ramp", 2.0, "seconds of soft start and soft end"),
        slow_pass=given.number(
            "slow_pass",
            0.0,
            "share of its speed at which the motion is played once before; 0: it is not",
            low=0.0,
            high=1.0,
        ),
        stop_time=given.positive("stop_time", 0.3, "least seconds of a soft stop"),
        timeout=given.positive(
            "timeout",
            0.2,
            "seconds without joint states, or without a command, after which the motion stops",
        ),
        tolerance=_tolerance(given, joints, limits),
        following_delay=given.positive(
            "following.delay", 0.3, "seconds that a joint may take to follow its command"
        ),
    )
    given.refuse_unknown("limits.", "following.")
    return settings


def _is_effort(given: NodeParameters) -> bool:
    interface = given.choice("interface", ("position", "effort"), "what the command means")
    allowed = given.flag(
        "allow_effort_release",
        False,
        "whether a stop under interface: effort may let go of the robot",
    )
    if interface == "effort" and not allowed:
        raise ExcitationError(
            "with interface: effort every stop of excite fades the effort to zero and nothing "
            "holds the robot: an arm drops under its weight. Support it or take gravity out, "
            "then set the parameter allow_effort_release to true"
        )
    return interface == "effort"


def _limits(given: NodeParameters, joints: tuple[str, ...]) -> MotionLimits:
    """Limits per joint: numbers first, then joint_limits.yaml, then a URDF, then the topic's."""
    numbers = {k: given.numbers(f"limits.{k}", f"{k} limit of each joint") for k in KINDS}
    file = given.optional_file(
        "limits.file", "joint_limits.yaml with the limits that are not given as numbers"
    )
    urdf = given.optional_file("limits.urdf", "URDF with the limits found nowhere else")
    topic = given.text(
        "limits.robot_description", "", "topic whose URDF has the limits found nowhere else"
    )
    sources = [read_joint_limits(file)] if file else []
    sources += [read_urdf_limits(urdf)] if urdf else []
    sources += [described_limits(given.node, topic)] if topic else []
    return join_limits(joints, numbers, tuple(sources))


def _tolerance(given: NodeParameters, joints: tuple[str, ...], limits: MotionLimits) -> FloatArray:
    largest = given.numbers(
        "following.tolerance", "largest distance of a joint from its recent commands"
    )
    if largest.size == 0:
        return np.minimum(_TOLERANCE_SHARE * (limits.upper - limits.lower), _LARGEST_TOLERANCE)
    if largest.size not in (1, len(joints)) or not np.all(largest > 0.0):
        raise ExcitationError(
            f"parameter following.tolerance of excite needs one positive number, or one for each "
            f"of {', '.join(joints)}; given: {largest.tolist()}"
        )
    return np.broadcast_to(largest, len(joints)).astype(np.float64)


def _motions(
    given: NodeParameters, joints: tuple[str, ...], limits: CommandLimits
) -> tuple[NamedMotion, ...]:
    """The trajectory files that are given, else multisines."""
    one = given.optional_file("trajectory", "CSV file 'time,<joint>,...' instead of a multisine")
    several = given.texts(
        "trajectories", "several such CSV files: each arming plays the next, in a circle"
    )
    multisine = {
        "duration": given.number("multisine.duration", 20.0, "seconds"),
        "lowest": given.number("multisine.lowest", 0.1, "fundamental frequency in Hz"),
        "highest": given.number("multisine.highest", 2.0, "highest frequency in Hz"),
        "fill": given.number("multisine.fill", 0.8, "share of the limits that may be used"),
    }
    seed = given.integer("multisine.seed", 0, "seed of the phases", low=0)
    variants = given.integer(
        "multisine.variants",
        1,
        "multisines with phases of their own: each arming plays the next, in a circle",
        low=1,
        high=1000,
    )
    if one is not None and several:
        raise ExcitationError("parameters trajectory and trajectories of excite exclude each other")
    files = [one] if one is not None else [Path(file).expanduser() for file in several]
    if files:
        return tuple(
            NamedMotion(
                read_trajectory(file).reference(joints, limits.acceleration), str(file.absolute())
            )
            for file in files
        )
    return tuple(
        NamedMotion(
            design_multisine(joints, limits, **multisine, seed=seed + k), f"multisine {seed + k}"
        )
        for k in range(variants)
    )
