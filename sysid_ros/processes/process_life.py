# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The life of child processes."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent(by: signal.Signals = signal.SIGKILL) -> None:
    """Have Linux send this process a signal, which kills it, when the thread that started it ends.

    The end of a pipe tells the same, but only while the interpreter can run a thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, by)
