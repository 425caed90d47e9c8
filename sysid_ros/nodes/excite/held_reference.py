# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The place where a controller holds the robot, as its topic ``controller_state`` tells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from sysid_ros.arrays import FloatArray

_OLD = 1.0  # s after which the word of a controller counts no more
_REST = 1e-6  # rad or m from one word to the next, up to which it holds the robot still
_WHOLE = 1e-3  # of the speed, by which a controller may be off that plays at all of it


class HeldReference:
    """Listens to ``controller_state``: a motion that begins anywhere else begins with a step."""

    def __init__(self, node: Node, joints: tuple[str, ...], now: Callable[[], float]) -> None:
        """Subscribe, where the package control_msgs is installed.

        Joints are in the order of the commands; ``now`` gives the time in s.
        """
        self._joints = joints
        self._now = now
        self._told = -np.inf  # s
        self._position: FloatArray | None = None  # (n,)
        self._rests = True
        self._scaling = 1.0
        self._scales = False  # it has told a speed, which older ones leave at zero
        try:
            from control_msgs.msg import JointTrajectoryControllerState
        except ImportError:
            return
        latest = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_subscription(
            JointTrajectoryControllerState, "controller_state", self.observe, latest
        )

    @property
    def position(self) -> FloatArray | None:
        """Its command (n,); ``None`` where it has not told one of late, or was on its way.

        Where that would be by now its word does not say.
        """
        return self._position if self._counts and self._rests else None

    @property
    def _counts(self) -> bool:
        return abs(self._now() - self._told) < _OLD  # a simulation may have started over

    def problem(self) -> str:
        """Say that it goes otherwise than trajectories say; empty if it does not."""
        told = self._counts and self._scales
        if not told or abs(self._scaling - 1.0) <= _WHOLE:
            return ""
        return (
            f"the controller plays trajectories at {self._scaling:.3g} times their speed "
            "(speed_scaling_factor), and each one that reaches it meanwhile, as to brake, is a "
            "step: set its speed to 1"
        )

    def observe(self, message: Any) -> None:
        """Take one message."""
        # Before control_msgs 5 the reference was called desired.
        reference = getattr(message, "reference", None) or message.desired
        by_name = dict(zip(message.joint_names, reference.positions, strict=False))
        if not all(joint in by_name for joint in self._joints):
            return
        held = np.array([by_name[joint] for joint in self._joints])
        if np.all(np.isfinite(held)):  # a controller that was told nothing yet may hold NaN
            last = self._position if self._counts else None
            self._rests = last is None or bool(np.all(np.abs(held - last) <= _REST))
            self._told, self._position = self._now(), held
            self._scaling = float(getattr(message, "speed_scaling_factor", 1.0))
            self._scales = self._scales or self._scaling != 0.0
