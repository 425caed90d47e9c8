# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The end of a launch; what ``launch`` itself does with it needs an installation of ROS."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from sysid_ros.errors import ErrorCode

_OF_ROS = ("launch", "launch_ros", "ament_index_python")
_MODULES = (
    "ament_index_python.packages",
    "launch.actions",
    "launch.conditions",
    "launch.launch_context",
    "launch.launch_description_entity",
    "launch.substitutions",
    "launch_ros.actions",
    "launch_ros.parameter_descriptions",
)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], Any]:
    """What becomes of a launch whose node ended with a status, during its shutdown or not."""
    for name in (*_OF_ROS, *_MODULES):
        monkeypatch.setitem(sys.modules, name, MagicMock())
    monkeypatch.delitem(sys.modules, "sysid_ros.nodes.launching", raising=False)
    launching = importlib.import_module("sysid_ros.nodes.launching")
    monkeypatch.setitem(sys.modules, "sysid_ros.nodes.launching", launching)
    making = MagicMock()
    monkeypatch.setattr(launching, "node", making)
    launching.ending_node("identify", {})
    on_exit = making.call_args.kwargs["on_exit"]

    def ended(status: int, shutdown: bool) -> Any:
        event = SimpleNamespace(returncode=status, process_name="identify")
        return on_exit(event, MagicMock(is_shutdown=shutdown))

    return ended


@pytest.mark.parametrize(
    ("status", "shutdown"), [(0, False), (0, True), (ErrorCode.CANCELED, True)]
)
def test_interrupted_launch_has_not_failed(
    judge: Callable[[int, bool], Any], status: int, shutdown: bool
):
    assert len(judge(status, shutdown)) == (0 if shutdown else 1)  # a second end asks for nothing


@pytest.mark.parametrize(
    ("status", "shutdown"),
    [(ErrorCode.CANCELED, False), (ErrorCode.DATA_UNUSABLE, True), (-6, True)],
)
def test_launch_fails_where_its_node_failed(
    judge: Callable[[int, bool], Any], status: int, shutdown: bool
):
    with pytest.raises(RuntimeError, match=f"identify ended with status {int(status)}"):
        judge(status, shutdown)
