# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Record what an experiment needs; ``ros2 service call /recorder/start`` begins a bag.

With ``sufficiency:=true``, ``/sufficiency/sufficiency`` tells when the bag is long enough.
"""

from launch import LaunchDescription
from sysid_ros.nodes.launching import (
    AS_IN_FILE,
    EXPERIMENT,
    arguments,
    flag,
    node,
    text,
    together,
)


def generate_launch_description() -> LaunchDescription:
    recorder = node(
        "recorder",
        {
            "experiment": text("experiment"),
            "output_dir": text("output_dir"),
            "autostart": flag("autostart"),
            "record_on_activate": flag("record_on_activate"),
        },
    )
    judge = node("sufficiency", {"experiment": text("experiment")}, only_if="sufficiency")
    own = arguments(
        experiment=EXPERIMENT,
        autostart=(AS_IN_FILE, "whether the recorder configures and activates itself"),
        output_dir=(AS_IN_FILE, "folder for the bags"),
        record_on_activate=(AS_IN_FILE, "whether activation begins a bag"),
        sufficiency=("false", "whether to say while recording when there is enough"),
    )
    return LaunchDescription([*own, together(recorder, judge)])
