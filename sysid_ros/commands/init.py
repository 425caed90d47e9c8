# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros init``: propose an experiment file."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.commands.common import (
    AddParser,
    add_command,
    announce,
    complain,
    load_mujoco,
    message_arguments,
    package_arguments,
)
from sysid_ros.errors import OutputError
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.proposal import ModelTopic


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, package_arguments(), message_arguments())
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--model", metavar="FILE", help="MJCF or URDF; package:// works")
    model.add_argument(
        "--robot-description",
        nargs="?",
        const="/robot_description",
        metavar="TOPIC",
        help="the topic of the recordings that has the model (/robot_description)",
    )
    parser.add_argument(
        "--bag",
        type=Path,
        nargs="+",
        action="extend",
        required=True,
        metavar="BAG",
        help="recordings, or folders of recordings",
    )
    parser.add_argument(
        "--signals",
        type=Path,
        metavar="FILE",
        help="an experiment file, whose signals are taken as they are: after they were corrected",
    )
    parser.option(
        "--output",
        "FILE",
        "the file to write, which must not exist (experiment.yaml)",
        type=Path,
        default=Path("experiment.yaml"),
    )
    parser.flag("--json", "print JSON instead of sentences")


def _run(options: argparse.Namespace) -> int:
    """Propose an experiment file for a model and recordings."""
    from sysid_ros.files import check_replaceable, write_new_file

    output: Path = options.output
    if output.exists():
        raise OutputError(f"{output} exists; it is never overwritten, choose another --output")
    if not output.absolute().parent.is_dir():
        raise OutputError(f"{output}: there is no folder {output.absolute().parent}")
    check_replaceable(output)

    announce("loading the model and the recordings")
    load_mujoco()
    from sysid_ros.proposal import propose
    from sysid_ros.terminal import FitProgress

    with FitProgress(1) as progress:
        proposal = propose(
            _model(options),
            options.bag,
            output,
            package_path=[Path(path) for path in options.package_path],
            msg_path=[Path(path) for path in options.msg_path],
            signals=options.signals,
            on_stage=progress.stage,
            on_note=progress.note,
        )
    write_new_file(output, proposal.text)
    if options.json:
        print(json.dumps({"experiment": str(output), **proposal.to_dict()}, indent=2))
        return 0
    for finding in proposal.findings:
        complain(f"{finding.kind.value}: {finding.sentence}")
    marks = proposal.text.count("CHECK:")
    to_see = [f"{marks} line{'s' * (marks != 1)} marked CHECK"] if marks else []
    if proposal.findings:
        to_see.append("what is said above, whose repairs sysid_ros check gives")
    then = f"sysid_ros fit {shlex.quote(str(output))}"
    print_text(f"{output}: {' and '.join(to_see) or 'nothing'} to look at; then: {then}")
    if to_see and options.signals is None:
        again = f"--signals {shlex.quote(str(output))} --output NEW"
        print_text(f"where that changed a signal, the same init {again} proposes the rest for it")
    return 0


def _model(options: argparse.Namespace) -> Path | ModelTopic:
    """The model's file, or the topic that has it."""
    from sysid_ros.experiment import Packages, locate_model
    from sysid_ros.proposal import ModelTopic

    if options.model is None:
        return ModelTopic(options.robot_description)
    packages = Packages.of([Path(path) for path in options.package_path])
    return locate_model(options.model, experiment_file=None, data_dir=None, packages=packages)
