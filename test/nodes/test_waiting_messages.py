# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the estimator keeps while an update takes long, and how it ends then."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from ros_client import RosClient

from sysid_ros.nodes.estimator import node as estimator_node
from sysid_ros.nodes.estimator import waiting_messages
from sysid_ros.nodes.estimator.node import Estimator
from sysid_ros.nodes.estimator.waiting_messages import WaitingMessages
from sysid_ros.recording.messages import RawMessage


def test_messages_that_wait_are_bounded_and_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(waiting_messages, "MOST", 3)
    kept = WaitingMessages()
    assert not kept
    kept.add(RawMessage("/command", 0, 0, b"latched"))
    for k in range(5):
        kept.add(RawMessage("/joint_states", k, k, b""))
    assert kept.left_out == 2
    found = kept.take()
    assert [m.log_ns for m in found if m.topic == "/joint_states"] == [2, 3, 4]
    assert [m.data for m in found if m.topic == "/command"] == [b"latched"]
    assert not kept
    assert kept.left_out == 2


def test_the_node_ends_while_an_update_takes_long(
    client: RosClient, demo_files: Path, monkeypatch: pytest.MonkeyPatch
):
    release = threading.Event()

    def compiles(*given: Any, **named: Any) -> Any:
        release.wait(PATIENCE)

    monkeypatch.setattr(Estimator, "_update", compiles)
    monkeypatch.setattr(estimator_node, "_LAST", 0.05)
    experiment = Parameter("experiment", value=str(demo_files / "experiment.yaml"))
    node = Estimator(context=client.node.context, parameter_overrides=[experiment])
    for transition in (node.trigger_configure, node.trigger_activate):
        assert transition() == TransitionCallbackReturn.SUCCESS
    node._work = node._thread.submit(node._update)
    assert node.trigger_shutdown() == TransitionCallbackReturn.SUCCESS
    node.destroy_node()
    assert node.is_busy  # still: nobody waited for it
    release.set()
