# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros check``: find mistakes in an experiment before any fit."""

from __future__ import annotations

import argparse
import json
import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sysid_ros.commands.common import (
    AddParser,
    add_command,
    announce,
    experiment_arguments,
    experiment_of,
    from_shell,
)
from sysid_ros.errors import ErrorCode
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.diagnosis import Finding

_WIDTH = 100  # columns, of sentences


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments())
    parser.repeated("--bag", "BAG", "test this recording too")
    parser.flag("--json", "print JSON instead of sentences")


def _run(options: argparse.Namespace) -> int:
    """Find wrong signs, units, joints, offsets, lags and poor sampling before any fit."""
    announce("reading the recordings and testing them against the model")
    experiment = experiment_of(options)

    from sysid_ros.diagnosis import check_experiment
    from sysid_ros.experiment import with_bags
    from sysid_ros.terminal import working

    experiment = with_bags(experiment, [from_shell(bag) for bag in options.bag])
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        announce(text)

    with working("testing the recordings against the model") as reading:
        findings = check_experiment(experiment, options.data, reading, note)
    if options.json:
        told = [finding.to_dict() for finding in findings]
        print(json.dumps({"findings": told, "notes": notes}, indent=2))
    else:
        print_text(_sentences(findings))
    return int(ErrorCode.DATA_UNUSABLE if findings else ErrorCode.NONE)


def _sentences(findings: Sequence[Finding]) -> str:
    """Every finding in words, with the line that repairs it."""
    if not findings:
        return "nothing found"
    width = min(shutil.get_terminal_size().columns, _WIDTH)
    parts = []
    for number, finding in enumerate(findings, start=1):
        text = f"{number}. {finding.kind.value}: {finding.sentence}"
        parts.append(textwrap.fill(text, width, subsequent_indent="   ", break_on_hyphens=False))
        parts += [f"     {line}" for line in finding.repair.splitlines()]
        parts.append("")
    count = "1 mistake" if len(findings) == 1 else f"{len(findings)} mistakes"
    mended = sum(bool(finding.repair) for finding in findings)
    share = "each" if mended == len(findings) else f"{mended or 'none'} of them"
    return "\n".join([*parts, f"{count}; {share} with the line that repairs the experiment file"])
