# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tasks for worker processes, which import this module."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from sysid_ros.errors import DataError


def square(number: int) -> int:
    """A quick one."""
    return number**2


def process_id(_: int) -> int:
    """Where it ran."""
    time.sleep(0.2)
    return os.getpid()


def fail(number: int) -> int:
    """Ends with an error of ours."""
    raise DataError(f"task {number} cannot be done")


def sleep_and_square(task: tuple[float, int]) -> int:
    """One that takes its time."""
    seconds, number = task
    time.sleep(seconds)
    return number**2


def die_once(task: tuple[str, int]) -> int:
    """Kills its process unless the marker file says that one has died; no file: always."""
    marker, number = task
    if not marker or (number == 3 and not Path(marker).exists()):
        if marker:
            Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2
