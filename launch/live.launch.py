# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimate an experiment's parameters while the robot moves; ``/estimator/estimate`` has them."""

from launch import LaunchDescription
from sysid_ros.nodes.launching import arguments, flag, node, text


def generate_launch_description() -> LaunchDescription:
    own = arguments(
        autostart=("true", "whether the estimator configures and activates itself"),
        state_file=("", "file that carries what is known over a restart"),
    )
    estimator = node(
        "estimator",
        {
            "experiment": text("experiment"),
            "autostart": flag("autostart"),
            "state_file": text("state_file"),
        },
    )
    return LaunchDescription([*own, estimator])
