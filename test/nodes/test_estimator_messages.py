# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A load as messages has the inertia that was found, and says whether it is to be relied on."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sysid_ros.engine.estimation import BodyFinding
from sysid_ros.engine.moving_horizon import HorizonEstimate
from sysid_ros.engine.parameters import POORLY_DETERMINED
from sysid_ros.engine.uncertainty import ParameterEstimate

pytest.importorskip("rclpy", reason="the messages need ROS 2 (rclpy)")

from sysid_ros.nodes.estimator import payload  # after the skip
from sysid_ros.nodes.estimator.messages import silence, status, verdict
from sysid_ros.nodes.estimator.payload import PayloadTopics
from sysid_ros_interfaces.srv import GetPayload

QUARTER = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # about z: x becomes y
STAMP_NS = 5_000_000_007


class Node:
    """Keeps what is published, and the answer to the service."""

    def __init__(self) -> None:
        self.published: dict[str, list[Any]] = {}

    def create_publisher(self, kind: type, name: str, qos: Any) -> Any:
        return SimpleNamespace(publish=self.published.setdefault(name, []).append)

    def create_service(self, kind: type, name: str, answer: Any) -> None:
        self.answer = answer


def estimate(*, settled: bool = True, unexplained: tuple[str, ...] = ()) -> HorizonEstimate:
    body = BodyFinding(
        "payload", 0.7, np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), QUARTER, np.ones(4),
        on_edge=False,
    )  # fmt: skip
    return HorizonEstimate(
        time=4.0, parameters=(), covariance=np.zeros((0, 0)), scales=np.zeros(0), settled=settled,
        undetermined=(), unexplained=unexplained, windows=9, noise={}, simulated=0, bodies=(body,),
        spreads=(np.diag(np.arange(10.0)),), changed=1.5,
    )  # fmt: skip


def test_a_load_is_told_along_the_axes_of_the_frame() -> None:
    node = Node()
    PayloadTopics(node).publish(estimate(), "hand", STAMP_NS)
    (told,) = node.published["~/payload_estimate"]
    (alone,) = node.published["~/payload"]
    assert alone.inertia == told.inertia and alone.header == told.header
    assert (told.header.frame_id, told.header.stamp.sec) == ("hand", 5)
    assert told.header.stamp.nanosec == 7
    found = told.inertia
    assert (found.m, found.com.x, found.com.z) == (0.7, 0.1, 0.3)
    assert (found.ixx, found.iyy, found.izz) == pytest.approx((2.0, 1.0, 3.0))
    assert found.ixy == pytest.approx(0.0)
    np.testing.assert_array_equal(told.covariance.reshape(10, 10), np.diag(np.arange(10.0)))
    assert (told.changed.sec, told.changed.nanosec) == (2, 500_000_007)
    assert list(told.flags) == []


def test_controllers_get_it_in_their_words() -> None:
    node = Node()
    topics = PayloadTopics(node)
    answer = node.answer(None, GetPayload.Response())
    assert not answer.success and "the key payload" in answer.message
    topics.publish(estimate(), "hand", STAMP_NS)
    answer = node.answer(None, GetPayload.Response())
    assert answer.success and answer.message == "" and answer.frame_id == "hand"
    centre = answer.center_of_gravity
    assert [centre.x, centre.y, centre.z] == list(answer.center_of_mass) == [0.1, 0.2, 0.3]
    np.testing.assert_allclose(answer.load_inertia, np.diag([2.0, 1.0, 3.0]).ravel(), atol=1e-12)


def test_what_is_not_to_be_relied_on_says_so() -> None:
    node = Node()
    topics = PayloadTopics(node)
    topics.publish(estimate(settled=False, unexplained=("a push",)), "hand", STAMP_NS)
    answer = node.answer(None, GetPayload.Response())
    assert not answer.success and answer.mass == 0.7
    assert answer.message == "a push; too few seconds of motion yet"


def test_a_load_is_not_to_be_relied_on_where_nothing_is_heard_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node, now = Node(), [100.0]
    monkeypatch.setattr(payload.time, "monotonic", lambda: now[0])
    PayloadTopics(node).publish(estimate(), "hand", STAMP_NS)
    now[0] += 4.0
    assert node.answer(None, GetPayload.Response()).success
    now[0] += 57.0
    answer = node.answer(None, GetPayload.Response())
    assert not answer.success and answer.mass == 0.7
    assert answer.message == "no estimate for 61 s"


def test_a_wrong_model_is_said_everywhere():
    """In the verdict, the load's flags and as a warning; what hinders estimates goes first."""
    wrong = replace(estimate(), wrong=("the model is wrong: torque asks for another mass",))
    node = Node()
    topics = PayloadTopics(node)
    topics.publish(wrong, "hand", STAMP_NS)
    assert node.answer(None, GetPayload.Response()).message == verdict(wrong) == wrong.wrong[0]
    told = status("estimator", "", {}, wrong, 0)
    assert (told.level, told.message) == (b"\x01", wrong.wrong[0])
    assert status("estimator", "no topic yet", {}, wrong, 0).message == "no topic yet"
    assert status("estimator", "", {}, estimate(), 0).level == b"\x00"
    assert status("estimator", "", {}, estimate(), 3).level == b"\x01"


def test_parameters_that_nobody_should_rely_on_are_named():
    one = ParameterEstimate("friction", "N m", 0.1, 0.0, 0.0, 10.0, 0.1, 40.0)
    vague = replace(one, name="mass", flags=(POORLY_DETERMINED,))
    assert verdict(replace(estimate(), parameters=(one,))) == (
        "every parameter is determined, by 9 windows"
    )
    assert verdict(replace(estimate(), parameters=(one, vague))) == (
        "poorly determined, or at a bound, by 9 windows: mass"
    )


def test_silence_is_said():
    """A node that compiles, or that hears nothing any more, is not "estimating"."""
    assert silence(math.nan).startswith("no estimate yet")
    assert silence(4.0) == ""
    assert silence(61.2) == "no estimate for 61 s"
