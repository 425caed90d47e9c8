# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ctrl-C as a request: the first asks for an orderly end, the second aborts."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, final


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
