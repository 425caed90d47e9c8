# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros view``: MuJoCo's viewer on a fitted recording."""

from __future__ import annotations

import argparse

from sysid_ros.commands.common import AddParser, debug_arguments
from sysid_ros.commands.replay import playback_arguments
from sysid_ros.errors import ExperimentError
from sysid_ros.printable import print_text


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_parser("view", parents=[debug_arguments()], help=_run.__doc__)
    playback_arguments(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Show a fitted recording in MuJoCo's viewer: the robot as measured, the model as its ghost."""
    if not 0.0 < options.rate < float("inf"):
        raise ExperimentError(f"--rate is {options.rate:g}; it must be above 0")
    from sysid_ros.playback import check_display, load_motion, view

    simulated = "initial" if options.initial else "fitted"
    motion, model = load_motion(options.result_dir, options.sequence, simulated)
    check_display()
    print_text(
        f"{motion.sequence}: {motion.duration:.1f} s; solid: measured, translucent: {simulated}; "
        "close the window to end"
    )
    view(model, motion, rate=options.rate, loop=not options.once)
    return 0
