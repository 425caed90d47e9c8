# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Outlines of a body's geometry, to be drawn beside its ellipsoid of inertia."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import surface_points

_PLANES = ((0, 1), (0, 2))  # seen along z and along y
_TURN = np.linspace(0.0, 2.0 * np.pi, 33)


def body_outlines(model: mujoco.MjModel, body: int) -> tuple[FloatArray, ...]:
    """Silhouettes of the convex hull of a body's geoms in its frame, along z and along y.

    Returns:
      Points (2, 33) m in the plane xy and in the plane xz; nothing of a body without geometry.
    """
    points = surface_points(model, body)
    if not len(points):
        return ()
    around = np.stack([np.cos(_TURN), np.sin(_TURN)])
    planes = [points[:, list(plane)] for plane in _PLANES]
    return tuple(plane[np.argmax(plane @ around, axis=0)].T for plane in planes)
