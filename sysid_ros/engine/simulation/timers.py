# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's timers, at rest while nobody reads them.

MuJoCo's Python package has every step ask for the time some twenty times, which takes some 30 % of
the step of a small robot, and offers no way to leave it: its setter of ``mjcb_time`` knows its own
clock or another, but not none.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import mujoco


@contextmanager
def timers_at_rest() -> Iterator[None]:
    """Leave the durations in ``MjData.timer`` as they are in every step inside the block.

    The clock is the process's; the previous one is back afterwards. Blocks may be nested and
    overlap in several threads.
    """
    slot = _slot()
    slot.enter()
    try:
        yield
    finally:
        slot.leave()


class _Slot:
    """MuJoCo's one clock, and how many blocks do without it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        try:
            library = ctypes.CDLL(mujoco._functions.__file__)
            self._clock = ctypes.c_void_p.in_dll(library, "mjcb_time")
        except (AttributeError, OSError, ValueError):  # another build: its timers go on
            self._clock = ctypes.c_void_p()
        self._before: int | None = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before, self._clock.value = self._clock.value, None
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._clock.value = self._before


@lru_cache(maxsize=1)
def _slot() -> _Slot:
    return _Slot()
