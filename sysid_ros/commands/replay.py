# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros replay``: publish a fitted recording to ROS, measured and simulated."""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path

from sysid_ros.commands.common import EXIT_USAGE, AddParser, Parser, add_command, complain


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run)
    playback_arguments(parser)
    parser.option("--frequency", "HZ", "joint states per second (50)", type=float, default=50.0)
    parser.option("--apart", "M", "distance of the robots' frames (0)", type=float, default=0.0)


def playback_arguments(parser: Parser) -> None:
    """Declare what ``replay`` and ``view`` share."""
    parser.option("result_dir", "RESULT_DIR", "a result; an experiment for --motion", type=Path)
    parser.option("--motion", "FILE", "motion to show before anything moves (CSV)", type=Path)
    parser.option("--sequence", "NAME", "recording (the first held-out one)", default="")
    parser.flag("--initial", "simulated with the initial parameters")
    parser.option("--rate", "FACTOR", "speed (1)", type=float, default=1.0)
    parser.flag("--once", "stop at the end instead of repeating")


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
