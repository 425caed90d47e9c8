# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The progress of a compilation: the processor time so far, of what the last one here took.

On a busy machine minutes pass in which a process has little of it, so that a clock tells nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_USUAL = 70.0  # s of processor time, as long as none is known
_LEAST = 10.0  # s, less than any compilation takes: what was compiled before was only loaded
_TAKEN = "derivatives.seconds"  # files in the folder of the compiled code
_COMPILES = "derivatives.pid"
_STEPS = 10  # in which progress is told


@contextmanager
def compiling_in(folder: Path) -> Iterator[None]:
    """Let other processes see how far this one is, and keep what it took; never fails."""
    file, began = folder / _COMPILES, time.process_time()
    with suppress(OSError):
        file.write_text(f"{os.getpid()}\n", encoding="ascii")
    try:
        yield
        taken = time.process_time() - began
        if taken > _LEAST:
            with suppress(OSError):
                (folder / _TAKEN).write_text(f"{taken:.1f}\n", encoding="ascii")
    finally:
        with suppress(OSError):
            file.unlink()


def progress_in(folder: Path) -> str:
    """Say how much a compilation takes, and how much of that is done where it can be known."""
    taken = _number_in(folder / _TAKEN)
    usual = taken if _LEAST < taken < float("inf") else _USUAL
    said = f"once, about {usual:.0f} s of processor time"
    process = _number_in(folder / _COMPILES)
    used = _used_by(int(process)) if 0 < process < float("inf") else 0.0
    step = min(int(_STEPS * used / usual), _STEPS - 1)
    return f"{said}, {100 * step // _STEPS} % of it done" if step > 0 else said


def _number_in(file: Path) -> float:
    with suppress(OSError, ValueError):
        return float(file.read_text(encoding="ascii"))
    return 0.0


def _used_by(process: int) -> float:
    """The processor time of a process so far, s, as Linux tells it; 0 where nothing does."""
    with suppress(OSError, ValueError, IndexError):
        after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        user, system = after_name[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return 0.0
