# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The poses that are drawn, and what the process that draws them agrees on with its parent."""

from __future__ import annotations

from dataclasses import dataclass

from sysid_ros.arrays import FloatArray

FRAMES_PER_SECOND = 6
NOTHING_TO_DRAW = 2  # exit status of the process where drawing would work


@dataclass(frozen=True)
class Poses:
    """Generalized positions at the instants of the pictures, (frames, nq) each.

    A picture beside another for each of the two ghosts; one picture where there is none.
    """

    measured: FloatArray
    initial: FloatArray | None = None
    fitted: FloatArray | None = None
