# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Watches whether the controller that is to obey is active, as its controller manager says."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from rclpy.node import Node

from sysid_ros.nodes.parameters import NodeParameters

_OLD = 3.0  # s after which an answer counts no more


class ControllerWatch:
    """Asks again and again, if the parameter ``controller`` names one."""

    def __init__(self, node: Node) -> None:
        """Declare the parameters."""
        given = NodeParameters(node)
        self._name = given.text(
            "controller", "", "controller that must be active; empty: not looked at"
        )
        self._manager = given.text(
            "controller_manager", "/controller_manager", "node that knows about controllers"
        )
        self._state = ""  # from the last answer, in words
        self._answered = float("-inf")
        self._client: Any = None
        self._missing = False
        if self._name:
            try:
                from controller_manager_msgs.srv import ListControllers
            except ImportError:
                self._missing = True
                return
            self._client = node.create_client(ListControllers, f"{self._manager}/list_controllers")

    @property
    def settled(self) -> bool:
        """True if there is an answer, or none to wait for."""
        return not self._name or self._missing or self._answered > float("-inf")

    def look(self) -> None:
        """Ask once more; the answer is taken when it comes."""
        if self._client is not None and self._client.service_is_ready():
            self._client.call_async(self._client.srv_type.Request()).add_done_callback(self._take)

    def problem(self) -> str:
        """Return the reason why the controller cannot be relied on; empty if it can."""
        if not self._name:
            return ""
        if self._missing:
            return (
                f"parameter controller names {self._name!r}, but whether it is active cannot be "
                "asked: the package controller_manager_msgs is not installed here"
            )
        if time.monotonic() - self._answered > _OLD:
            return f"{self._manager} does not say whether the controller {self._name!r} is active"
        return self._state

    def _take(self, future: Any) -> None:
        if future.exception() is None:
            self._state = controller_problem(self._name, future.result().controller)
            self._answered = time.monotonic()


def controller_problem(name: str, controllers: Iterable[Any]) -> str:
    """Say what keeps one of all controllers from obeying.

    Returns:
      A sentence; empty if it is active.
    """
    states = {controller.name: controller.state for controller in controllers}
    if name not in states:
        return f"there is no controller {name!r}; there are: {', '.join(sorted(states)) or 'none'}"
    return "" if states[name] == "active" else f"controller {name!r} is {states[name]}, not active"
