# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros demo``: identify a simulated robot with real ROS 2 processes."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from sysid_ros.commands.common import EXIT_USAGE, AddParser, add_command, complain


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run)
    parser.option("--output", "DIR", "folder (default: %(default)s)", default="demo_results")


def _run(options: argparse.Namespace) -> int:
    """Identify a simulated robot with real ROS 2 processes."""
    missing = [name for name in ("rclpy", "sysid_ros_interfaces") if find_spec(name) is None]
    if missing:
        complain(
            f"the demo needs ROS 2, but there is no Python module {' and no '.join(missing)}: use "
            "the .venv that 'make setup' prepares, or source a ROS installation with this package"
        )
        return EXIT_USAGE
    from sysid_ros.nodes.demo import main as demo

    return demo(["--output", options.output])
