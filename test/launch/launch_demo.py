# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""For ``launch_test``: the demo's launch file identifies the robot and ends by itself."""

from __future__ import annotations

import tempfile
import time
import unittest
from pathlib import Path

import launch_testing.actions
import launch_testing.asserts
import rclpy
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rclpy.qos import DurabilityPolicy, QoSProfile

from launch import LaunchDescription
from sysid_ros.nodes.launching import share
from sysid_ros.rehearsal import read_true_parameters
from sysid_ros_interfaces.msg import IdentifiedParameters, Report

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PATIENCE = 900.0  # s; costs time only where something hangs


def generate_test_description() -> LaunchDescription:
    folder = Path(tempfile.mkdtemp(prefix="sysid_ros_launch_"))
    demo = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share() / "launch" / "demo.launch.py")),
        launch_arguments={
            "bag_dir": str(folder / "bags"),
            "output_dir": str(folder / "results"),
            "namespace": "arm",
            "stay": "true",
        }.items(),
    )
    return LaunchDescription([demo, launch_testing.actions.ReadyToTest()])


class TestDemo(unittest.TestCase):
    def test_parameters_are_identified_and_published(self) -> None:
        rclpy.init()
        node = rclpy.create_node("launch_test")
        received: dict[str, object] = {}
        for kind, name in ((IdentifiedParameters, "identified_parameters"), (Report, "report")):
            node.create_subscription(
                kind,
                f"/arm/fit_server/{name}",
                lambda message, name=name: received.setdefault(name, message),
                LATCHED,
            )
        deadline = time.monotonic() + PATIENCE
        while len(received) < 2 and time.monotonic() < deadline:
            rclpy.spin_once(node, timeout_sec=0.1)
        node.destroy_node()
        rclpy.shutdown()
        self.assertEqual(set(received), {"identified_parameters", "report"})
        found = {p.name: p.value for p in received["identified_parameters"].parameters}
        for true in read_true_parameters(share() / "examples/demo/true_parameters.yaml"):
            self.assertAlmostEqual(found[true.name] / true.value, 1.0, delta=0.05)
        self.assertTrue(Path(received["report"].file).is_file())

    def test_client_ends_well(self, proc_info: launch_testing.ProcInfoHandler) -> None:
        proc_info.assertWaitForShutdown(process="identify", timeout=PATIENCE)
        launch_testing.asserts.assertExitCodes(proc_info, process="identify")


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_well(self, proc_info: launch_testing.ProcInfoHandler) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
