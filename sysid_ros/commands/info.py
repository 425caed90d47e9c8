# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros info``: say what is in a bag."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sysid_ros.commands.common import AddParser, add_command, message_arguments
from sysid_ros.printable import print_text


def register(add_parser: AddParser) -> None:
    """Declare the command and its arguments."""
    parser = add_command(add_parser, _run, message_arguments())
    parser.option("bag", "BAG", "a bag's folder or file", type=Path)
    parser.flag("--json", "print JSON instead of a table")


def _run(options: argparse.Namespace) -> int:
    """Say what is in a bag."""
    from sysid_ros.recording.bags import describe
    from sysid_ros.terminal import ReadingProgress

    with ReadingProgress() as progress:
        info = describe(options.bag, msg_paths=options.msg_path, on_progress=progress.reading)
    print_text(json.dumps(info.to_dict(), indent=2, allow_nan=False) if options.json else info)
    return 0
