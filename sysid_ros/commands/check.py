"""``sysid_ros check``: find mistakes in an experiment before any fit."""

from __future__ import annotations

import argparse
import json

from sysid_ros.commands.common import (
    AddParser,
    debug_arguments,
    experiment_arguments,
    experiment_of,
)
from sysid_ros.errors import ErrorCode


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_parser(
        "check", parents=[experiment_arguments(), debug_arguments()], help=_run.__doc__
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of sentences")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Find wrong signs, units, joints, offsets, lags and poor sampling before any fit."""
    experiment = experiment_of(options)

    from sysid_ros.diagnosis import check_experiment
    from sysid_ros.terminal_progress import working

    with working("testing the recordings against the model"):
        findings = check_experiment(experiment, options.data)
    if options.json:
        print(json.dumps({"findings": [finding.to_dict() for finding in findings]}, indent=2))
    elif not findings:
        print("nothing found")
    for number, finding in enumerate(() if options.json else findings, start=1):
        print(f"{number}. {finding.kind.value}: {finding.sentence}")
        print("".join(f"     {line}\n" for line in finding.repair.splitlines()))
    return int(ErrorCode.DATA_UNUSABLE if findings else ErrorCode.NONE)
