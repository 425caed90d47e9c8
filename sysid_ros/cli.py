# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command line: ``sysid_ros COMMAND``; only the demo needs ROS.

The exit status is an :class:`ErrorCode`; usage errors give 64 and internal ones 70, as in BSD's
sysexits, so that they cannot be mistaken for one. Each command is a module of ``commands``.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence

import sysid_ros
from sysid_ros.commands import COMMANDS
from sysid_ros.commands.common import Parser, complain
from sysid_ros.errors import SysidError

EXIT_INTERNAL = 70
EXIT_ABORTED = 130  # as shells report a process ended by SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
      arguments: What follows the program's name; ``sys.argv`` by default.

    Returns:
      The exit status.
    """
    # Most of what a command makes stays until it ends; looking for cycles took 4 % of a fit.
    gc.set_threshold(50_000, 20, 100)
    # Else the interpreter looks for cycles among all that was imported, for a third of a second.
    atexit.register(gc.freeze)
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except SysidError as error:
        complain(str(error))
        return int(error.code)
    except KeyboardInterrupt:
        complain("aborted")
        return EXIT_ABORTED
    except BrokenPipeError:  # the reader of our output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.debug:
            raise
        complain(f"internal error: {type(error).__name__}: {error}; run with --debug for more")
        return EXIT_INTERNAL


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="sysid_ros", description=sysid_ros.__doc__)
    parser.add_argument("--version", action="version", version=f"sysid_ros {sysid_ros.__version__}")
    parser.set_defaults(debug=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.register(commands.add_parser)
    return parser
