# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compile ahead of the first fit: ``python -m sysid_ros.engine.derivatives [--background]``."""

from __future__ import annotations

import os
import sys

from sysid_ros.engine.derivatives.compilation import BACKGROUND, NICENESS, entry_points

if __name__ == "__main__":
    if BACKGROUND in sys.argv:
        os.nice(NICENESS)
    entry_points()
