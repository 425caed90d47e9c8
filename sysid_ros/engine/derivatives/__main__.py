# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compile ahead of the first fit: ``python -m sysid_ros.engine.derivatives [--background]``.

With ``--in-turn`` for the process that started it, which waits, and with which it ends.
"""

from __future__ import annotations

import os
import sys

from sysid_ros.engine.derivatives.compilation import BACKGROUND, IN_TURN, NICENESS, compile_here
from sysid_ros.processes import die_with_parent

if __name__ == "__main__":
    if BACKGROUND in sys.argv:
        os.nice(NICENESS)
    if IN_TURN in sys.argv:
        die_with_parent()
    compile_here(in_turn=IN_TURN in sys.argv)
