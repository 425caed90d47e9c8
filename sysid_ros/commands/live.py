# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros live``: estimate parameters from a bag as if it were just being recorded."""

from __future__ import annotations

import argparse
from pathlib import Path

from sysid_ros.commands.common import (
    AddParser,
    add_command,
    check_number,
    complain,
    experiment_arguments,
    experiment_of,
    from_shell,
)
from sysid_ros.errors import DataError


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments())
    parser.option("--bag", "BAG", "the recording to follow", required=True)
    parser.option("--robot", "NAME", "which of several robots was recorded")
    parser.option("--output", "FILE", "write every estimate as a table (.csv)", type=Path)
    parser.option(
        "--horizon",
        "S",
        "seconds that are simulated anew when the estimate moves (10)",
        type=float,
        default=10.0,
    )
    parser.option(
        "--forgetting",
        "S",
        "seconds after which what lies before counts by 1/e (never)",
        type=float,
    )


def _run(options: argparse.Namespace) -> int:
    """Estimate parameters from a bag as if it were just being recorded."""
    check_number("--horizon", options.horizon, least=1e-3, most=1e6)
    check_number("--forgetting", options.forgetting, least=1e-3, most=1e9)
    from sysid_ros.files import check_replaceable

    if options.output is not None:
        check_replaceable(options.output)
    experiment = experiment_of(options)
    from sysid_ros.engine.moving_horizon import HorizonSettings
    from sysid_ros.experiment import SequenceConfig
    from sysid_ros.live_estimation import EstimateTable, estimates_of_bag
    from sysid_ros.terminal import print_estimates

    bag = SequenceConfig(from_shell(options.bag), robot=options.robot)
    horizon = HorizonSettings(options.horizon, options.forgetting)
    table, latest, said, problem = EstimateTable(), None, "", ""
    for found in estimates_of_bag(experiment, bag, horizon, data_dir=options.data):
        problem = found.problem
        if problem and problem != said:  # it may come and go with every tenth of a second
            complain(problem)
            said = problem
        if found.estimate is not None and found.estimate is not latest:
            latest = found.estimate
            table.add(latest)
    if latest is None:
        reason = "" if problem else " is shorter than a window;"  # a problem has been told
        raise DataError(f"{bag.name}{reason} nothing is estimated")
    if options.output is not None:
        table.write(options.output)
    print_estimates(latest.parameters, (*latest.undetermined, *latest.unexplained, *latest.wrong))
    return 0
