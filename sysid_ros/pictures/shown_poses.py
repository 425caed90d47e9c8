# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The poses that are drawn, and what the process that draws them agrees on with its parent."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.errors import DataError

FRAMES_PER_SECOND = 6
NOTHING_TO_DRAW = 2  # exit status of the process where drawing would work
_SHOWN_GROUPS = 3  # MuJoCo draws geoms of groups 0, 1 and 2 by default


@dataclass(frozen=True)
class Poses:
    """Generalized positions at the instants of the pictures, (frames, nq) each.

    A picture beside another for each of the two ghosts; one picture where there is none.
    """

    measured: FloatArray
    initial: FloatArray | None = None
    fitted: FloatArray | None = None


def shown_geoms(model: mujoco.MjModel) -> BoolArray:
    """The geoms that are drawn, (ngeom,)."""
    return np.asarray((model.geom_group < _SHOWN_GROUPS) & (model.geom_rgba[:, 3] > 0.0))


def check_drawable(model: mujoco.MjModel) -> None:
    """Check that something of a model would be seen to move.

    Raises:
      DataError: Nothing would.
    """
    moving = model.body_weldid[model.geom_bodyid] != 0
    if not np.any(moving & shown_geoms(model)):
        raise DataError("the model has no visible geoms to draw")
