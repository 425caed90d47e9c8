# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros rehearse``: try an experiment on robots whose parameters are known."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.commands.common import (
    LARGEST_SEED,
    AddParser,
    add_command,
    check_number,
    complain,
    experiment_arguments,
    experiment_of,
    worker_arguments,
    workers_of,
)
from sysid_ros.errors import ErrorCode
from sysid_ros.printable import print_text

if TYPE_CHECKING:
    from sysid_ros.rehearsal import Attempt, Prospect


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, experiment_arguments(), worker_arguments())
    parser.option("--repeats", "N", "robots to try it on (20)", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (0)")
    parser.option(
        "--motion",
        "FILE",
        "a motion of design or excite (CSV), told to the robots instead of what was recorded",
        type=Path,
    )
    parser.flag("--json", "print JSON instead of a table")


def _run(options: argparse.Namespace) -> int:
    """Try an experiment on simulated robots with known parameters: which can be had?"""
    check_number("--repeats", options.repeats, least=1, most=100_000)
    check_number("--seed", options.seed, least=0, most=LARGEST_SEED)
    experiment = experiment_of(options)

    from sysid_ros.excitation import read_trajectory
    from sysid_ros.rehearsal import prospects, rehearse
    from sysid_ros.terminal import working

    with working("rehearsing") as ended:
        attempts = rehearse(
            experiment,
            options.data,
            repeats=options.repeats,
            seed=options.seed,
            motion=None if options.motion is None else read_trajectory(options.motion),
            workers=workers_of(options),
            on_done=lambda count: ended(count / options.repeats),
        )
    found = prospects(attempts)
    if options.json:
        document = {
            "attempts": [asdict(attempt) for attempt in attempts],
            "parameters": [{**asdict(one), "can_be_had": one.can_be_had} for one in found],
        }
        print(json.dumps(document, indent=2))
    else:
        print_text("\n".join(_lines(attempts, found)))
    for number, attempt in enumerate(attempts):
        if attempt.failure:
            complain(f"repetition {number}: {attempt.failure}")
    return int(ErrorCode.NONE if found else ErrorCode.DATA_UNUSABLE)


def _lines(attempts: list[Attempt], found: list[Prospect]) -> list[str]:
    """A table of parameters, and what it comes to."""
    width = max([len(one.name) for one in found] + [len("parameter")])
    lines = [f"{'parameter':<{width}}  drawn     error     bias      covered   can be had"]
    for one in found:
        share = f"{one.covered} of {one.intervals}"
        lines.append(
            f"{one.name:<{width}}  {one.spread:<9.3g} {one.error:<9.3g} {one.bias:<+9.2g} "
            f"{share:<9} {'yes' if one.can_be_had else 'no'}"
        )
    covered, intervals = sum(one.covered for one in found), sum(one.intervals for one in found)
    if intervals:
        percent = 100.0 * covered / intervals
        lines.append(f"{covered} of {intervals} intervals of 95 % hold the truth ({percent:.0f} %)")
    lost = [one.name for one in found if not one.can_be_had]
    lines.append(
        f"these recordings do not give {', '.join(lost)}" if lost else "all parameters can be had"
    )
    kinds = Counter(kind for attempt in attempts for kind in attempt.findings)
    if kinds:
        said = ", ".join(f"{kind} {count} times" for kind, count in sorted(kinds.items()))
        lines.append(f"the check, which should find nothing, found {said}")
    return lines
