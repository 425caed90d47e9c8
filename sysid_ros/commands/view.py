# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros view``: MuJoCo's viewer on a fitted recording or a planned motion."""

from __future__ import annotations

import argparse

from sysid_ros.commands.common import AddParser, add_command
from sysid_ros.commands.replay import playback_arguments
from sysid_ros.errors import ExperimentError
from sysid_ros.printable import print_text


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    playback_arguments(add_command(add_parser, _run))


def _run(options: argparse.Namespace) -> int:
    """Show a fitted recording, or a motion that is planned, in MuJoCo's viewer, with a ghost."""
    if not 0.0 < options.rate < float("inf"):
        raise ExperimentError(f"--rate is {options.rate:g}; it must be above 0")
    from sysid_ros.playback import check_display, load_motion, view

    if options.motion is not None:
        from sysid_ros.excitation.design import load_planned

        solid, translucent = "planned", "under its own servos"
        motion, model = load_planned(options.result_dir, options.motion)
    else:
        solid, translucent = "measured", "initial" if options.initial else "fitted"
        motion, model = load_motion(options.result_dir, options.sequence, translucent)
    check_display()
    print_text(
        f"{motion.sequence}: {motion.duration:.1f} s; solid: {solid}, translucent: {translucent}; "
        "close the window to end"
    )
    view(model, motion, rate=options.rate, loop=not options.once)
    return 0
