# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimate an experiment's parameters while the robot moves; ``/estimator/estimate`` has them."""

from launch import LaunchDescription
from sysid_ros.nodes.launching import (
    AS_IN_FILE,
    EXPERIMENT,
    arguments,
    flag,
    node,
    text,
    together,
    whole,
)


def generate_launch_description() -> LaunchDescription:
    own = arguments(
        experiment=EXPERIMENT,
        autostart=(AS_IN_FILE, "whether the estimator configures and activates itself"),
        state_file=(AS_IN_FILE, "file that carries what is known over a restart"),
        live_page_port=(AS_IN_FILE, "port of a page on this machine that shows estimates; 0: none"),
    )
    estimator = node(
        "estimator",
        {
            "experiment": text("experiment"),
            "autostart": flag("autostart"),
            "state_file": text("state_file"),
            "live_page_port": whole("live_page_port"),
        },
    )
    return LaunchDescription([*own, together(estimator)])
