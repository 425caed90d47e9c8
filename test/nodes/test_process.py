# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How a node's process ends when something fails in it."""

from __future__ import annotations

import pytest
from rclpy.node import Node

from sysid_ros.nodes.process import run_node


class _Braking(Node):
    """Fails in a callback, and needs some more of them until it is at rest."""

    def __init__(self) -> None:
        super().__init__("braking")
        self.ticks = 0
        self.create_timer(0.001, self._tick)

    def _tick(self) -> None:
        self.ticks += 1
        if self.ticks in (2, 4):  # what has failed may fail again
            raise ZeroDivisionError("division by zero")


@pytest.mark.usefixtures("signals", "ros_environment")
def test_a_node_whose_callback_fails_comes_to_rest_before_it_ends() -> None:
    made: list[_Braking] = []

    def make() -> _Braking:
        made.append(_Braking())
        return made[0]

    with pytest.raises(ZeroDivisionError):
        run_node(make, [], ready_to_end=lambda node: node.ticks >= 6)
    assert made[0].ticks == 6
