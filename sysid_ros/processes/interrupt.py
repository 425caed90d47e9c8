# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ctrl-C as a request: the first asks for an orderly end, the second aborts; none is lost."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, final

_AGAIN = 0.1  # s between looks at whether an interrupt is still to be raised


@contextlib.contextmanager
def lasting_interrupts() -> Iterator[None]:
    """Raise an interrupt until it is handled or the block has ended.

    Exceptions of callbacks that are called from C are ignored, every import runs some, and
    extensions clear those that they do not expect: a Ctrl-C at that moment would be lost. Works in
    the main thread only, and where a signal has not been given another meaning.
    """
    alone = threading.current_thread() is threading.main_thread()
    usual = signal.getsignal(signal.SIGINT)
    if not alone or usual not in (signal.default_int_handler, signal.SIG_DFL):
        yield
        return
    over, reminds = threading.Event(), threading.Event()
    reminder = threading.Thread(target=_remind, args=(over, reminds), daemon=True)
    previous = sys.unraisablehook

    def interrupt(number: int, frame: FrameType | None) -> None:
        if reminder.ident is None:
            reminder.start()
        if reminds.is_set():
            reminds.clear()
            if over.is_set() or _is_handled():
                return
        raise KeyboardInterrupt

    def say(ignored: sys.UnraisableHookArgs) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            previous(ignored)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = say
    try:
        yield
    finally:
        over.set()
        if reminder.ident is not None:
            reminder.join()
        sys.unraisablehook = previous
        signal.signal(signal.SIGINT, usual)


def _remind(over: threading.Event, reminds: threading.Event) -> None:
    """Send the main thread a signal again and again, also while it waits for something."""
    while not over.wait(_AGAIN):
        reminds.set()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _is_handled() -> bool:
    """Return whether an interrupt is just being handled by what a block does at its end."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@final
class StopRequest:
    """While active, turns SIGINT and SIGTERM into a flag that the fit polls.

    A second signal raises :class:`KeyboardInterrupt`, which still lets temporary files be removed;
    a third ends the process at once. Works in the main thread only, as Python's signals do.
    """

    _SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, on_request: Callable[[], None]) -> None:
        """Prepare, without listening yet.

        Args:
          on_request: Called once, at the first signal; tells the user what will happen.
        """
        self._on_request = on_request
        self._count = 0
        self._previous: dict[signal.Signals, Any] = {}

    def requested(self) -> bool:
        """Return whether a stop was asked for."""
        return self._count > 0

    def __enter__(self) -> StopRequest:
        self._previous = {number: signal.signal(number, self._handle) for number in self._SIGNALS}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count == 1:
            self._on_request()
            return
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt
