# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compilation, half a minute or more, once: begun ahead of a fit, or told as a stage of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from numba.core import event

from sysid_ros.engine.compiled import WAITING

COMPILING = "compiling the derivatives"
BACKGROUND = "--background"
# Gives way to the nodes; much more, and on a busy machine the fit would wait for minutes.
NICENESS = 2
_COMPILED = "numba:compile"  # numba's own event, of what was not found on disk
_ROOM = __name__.rpartition(".")[0]


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


@contextmanager
def compilation_told(
    tell: Callable[[str], None], stage: str = ""
) -> Iterator[Callable[[str], None]]:
    """Tell of compilation as of a stage, wherever it happens, also in another process.

    Args:
      tell: Takes the name of a stage that begins.
      stage: The present one, if it has been told.

    Yields:
      Takes the stages of what is done meanwhile; the present one is told again after a compilation.
    """
    watch = _CompilationWatch(tell, stage)
    with ExitStack() as stack:
        for kind in (_COMPILED, WAITING):
            stack.enter_context(event.install_listener(kind, watch))
        yield watch.stage


class _CompilationWatch(event.Listener):
    """Hears when something begins and ends that the work waits for; within it may be more."""

    def __init__(self, tell: Callable[[str], None], stage: str) -> None:
        self._tell = tell
        self._stage = stage
        self._depth = 0

    def stage(self, text: str) -> None:
        """Tell of a stage and remember it."""
        self._stage = text
        self._tell(text)

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self._depth += 1
        if self._depth == 1:
            self._tell(COMPILING)

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0 and self._stage:
            self._tell(self._stage)


def _is_ours(event: Any) -> bool:
    """Tell the entry points, and what they call, from other functions that numba compiles."""
    if event.kind == WAITING:
        return True
    return str(event.data["dispatcher"].py_func.__module__).startswith(_ROOM)
