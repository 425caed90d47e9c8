# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signals that end a node's process, as a flag that is asked for."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import final

# The last one comes where a terminal is closed or the connection to it breaks.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LAUNCHED_BY = "SYSID_ROS_LAUNCHED_BY"  # in the environment: the process of a launch, a number


@final
class EndRequest:
    """SIGINT, SIGTERM or SIGHUP, remembered from the first :meth:`listen` of the process on.

    As an exception an interrupt may be lost: Python ignores those that its callbacks raise, and
    every import runs one. A robot would go on moving.
    """

    def __init__(self) -> None:
        self._made = False

    @classmethod
    def listen(cls) -> EndRequest:
        """Return the request of this process, which listens from now on unless it does already.

        A launch that is killed makes it, too: nobody else would end what it has started.
        """
        handler = signal.getsignal(signal.SIGINT)
        request = handler if isinstance(handler, cls) else cls()
        for number in _SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, request)
        launch = os.environ.get(LAUNCHED_BY)
        if launch == str(os.getppid()):
            from sysid_ros.processes import die_with_parent  # imported while it listens already

            die_with_parent(signal.SIGINT)
            request._made |= launch != str(os.getppid())  # it died just now
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
