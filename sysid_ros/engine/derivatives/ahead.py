# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compilation beside other work: begun early, waited for by the first fit."""

from __future__ import annotations

import subprocess
import sys

BACKGROUND = "--background"
# Gives way to the nodes; much more, and on a busy machine the fit would wait for minutes.
NICENESS = 2


def start_compiling() -> subprocess.Popen[bytes]:
    """Start a process that compiles the derivatives, or finds them compiled and ends.

    A fit that comes meanwhile waits for it. Whoever ends it early only loses time.
    """
    return subprocess.Popen(
        [sys.executable, "-m", __package__, BACKGROUND],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
