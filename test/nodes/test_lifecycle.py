# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nodes that bring themselves up say what to do where they cannot."""

from __future__ import annotations

import pytest
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from ros_client import RosClient

from sysid_ros.errors import OutputError
from sysid_ros.nodes.lifecycle import bring_up, reported


class _Failing(LifecycleNode):
    """Fails in one of its transitions."""

    autostart = True
    fails_to = "activate"

    @reported
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure."""
        return self._result("configure")

    @reported
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Activate."""
        return self._result("activate")

    def _result(self, verb: str) -> TransitionCallbackReturn:
        if self.fails_to == verb:
            raise OutputError("the disk is full")
        return TransitionCallbackReturn.SUCCESS


@pytest.mark.parametrize("verb", ["configure", "activate", ""])
def test_how_to_try_again_is_said(client: RosClient, capfd: pytest.CaptureFixture[str], verb: str):
    node = _Failing("failing", namespace="arm", context=client.node.context)
    node.fails_to = verb
    bring_up(node)
    node.destroy_node()
    said = capfd.readouterr().err
    assert ("the disk is full" in said) == bool(verb)
    assert ("try again: ros2 lifecycle set /arm/failing " in said) == bool(verb)
    assert not verb or said.rstrip().endswith(f"set /arm/failing {verb}")
