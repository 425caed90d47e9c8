# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How a node's process ends when something fails in it."""

from __future__ import annotations

import signal

import pytest
from rclpy.node import Node
from std_msgs.msg import String

from sysid_ros.errors import ErrorCode, ExperimentError
from sysid_ros.nodes.ending import EndRequest
from sysid_ros.nodes.identify.node import main as identify
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.process import run_node, started


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


@pytest.mark.usefixtures("signals", "ros_environment")
def test_a_signal_that_came_before_the_node_was_made_keeps_it_from_beginning() -> None:
    EndRequest.listen()
    signal.raise_signal(signal.SIGINT)

    def make() -> Node:
        raise AssertionError("it would configure itself and begin a bag")

    assert run_node(make, []) == 0
    assert identify(["--ros-args", "-p", "experiment:=/nowhere"]) == ErrorCode.CANCELED


class _Asking(Node):
    """Has a parameter of every kind that ROS checks by itself, or that numbers must survive."""

    def __init__(self) -> None:
        super().__init__("asking")
        given = NodeParameters(self)
        given.texts("topics", "what to record", read_only=False)
        given.number("gap", 0.1, "s")
        given.positive("rate", 100.0, "Hz")
        self.create_publisher(String, given.text("topic", "a", "where"), 1)


@pytest.mark.usefixtures("ros_environment")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("topics:=/joint_states", "'topics' to '/joint_states' of type 'STRING', expecting"),
        ("use_sim_time:=3", "use_sim_time"),
        ("topic:='a b'", "Invalid topic name"),
        ("gap:=.inf", "gap of asking must be from"),
        ("gap:=1.0e300", "gap of asking must be from"),
        ("rate:=1.0e-300", "rate of asking must be positive"),
    ],
)
def test_a_parameter_that_ros_refuses_is_an_error_of_ours(given: str, words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        started(_Asking, ["--ros-args", "-p", given])
