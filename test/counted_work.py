# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Work that is counted rather than timed, so that no load of the machine changes it."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls_of(function: Callable[[], object]) -> int:
    """The number of calls that a function makes in this thread, of Python's and of C's functions.

    What one such call does within a library is not seen.
    """
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count
