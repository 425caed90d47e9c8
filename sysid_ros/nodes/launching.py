# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parts shared by the launch files, which alone import this: ``launch`` comes with ROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, RegisterEventHandler, Shutdown
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

_PATIENCE = "30"  # s from SIGINT to SIGTERM, and from there to SIGKILL


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
        "use_sim_time": ("false", "whether time comes from the topic /clock"),
        "params_file": (str(share() / "config" / "defaults.yaml"), "parameters of all nodes"),
        "log_level": ("info", "debug, info, warn, error or fatal"),
        "experiment": ("", "experiment file, absolute path"),
    }
    return [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in {**usual, **further}.items()
    ]


def text(argument: str) -> ParameterValue:
    """A launch argument as a string parameter, even where it looks like a number."""
    return ParameterValue(LaunchConfiguration(argument), value_type=str)


def flag(argument: str) -> ParameterValue:
    """A launch argument as a boolean parameter."""
    return ParameterValue(LaunchConfiguration(argument), value_type=bool)


def whole(argument: str) -> ParameterValue:
    """A launch argument as an integer parameter."""
    return ParameterValue(LaunchConfiguration(argument), value_type=int)


def node(
    executable: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    remappings: Sequence[tuple[str, Any]] = (),
    only_if: str | None = None,
) -> Node:
    """One of the package's nodes, with the usual arguments applied.

    Args:
      executable: Also the node's name.
      parameters: On top of those in the parameter file.
      remappings: Topics.
      only_if: A launch argument; where it is false, the node is not started.
    """
    return Node(
        package="sysid_ros",
        executable=executable,
        name=executable,
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {"use_sim_time": flag("use_sim_time"), **(parameters or {})},
        ],
        remappings=list(remappings),
        condition=IfCondition(LaunchConfiguration(only_if)) if only_if else None,
        arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
        output="screen",
        # Nothing that ends slowly, such as a large bag on a busy machine, is cut off.
        sigterm_timeout=_PATIENCE,
        sigkill_timeout=_PATIENCE,
    )


def end_with(client: Node) -> list[LaunchDescriptionEntity]:
    """End the launch when ``client`` ends, and fail it where the client failed.

    Declares the argument ``stay``, which leaves the other nodes running after a success.
    """

    def judge(event: Any, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if event.returncode != 0:
            raise RuntimeError(f"{event.process_name} ended with status {event.returncode}")
        stay = LaunchConfiguration("stay").perform(context).lower() == "true"
        return [] if stay else [Shutdown(reason="done")]

    stay = DeclareLaunchArgument(
        "stay", default_value="false", description="whether the other nodes outlive the result"
    )
    return [stay, RegisterEventHandler(OnProcessExit(target_action=client, on_exit=judge)), client]
