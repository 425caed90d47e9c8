# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signals that end a node's process, as a flag that is asked for."""

from __future__ import annotations

import signal
from types import FrameType
from typing import final

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@final
class EndRequest:
    """SIGINT or SIGTERM, remembered from the first :meth:`listen` of the process on.

    As an exception an interrupt may be lost: Python ignores those that its callbacks raise, and
    every import runs one. A robot would go on moving.
    """

    def __init__(self) -> None:
        self._made = False

    @classmethod
    def listen(cls) -> EndRequest:
        """Return the request of this process, which listens from now on unless it does already."""
        handler = signal.getsignal(signal.SIGINT)
        request = handler if isinstance(handler, cls) else cls()
        for number in _SIGNALS:
            signal.signal(number, request)
        return request

    @staticmethod
    def ignore() -> None:
        """Ignore further signals: the process ends already."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def made(self) -> bool:
        """Return whether a signal has come."""
        return self._made

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Remember a signal, as its handler."""
        self._made = True
