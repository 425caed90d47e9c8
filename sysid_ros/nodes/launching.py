# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parts shared by the launch files, which alone import this: ``launch`` comes with ROS."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from sysid_ros.nodes.ending import LAUNCHED_BY

AS_IN_FILE = ""  # default of an argument that leaves a parameter to the parameter file
STAY = ("false", "whether the other nodes outlive the result")
EXPERIMENT = (AS_IN_FILE, "experiment file, absolute path")  # the argument of that name
_TAKEN = {bool: "true or false", int: "a whole number", str: "a text"}
_PATIENCE = "30"  # s from SIGINT to SIGTERM, and from there to SIGKILL


# makes what is to be launched, where an argument that cannot be is refused
Maker = Callable[[LaunchContext], list[LaunchDescriptionEntity]]


def share() -> Path:
    """The package's installed data: launch, config and examples."""
    return Path(get_package_share_directory("sysid_ros"))


def arguments(**further: tuple[str, str]) -> list[DeclareLaunchArgument]:
    """The usual launch arguments, and some of one launch file.

    Args:
      further: Default value and description by name; replaces a usual one of that name.
    """
    usual = {
        "namespace": ("", "namespace of all nodes"),
        "use_sim_time": (AS_IN_FILE, "whether time comes from the topic /clock"),
        "params_file": (str(share() / "config" / "defaults.yaml"), "parameters of all nodes"),
        "log_level": ("info", "debug, info, warn, error or fatal"),
    }
    return [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in {**usual, **further}.items()
    ]


@dataclass(frozen=True)
class Argument:
    """A launch argument as a parameter of a node, which has it where the argument is given."""

    name: str
    kind: type

    def given(self, context: LaunchContext) -> bool:
        """Return whether it says something else than the parameter file."""
        return bool(LaunchConfiguration(self.name).perform(context))

    def value(self, context: LaunchContext) -> Any:
        """Return what it says.

        Raises:
          RuntimeError: That is of another kind.
        """
        said = LaunchConfiguration(self.name)
        try:
            return ParameterValue(said, value_type=self.kind).evaluate(context)
        except ValueError:
            raise RuntimeError(
                f"{self.name}:={said.perform(context)}: {self.name} takes {_TAKEN[self.kind]}"
            ) from None

    def parameter(self, context: LaunchContext) -> ParameterValue:
        """Return it as a parameter.

        Raises:
          RuntimeError: It is of another kind.
        """
        self.value(context)
        return ParameterValue(LaunchConfiguration(self.name), value_type=self.kind)


def text(argument: str) -> Argument:
    """A launch argument as a string parameter, even where it looks like a number."""
    return Argument(argument, str)


def flag(argument: str) -> Argument:
    """A launch argument as a boolean parameter."""
    return Argument(argument, bool)


def whole(argument: str) -> Argument:
    """A launch argument as an integer parameter."""
    return Argument(argument, int)


def node(
    executable: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    remappings: Sequence[tuple[str, Any]] = (),
    only_if: str | None = None,
    on_exit: Callable[[LaunchContext], Any] | None = None,
) -> Maker:
    """One of the package's nodes, with the usual arguments applied.

    A parameter is what the parameter file says where no argument is given for it. Where the node
    fails the launch fails and ends, unless it is one that only watches.

    Args:
      executable: Also the node's name.
      parameters: On top of those in the parameter file.
      remappings: Topics.
      only_if: A launch argument; where it is false, the node, which only watches, is not started.
      on_exit: Returns, while the launch file's arguments are known, what is called with event and
        context when its process ends, instead of what is usual.
    """
    wanted = {"use_sim_time": flag("use_sim_time"), **(parameters or {})}

    def make(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if only_if is not None and not flag(only_if).value(context):
            return []
        chosen = {
            name: one.parameter(context) if isinstance(one, Argument) else one
            for name, one in wanted.items()
            if not isinstance(one, Argument) or one.given(context)
        }
        started = Node(
            package="sysid_ros",
            executable=executable,
            name=executable,
            namespace=LaunchConfiguration("namespace"),
            parameters=[_params_file(context), *([chosen] if chosen else [])],
            remappings=list(remappings),
            arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
            output="screen",
            on_exit=on_exit(context) if on_exit else None if only_if else _refuse_failure,
            additional_env={LAUNCHED_BY: str(os.getpid())},
            # Nothing that ends slowly, such as a large bag on a busy machine, is cut off.
            sigterm_timeout=_PATIENCE,
            sigkill_timeout=_PATIENCE,
        )
        return [started]

    return make


def _params_file(context: LaunchContext) -> str:
    """The parameter file, without which launch would go on with other parameters.

    Raises:
      RuntimeError: There is none.
    """
    file = str(LaunchConfiguration("params_file").perform(context))
    if not Path(file).is_file():
        raise RuntimeError(f"params_file:={file}: there is no such file")
    return file


def _refuse_failure(event: Any, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End the launch, as others would wait in vain for a node that has failed.

    A node that Ctrl-C killed, as it had not begun to listen yet, has not.

    Raises:
      RuntimeError: Names the node; its own last words say why.
    """
    interrupted = context.is_shutdown and event.returncode == -signal.SIGINT
    if event.returncode != 0 and not interrupted:
        raise RuntimeError(f"{event.process_name} ended with status {event.returncode}")
    return []


def ending_node(executable: str, parameters: Mapping[str, Any]) -> Maker:
    """A node with whose end the launch ends, and fails where the node failed.

    The argument ``stay`` leaves the other nodes running after a success.
    """

    def judge_of(known: LaunchContext) -> Any:
        stays = flag("stay").value(known)

        def judge(event: Any, context: LaunchContext) -> list[LaunchDescriptionEntity]:
            _refuse_failure(event, context)
            return [] if stays or context.is_shutdown else [Shutdown(reason="done")]

        return judge

    # Launch takes every other status for a death, also where Ctrl-C has asked for the end.
    told = {**parameters, "canceled_status": 0}
    return node(executable, told, on_exit=judge_of)


def if_given(argument: str, make: Maker) -> Maker:
    """A node that is started only where an argument is given."""
    return lambda context: make(context) if text(argument).given(context) else []


def together(*makers: Maker) -> OpaqueFunction:
    """Nodes that are started once everything that the arguments say of all of them is in order.

    Launch leaves behind, running, what it was just starting when something else fails.
    """

    def make(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return [entity for maker in makers for entity in maker(context)]

    return OpaqueFunction(function=make)
