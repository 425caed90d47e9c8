# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Replay a fitted recording to RViz: two robots, as measured and as the model moves."""

from launch import LaunchDescription
from sysid_ros.nodes.launching import arguments, flag, node, text


def generate_launch_description() -> LaunchDescription:
    replay = node(
        "replay",
        {"result": text("result"), "sequence": text("sequence"), "loop": flag("loop")},
    )
    own = arguments(
        result=("", "result folder, absolute path"),
        sequence=("", "recording; the first held-out one if empty"),
        loop=("true", "whether to begin again at the end"),
    )
    return LaunchDescription([*own, replay])
