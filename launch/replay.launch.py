# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Replay a fitted recording to RViz: two robots, as measured and as the model moves."""

from launch import LaunchDescription
from sysid_ros.nodes.launching import AS_IN_FILE, arguments, flag, node, text, together


def generate_launch_description() -> LaunchDescription:
    replay = node(
        "replay", {"result": text("result"), "sequence": text("sequence"), "loop": flag("loop")}
    )
    own = arguments(
        result=(AS_IN_FILE, "result folder, absolute path"),
        sequence=(AS_IN_FILE, "recording; the first held-out one if empty"),
        loop=(AS_IN_FILE, "whether to begin again at the end"),
    )
    return LaunchDescription([*own, together(replay)])
