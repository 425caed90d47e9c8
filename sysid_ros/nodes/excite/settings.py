# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of ``excite``, read and checked once at its start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import (
    ExcitationError,
    Reference,
    TabulatedReference,
    design_multisine,
    read_trajectory,
)
from sysid_ros.joint_monitor import MotionLimits
from sysid_ros.nodes import parameters

_COMMAND_TYPES = {
    "float64_multi_array": Float64MultiArray,
    "joint_trajectory": JointTrajectory,
}


@dataclass(frozen=True)
class ExcitationSettings:
    """The motion to play, and its limits."""

    reference: Reference
    limits: MotionLimits
    command_type: Any  # message class
    is_effort: bool  # whether commands are efforts rather than positions
    rate: float  # commands per second
    ramp: float  # s
    stop_time: float  # s
    timeout: float  # s without joint states

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that move, in the order of the command."""
        return self.reference.joints

    def command_limits(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Lowest and highest command and its largest rate of change, (n,) each."""
        return _command_limits(self.limits, self.is_effort)


def declare_excitation(node: Node) -> ExcitationSettings:
    """Declare the node's parameters and plan its motion.

    Raises:
      SysidError: A parameter is missing or contradicts another.
    """
    joints = parameters.texts(node, "joints", "joints to move, in the order of the command")
    if not joints:
        raise ExcitationError("parameter joints of excite is empty: name the joints to move")
    interface = parameters.choice(
        node, "interface", ("position", "effort"), "what the command means"
    )
    command_type = parameters.choice(
        node, "command_type", tuple(_COMMAND_TYPES), "message type of the topic command"
    )
    limits = _limits(node, joints)
    return ExcitationSettings(
        reference=_reference(node, joints, limits, is_effort=interface == "effort"),
        limits=limits,
        command_type=_COMMAND_TYPES[command_type],
        is_effort=interface == "effort",
        rate=parameters.positive(node, "rate", 100.0, "commands per second"),
        ramp=parameters.number(node, "ramp", 2.0, "seconds of soft start and soft end"),
        stop_time=parameters.number(node, "stop_time", 0.3, "seconds of a soft stop"),
        timeout=parameters.positive(
            node, "timeout", 0.2, "seconds without joint states after which the motion stops"
        ),
    )


def _limits(node: Node, joints: tuple[str, ...]) -> MotionLimits:
    """Limits per joint: of position they must be given, the others may be left out."""
    values = {}
    for name in ("lower", "upper", "velocity", "effort"):
        given = parameters.numbers(node, f"limits.{name}", f"{name} limit of each joint")
        if given.size == 0 and name == "effort":
            given = np.full(len(joints), np.inf)
        if given.size != len(joints):
            raise ExcitationError(
                f"parameter limits.{name} of excite needs {len(joints)} numbers, one for each of "
                f"{', '.join(joints)}; given: {given.tolist()}"
            )
        values[name] = given
    return MotionLimits(**values)


def _reference(
    node: Node, joints: tuple[str, ...], limits: MotionLimits, *, is_effort: bool
) -> Reference:
    """The trajectory file if one is given, else a multisine."""
    path = parameters.optional_file(
        node, "trajectory", "CSV file 'time,<joint>,...' instead of a multisine"
    )
    lower, upper, rate_limit = _command_limits(limits, is_effort)
    number = parameters.number
    multisine = {
        "duration": number(node, "multisine.duration", 20.0, "seconds"),
        "lowest": number(node, "multisine.lowest", 0.1, "fundamental frequency in Hz"),
        "highest": number(node, "multisine.highest", 2.0, "highest frequency in Hz"),
        "fill": number(node, "multisine.fill", 0.8, "share of the limits that may be used"),
    }
    seed = parameters.integer(node, "multisine.seed", 0, "seed of the phases")
    if path is None:
        return design_multisine(joints, lower, upper, rate_limit, **multisine, seed=seed)
    reference = read_trajectory(path)
    if set(reference.joints) != set(joints):
        raise ExcitationError(
            f"trajectory {path} moves {', '.join(reference.joints)}; "
            f"parameter joints names {', '.join(joints)}"
        )
    columns = [reference.joints.index(joint) for joint in joints]
    return TabulatedReference(joints, reference.times, reference.table[:, columns])


def _command_limits(
    limits: MotionLimits, is_effort: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    if is_effort:
        return -limits.effort, limits.effort, np.full(len(limits.effort), np.inf)
    return limits.lower, limits.upper, limits.velocity
