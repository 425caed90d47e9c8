# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Offer the action ``/fit_server/fit``; with ``bag:=...`` fit that bag and end."""

from launch.actions import GroupAction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, NotEqualsSubstitution

from launch import LaunchDescription
from sysid_ros.nodes.launching import AS_IN_FILE, EXPERIMENT, arguments, ending_node, node, text


def generate_launch_description() -> LaunchDescription:
    server = node("fit_server", {"data_dir": text("data_dir"), "output_dir": text("output_dir")})
    client = ending_node("identify", {"experiment": text("experiment"), "bag": text("bag")})
    wanted = IfCondition(NotEqualsSubstitution(LaunchConfiguration("bag"), ""))
    own = arguments(
        experiment=EXPERIMENT,
        bag=(AS_IN_FILE, "bag to fit, absolute path; empty to wait for goals"),
        data_dir=(AS_IN_FILE, "folder where bags are looked for"),
        output_dir=(AS_IN_FILE, "folder for the result folders"),
    )
    client_group = GroupAction(client, condition=wanted, scoped=False)
    return LaunchDescription([*own, server, client_group])
