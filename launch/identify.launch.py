# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Excite, record, fit and report in one go, on a robot that is already running.

The robot does not move before somebody arms it: call ``/excite/arm``, or give ``arm:=true``.
"""

from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from sysid_ros.nodes.launching import (
    AS_IN_FILE,
    EXPERIMENT,
    STAY,
    arguments,
    ending_node,
    flag,
    node,
    text,
    together,
    whole,
)


def generate_launch_description() -> LaunchDescription:
    topics = [
        ("joint_states", LaunchConfiguration("joint_states")),
        ("command", LaunchConfiguration("command")),
        ("controller_state", LaunchConfiguration("controller_state")),
    ]
    excite = node("excite", remappings=topics)
    recorder = node(
        "recorder",
        {
            "experiment": text("experiment"),
            "output_dir": text("bag_dir"),
            "autostart": flag("autostart"),
        },
    )
    server = node("fit_server", {"output_dir": text("output_dir")})
    judge = node("sufficiency", {"experiment": text("experiment")}, only_if="sufficiency")
    client = ending_node(
        "identify",
        {
            "experiment": text("experiment"),
            "arm": flag("arm"),
            "recordings": whole("recordings"),
            "hold_out_last": flag("hold_out_last"),
        },
    )
    own = arguments(
        stay=STAY,
        experiment=EXPERIMENT,
        autostart=(AS_IN_FILE, "whether the recorder configures and activates itself"),
        arm=("false", "whether the robot may move at once, unasked"),
        recordings=(AS_IN_FILE, "motions, each in a bag of its own"),
        hold_out_last=(AS_IN_FILE, "whether the last of several is held out instead of fitted"),
        joint_states=("joint_states", "topic of the robot's joint states, in the namespace"),
        command=("command", "topic the robot obeys, in the namespace"),
        controller_state=("controller_state", "topic of what a trajectory controller holds"),
        bag_dir=(AS_IN_FILE, "folder for the bag"),
        output_dir=(AS_IN_FILE, "folder for the result folder"),
        sufficiency=("false", "whether to say while recording when there is enough"),
    )
    return LaunchDescription([*own, together(excite, recorder, server, judge, client)])
