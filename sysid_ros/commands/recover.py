# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros recover``: a whole bag from what is left of a broken one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sysid_ros.commands.common import AddParser, add_command, message_arguments
from sysid_ros.printable import print_text


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, message_arguments())
    parser.option("bag", "BAG", "a broken bag's folder or file", type=Path)
    parser.option("--output", "DIR", "the new bag (default: BAG_recovered)", type=Path)
    parser.add_argument(
        "--split",
        action="store_true",
        help="instead make a bag, BAG_1 and so on, of each stretch of a whole one between restarts "
        "of a simulation (its clock jumps back)",
    )
    parser.add_argument(
        "--compression",
        choices=("none", "lz4", "zstd"),
        default="none",
        help="compression of the new bag's chunks",
    )


def _run(options: argparse.Namespace) -> int:
    """Write a whole, indexed bag from what is left of a broken one."""
    from sysid_ros.recording.bags import recover
    from sysid_ros.recording.mapping import split_at_restarts
    from sysid_ros.terminal import working

    given: dict[str, Any] = {
        "output": options.output,
        "compression": options.compression,
        "msg_paths": options.msg_path,
    }
    with working(f"{'splitting' if options.split else 'recovering'} {options.bag.name}"):
        if options.split:
            written = split_at_restarts(options.bag, **given)
        else:
            written = [recover(options.bag, **given)]
    for part in written:
        print_text(part)
    return 0
