# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's timers, at rest while nobody reads them.

MuJoCo's Python package has every step ask for the time some twenty times, which takes some 30 % of
the step of a small robot, and offers no way to leave it: its setter of ``mjcb_time`` knows its own
clock or another, but not none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import mujoco

from sysid_ros.closing import shared_by_blocks


@shared_by_blocks
@contextmanager
def timers_at_rest() -> Iterator[None]:
    """Leave the durations in ``MjData.timer`` as they are in every step inside the block.

    The clock is the process's; the previous one is back afterwards. Blocks may be nested and
    overlap in several threads.
    """
    clock = _clock()
    before, clock.value = clock.value, None
    yield
    clock.value = before


@cache
def _clock() -> ctypes.c_void_p:
    """MuJoCo's pointer to its clock; of another build, whose timers go on, a pointer of no use."""
    try:
        library = ctypes.CDLL(mujoco._functions.__file__)
        return ctypes.c_void_p.in_dll(library, "mjcb_time")
    except (AttributeError, OSError, ValueError):
        return ctypes.c_void_p()
