# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The end of a launch; what ``launch`` itself does with it needs an installation of ROS."""

from __future__ import annotations

import importlib
import re
import signal
import sys
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


class Said:
    """A substitution by what an argument says."""

    def __init__(self, name: str) -> None:
        self.name = name

    def perform(self, context: Any) -> str:
        return str(context.launch_configurations[self.name])


class Value:
    """A parameter's value, of which launch refuses what is of another kind."""

    def __init__(self, said: Said, value_type: type) -> None:
        self.said = said

    def evaluate(self, context: Any) -> Any:
        words = self.said.perform(context)
        if words not in ("true", "false"):
            raise ValueError("Cannot convert value to '<class 'bool'>'")
        return words == "true"


@pytest.fixture
def context() -> SimpleNamespace:
    """A launch of which nothing was said."""
    said = {"stay": "false", "sufficiency": "true", "use_sim_time": "", "params_file": __file__}
    return SimpleNamespace(launch_configurations=said, is_shutdown=False)


@pytest.fixture
def launching(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, where nodes are what is asked of ``launch_ros``."""
    for name in (*_OF_ROS, *_MODULES):
        monkeypatch.setitem(sys.modules, name, MagicMock())
    monkeypatch.delitem(sys.modules, "sysid_ros.nodes.launching", raising=False)
    found = importlib.import_module("sysid_ros.nodes.launching")
    monkeypatch.setitem(sys.modules, "sysid_ros.nodes.launching", found)
    monkeypatch.setattr(found, "LaunchConfiguration", Said)
    monkeypatch.setattr(found, "ParameterValue", Value)
    return found


def asked_of_launch(launching: Any, make: Any, context: Any) -> dict[str, Any]:
    """What a node asks of ``launch_ros``."""
    make(context)
    return dict(launching.Node.call_args.kwargs)


def ended(status: int, *, shutdown: bool) -> tuple[SimpleNamespace, MagicMock]:
    """The end of a node, as launch tells it."""
    event = SimpleNamespace(returncode=status, process_name="identify")
    return event, MagicMock(is_shutdown=shutdown)


@pytest.mark.parametrize("shutdown", [False, True])
def test_launch_ends_with_its_client(launching: Any, context: Any, shutdown: bool):
    make = launching.ending_node("identify", {})
    answered = asked_of_launch(launching, make, context)["on_exit"](*ended(0, shutdown=shutdown))
    assert len(answered) == (0 if shutdown else 1)  # a second end asks for nothing


@pytest.mark.parametrize(("stay", "answers"), [("true", 0), ("false", 1)])
def test_stay_counts_as_it_was_where_the_node_was_launched(
    launching: Any, context: Any, stay: str, answers: int
):
    """A launch file that includes this one in a group has forgotten the argument by the end."""
    make = launching.ending_node("identify", {})
    context.launch_configurations["stay"] = stay
    on_exit = asked_of_launch(launching, make, context)["on_exit"]
    del context.launch_configurations["stay"]
    assert len(on_exit(*ended(0, shutdown=False))) == answers


def test_interrupted_client_has_not_failed_in_a_launch(launching: Any, context: Any):
    make = launching.ending_node("identify", {})
    (_, given) = asked_of_launch(launching, make, context)["parameters"]
    assert given["canceled_status"] == 0


@pytest.mark.parametrize("declare", ["node", "ending_node"])
@pytest.mark.parametrize(
    ("status", "shutdown"), [(1, False), (ErrorCode.DATA_UNUSABLE, True), (-6, True)]
)
def test_launch_fails_where_a_node_failed(
    launching: Any, context: Any, declare: str, status: int, shutdown: bool
):
    make = getattr(launching, declare)("identify", {})
    with pytest.raises(RuntimeError, match=f"identify ended with status {int(status)}"):
        asked_of_launch(launching, make, context)["on_exit"](*ended(status, shutdown=shutdown))


@pytest.mark.parametrize("declare", ["node", "ending_node"])
def test_a_node_that_an_interrupt_killed_before_it_listened_has_not_failed(
    launching: Any, context: Any, declare: str
):
    on_exit = asked_of_launch(launching, getattr(launching, declare)("identify", {}), context)
    assert on_exit["on_exit"](*ended(-signal.SIGINT, shutdown=True)) == []
    with pytest.raises(RuntimeError, match="identify ended with status -2"):
        on_exit["on_exit"](*ended(-signal.SIGINT, shutdown=False))


def test_launch_goes_on_without_a_node_that_only_watches(launching: Any, context: Any):
    make = launching.node("sufficiency", only_if="sufficiency")
    assert asked_of_launch(launching, make, context)["on_exit"] is None
    context.launch_configurations["sufficiency"] = "false"
    assert make(context) == []


@pytest.mark.parametrize(
    ("argument", "said", "sentence"),
    [
        ("stay", "perhaps", "stay:=perhaps: stay takes true or false"),
        ("sufficiency", "perhaps", "sufficiency:=perhaps: sufficiency takes true or false"),
        ("use_sim_time", "perhaps", "use_sim_time:=perhaps: use_sim_time takes true or false"),
        ("params_file", "/nowhere.yaml", "params_file:=/nowhere.yaml: there is no such file"),
    ],
)
def test_what_an_argument_cannot_say_ends_the_launch_with_a_sentence(
    launching: Any, context: Any, argument: str, said: str, sentence: str
):
    """And nothing was started: launch would leave that behind."""
    watch = launching.node("sufficiency", only_if="sufficiency")
    launching.together(launching.node("recorder"), watch, launching.ending_node("identify", {}))
    context.launch_configurations[argument] = said
    with pytest.raises(RuntimeError, match=re.escape(sentence)):
        launching.OpaqueFunction.call_args.kwargs["function"](context)


def test_a_node_that_is_not_asked_for_is_not_started(launching: Any, context: Any):
    make = launching.if_given("bag", launching.node("identify"))
    for said, nodes in (("", 0), ("/bag", 1)):
        context.launch_configurations["bag"] = said
        assert len(make(context)) == nodes
