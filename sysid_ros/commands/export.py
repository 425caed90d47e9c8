# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros export``: write the mapped signals of a bag as arrays or as a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.commands.common import (
    AddParser,
    add_command,
    complain,
    experiment_arguments,
    experiment_of,
    from_shell,
)
from sysid_ros.errors import DataError, SysidError

if TYPE_CHECKING:
    from sysid_ros.experiment import Experiment, SequenceConfig


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments())
    parser.option("--bag", "BAG", "the recording", required=True)
    parser.option("--output", "FILE", "a .npz or .csv file to write", type=Path, required=True)
    parser.option(
        "--robot",
        "NAME",
        "whose topics to read; by default the robot that the experiment names for the bag",
    )


def _run(options: argparse.Namespace) -> int:
    """Write the mapped signals of one bag as arrays or as a table."""
    from sysid_ros.files import check_replaceable

    check_replaceable(options.output)
    experiment = experiment_of(options)
    from sysid_ros.dataset import mapped_sequence
    from sysid_ros.experiment import locate_bag, message_paths_of
    from sysid_ros.recording.bags import open_recording
    from sysid_ros.recording.mapping import export
    from sysid_ros.robots import check_robot
    from sysid_ros.terminal import ReadingProgress

    bag = locate_bag(
        str(from_shell(options.bag)), experiment_file=experiment.path, data_dir=options.data
    )
    robot = options.robot or _robot_in(bag, experiment, options.data)
    with (
        ReadingProgress() as progress,
        open_recording(
            bag, msg_paths=message_paths_of(experiment), on_progress=progress.reading
        ) as recording,
    ):
        check_robot(experiment, robot, recording.topics)
        mapped = mapped_sequence(experiment, recording, robot, bag.name)
    for warning in mapped.warnings:
        complain(f"warning: {warning}")
    export(mapped, options.output)
    return 0


def _robot_in(bag: Path, experiment: Experiment, data_dir: Path | None) -> str | None:
    """The robot that a recording is of, as the experiment says.

    Raises:
      DataError: It is of several.
    """
    from sysid_ros.experiment import locate_bag

    def is_same(config: SequenceConfig) -> bool:
        try:
            path = locate_bag(config.bag, experiment_file=experiment.path, data_dir=data_dir)
        except SysidError:  # another bag that is not here
            return False
        return path.samefile(bag)

    robots = sorted({c.robot for c in experiment.recordings if c.robot is not None and is_same(c)})
    if len(robots) > 1:
        raise DataError(f"{bag.name} is of several robots; choose --robot {' or '.join(robots)}")
    return robots[0] if robots else None
