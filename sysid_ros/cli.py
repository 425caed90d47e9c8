# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command line: ``sysid_ros COMMAND``; only the demo needs ROS.

The exit status is an :class:`ErrorCode`; usage errors give 64 and internal ones 70, as in BSD's
sysexits, so that they cannot be mistaken for one. Each command is a module of ``commands``.
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import os
import sys
from collections.abc import Sequence

import sysid_ros
from sysid_ros.errors import ErrorCode, SysidError
from sysid_ros.printable import complain
from sysid_ros.processes import lasting_interrupts, return_large_arrays

EXIT_INTERNAL = 70
EXIT_ABORTED = 130  # as shells report a process ended by SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
      arguments: What follows the program's name; ``sys.argv`` by default.

    Returns:
      The exit status.
    """
    # What a command makes stays until it ends, or is in no cycle: of 300 000 objects of a fit 2000
    # were, half of them of imports. Each look at the new 50 000 took 0.015 s.
    gc.set_threshold(500_000, 20, 100)
    return_large_arrays()
    # Else the interpreter looks for cycles among all that was imported, for a third of a second.
    atexit.register(gc.freeze)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started this
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    debug = False
    try:
        with lasting_interrupts():
            options = _parser().parse_args(arguments)
            debug = options.debug
            status: int = options.run(options)
            sys.stdout.flush()
            return status
    except KeyboardInterrupt:
        return _aborted()
    except Exception as error:
        known = _known(error)
        if known is not None:
            return known
        if debug:
            raise
        complain(f"internal error: {type(error).__name__}: {error}; run with --debug for more")
        return EXIT_INTERNAL


def _known(error: Exception) -> int | None:
    """Say what ended a command, and return its status; ``None`` for a defect of the command."""
    if isinstance(error, SysidError):
        complain(str(error))
        return int(error.code)
    first: BaseException = error
    while first.__cause__ is not None:
        first = first.__cause__
    if isinstance(first, KeyboardInterrupt):  # while extensions imported each other
        return _aborted()
    if not isinstance(error, OSError) or error.errno not in (errno.EPIPE, errno.ENOSPC):
        return None
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:  # the reader of our output, such as head, has seen enough
        return 0
    complain(f"cannot write: {error.strerror}")
    return int(ErrorCode.OUTPUT_UNWRITABLE)


def _aborted() -> int:
    complain("aborted")
    return EXIT_ABORTED


def _parser() -> argparse.ArgumentParser:
    from sysid_ros.commands import COMMANDS  # here, where an interrupt is a sentence already
    from sysid_ros.commands.common import Parser

    parser = Parser(prog="sysid_ros", description=sysid_ros.__doc__)
    parser.add_argument("--version", action="version", version=f"sysid_ros {sysid_ros.__version__}")
    parser.set_defaults(debug=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.register(commands.add_parser)
    return parser
