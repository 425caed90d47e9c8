# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros replay``: publish a fitted recording to ROS, measured and simulated."""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path

from sysid_ros.commands.common import EXIT_USAGE, AddParser, add_command, complain


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run)
    playback_arguments(parser)
    parser.add_argument(
        "--frequency", type=float, default=50.0, metavar="HZ", help="joint states per second (50)"
    )
    parser.add_argument(
        "--apart", type=float, default=0.0, metavar="M", help="distance of the robots' frames (0)"
    )


def playback_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``replay`` and ``view`` share."""
    parser.add_argument(
        "result_dir", type=Path, metavar="RESULT_DIR", help="a result; an experiment for --motion"
    )
    parser.add_argument(
        "--motion", type=Path, metavar="FILE", help="motion to show before anything moves (CSV)"
    )
    parser.add_argument(
        "--sequence", default="", metavar="NAME", help="recording (the first held-out one)"
    )
    parser.add_argument(
        "--initial", action="store_true", help="simulated with the initial parameters"
    )
    parser.add_argument("--rate", type=float, default=1.0, metavar="FACTOR", help="speed (1)")
    parser.add_argument("--once", action="store_true", help="stop at the end instead of repeating")


def _run(options: argparse.Namespace) -> int:
    """Publish joint states and frames to RViz: a recording and its fit, or a planned motion."""
    if find_spec("rclpy") is None:
        complain("replay needs ROS 2 (rclpy); sysid_ros view shows the same without")
        return EXIT_USAGE
    from sysid_ros.nodes.replay.node import main as replay

    given = {
        # In quotes: a recording called 1 is a text too, and an empty text needs them.
        "result": json.dumps(str(options.result_dir.absolute())),
        "sequence": json.dumps(options.sequence),
        "motion": json.dumps(str(options.motion.absolute()) if options.motion else ""),
        "simulated": "initial" if options.initial else "fitted",
        "rate": options.rate,
        "frequency": options.frequency,
        "loop": str(not options.once).lower(),
        "apart": options.apart,
    }
    values = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
    return replay(["--ros-args", *values])
