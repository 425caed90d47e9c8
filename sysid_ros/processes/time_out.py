# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An end to somebody else's Python code that does not return."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class TimeOutInterrupt(BaseException):
    """Raised in the middle of code that takes too long; no ``except Exception`` holds it up."""

    def __str__(self) -> str:
        return str(self.args[0])


@contextlib.contextmanager
def interrupted_after(seconds: float | None, message: str) -> Iterator[None]:
    """Interrupt what runs inside when it takes too long.

    It works in the main thread only, as Python's signals do, between two steps of Python and in
    what waits; native code that never returns can only be ended with its process.

    Args:
      seconds: It may take; ``None`` for as long as it takes.
      message: Of the :class:`TimeOutInterrupt` that is raised in it.
    """
    alone = threading.current_thread() is threading.main_thread()
    if seconds is None or not alone or signal.getitimer(signal.ITIMER_REAL)[0] > 0.0:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeOutInterrupt(message)

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
