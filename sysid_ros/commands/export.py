# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros export``: write the mapped signals of a bag as arrays or as a table."""

from __future__ import annotations

import argparse
from pathlib import Path

from sysid_ros.commands.common import (
    AddParser,
    complain,
    debug_arguments,
    experiment_arguments,
    experiment_of,
    from_shell,
)


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_parser(
        "export", parents=[experiment_arguments(), debug_arguments()], help=_run.__doc__
    )
    parser.add_argument("--bag", required=True, metavar="BAG", help="the recording")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="a .npz or .csv file to write"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Write the mapped signals of one bag as arrays or as a table."""
    from sysid_ros.experiment import locate_bag, message_paths_of
    from sysid_ros.recording.bags import open_recording
    from sysid_ros.recording.mapping import export, map_recording
    from sysid_ros.terminal import ReadingProgress

    experiment = experiment_of(options)
    bag = locate_bag(
        str(from_shell(options.bag)), experiment_file=experiment.path, data_dir=options.data
    )
    with (
        ReadingProgress() as progress,
        open_recording(
            bag, msg_paths=message_paths_of(experiment), on_progress=progress.reading
        ) as recording,
    ):
        mapped = map_recording(
            recording,
            experiment.signals,
            clock=experiment.clock,
            max_gap=experiment.fit.max_gap,
            enabled_when=experiment.enabled_when,
            clock_correction=experiment.clock_correction,
            name=bag.name,
        )
    for warning in mapped.warnings:
        complain(f"warning: {warning}")
    export(mapped, options.output)
    return 0
