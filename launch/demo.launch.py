# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identify a simulated robot with hidden parameters and compare with the truth."""

from launch import LaunchDescription
from sysid_ros.nodes.launching import (
    AS_IN_FILE,
    STAY,
    arguments,
    ending_node,
    flag,
    node,
    share,
    text,
    together,
)


def generate_launch_description() -> LaunchDescription:
    demo = share() / "examples" / "demo"
    truth = {"true_parameters": str(demo / "true_parameters.yaml")}
    # The experiment names absolute topics, whatever the namespace of the nodes.
    topics = [("joint_states", "/joint_states"), ("command", "/command")]
    robot = node("sim_robot", {"model": str(demo / "arm.xml"), **truth}, remappings=topics)
    # It plays by the robot's own time, which waits for every command.
    excite = node("excite", {"use_sim_time": True}, remappings=topics)
    recorder = node(
        "recorder",
        {
            "experiment": text("experiment"),
            "output_dir": text("bag_dir"),
            "autostart": flag("autostart"),
        },
    )
    server = node("fit_server", {"output_dir": text("output_dir")})
    client = ending_node("identify", {"experiment": text("experiment"), "arm": True, **truth})
    own = arguments(
        stay=STAY,
        autostart=(AS_IN_FILE, "whether the recorder configures and activates itself"),
        experiment=(str(demo / "experiment.yaml"), "experiment file, absolute path"),
        params_file=(str(demo / "demo.yaml"), "parameters of all nodes"),
        bag_dir=("demo_results/bags", "folder for the bag"),
        output_dir=("demo_results/results", "folder for the result folder"),
    )
    return LaunchDescription([*own, together(robot, excite, recorder, server, client)])
