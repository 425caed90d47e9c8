# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The feedback of one goal: at every step, and often enough that its client sees it live."""

from __future__ import annotations

import threading
import time
from typing import Any

from rclpy.node import Node

from sysid_ros.engine.least_squares import Iteration
from sysid_ros.fit_worker import STARTING
from sysid_ros.nodes.clocks import steady_clock
from sysid_ros.nodes.fit_server.client_side import FITTED, READING
from sysid_ros.nodes.fit_server.messages import feedback
from sysid_ros_interfaces.action import FitModel

# Stages after the fit begin there: most fits end long before their last iteration.
_BEGINS = {"scoring": FITTED, "writing results": 0.5 * (FITTED + 1.0)}
_PERIOD = 0.5  # s; whoever listens is promised one message per second


class GoalFeedback:
    """Tells a goal's client the present stage and the last iteration; a context manager."""

    def __init__(self, node: Node, goal_handle: Any) -> None:
        """Tell the first stage."""
        self._node = node
        self._goal = goal_handle
        self._lock = threading.Lock()  # the timer and the fit have threads of their own
        self._latest = FitModel.Feedback(stage=STARTING)
        self._told = 0.0
        self._timer = node.create_timer(_PERIOD, self._again, clock=steady_clock())

    def __enter__(self) -> GoalFeedback:
        self.stage(STARTING)
        return self

    def __exit__(self, *exception: object) -> None:
        """Say nothing more: a goal that has ended takes no feedback."""
        self._node.destroy_timer(self._timer)
        with self._lock:
            self._goal = None

    @property
    def progress(self) -> float:
        """The share of the goal that is done, 0 to 1; never falls."""
        return float(self._latest.progress)

    def stage(self, stage: str, share: float = 0.0) -> None:
        """Tell what is being done now, and the share of the recordings that was read."""
        with self._lock:
            self._latest.stage = stage
            self._latest.progress = max(self.progress, READING * share, _BEGINS.get(stage, 0.0))
            self._publish()

    def iteration(self, step: Iteration, share: float) -> None:
        """Tell one step of the optimizer, and the share of the fit that is done."""
        with self._lock:
            # Steps of a search and those before errors are weighed anew are counted, too.
            done = max(self.progress, READING + (FITTED - READING) * share)
            stage, self._latest = self._latest.stage, feedback(step, done)
            self._latest.stage = stage
            self._publish()

    def done(self) -> None:
        """Tell that all is done: most fits end long before their last iteration."""
        with self._lock:
            self._latest.progress = 1.0
            self._publish()

    def _again(self) -> None:
        with self._lock:
            if time.monotonic() - self._told > _PERIOD:
                self._publish()

    def _publish(self) -> None:
        if self._goal is not None:
            self._goal.publish_feedback(self._latest)
            self._told = time.monotonic()
