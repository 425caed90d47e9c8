# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Offer the action ``/fit_server/fit``; with ``bag:=...`` fit that bag and end."""

from launch import LaunchDescription
from sysid_ros.nodes.launching import (
    AS_IN_FILE,
    EXPERIMENT,
    STAY,
    arguments,
    ending_node,
    if_given,
    node,
    text,
    together,
)


def generate_launch_description() -> LaunchDescription:
    server = node("fit_server", {"data_dir": text("data_dir"), "output_dir": text("output_dir")})
    client = ending_node("identify", {"experiment": text("experiment"), "bag": text("bag")})
    own = arguments(
        stay=STAY,
        experiment=EXPERIMENT,
        bag=(AS_IN_FILE, "bag to fit, absolute path; empty to wait for goals"),
        data_dir=(AS_IN_FILE, "folder where bags are looked for"),
        output_dir=(AS_IN_FILE, "folder for the result folders"),
    )
    return LaunchDescription([*own, together(server, if_given("bag", client))])
