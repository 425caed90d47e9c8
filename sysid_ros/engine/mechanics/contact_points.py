# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The points and axes of contacts of feet with a floor, compiled; see :mod:`.floor_contacts`."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import Six, compiled, cross
from sysid_ros.engine.mechanics.floor_contacts import Footing
from sysid_ros.engine.mechanics.kinematics import Pose
from sysid_ros.engine.mechanics.model_tables import Tables


@compiled
def reach_rim(t: Tables, rotation: FloatArray, k: int, out: Footing) -> None:
    """Write where a point of a cylinder is from its centre, and how that turns with the body."""
    out.reach[:] = 0.0
    out.roll[:] = 0.0
    axle, across, normal, rim = (
        t.feet.axle[k, 0],
        t.feet.axle[k, 1],
        t.feet.frame[k, 0],
        t.feet.rim[k],
    )
    a = (turned(rotation, 0, axle), turned(rotation, 1, axle), turned(rotation, 2, axle))
    if a[0] == 0.0 and a[1] == 0.0 and a[2] == 0.0:
        return
    along = a[0] * normal[0] + a[1] * normal[1] + a[2] * normal[2]
    if along > 0.0:
        a, along = (-a[0], -a[1], -a[2]), -along
    down = (a[0] * along - normal[0], a[1] * along - normal[1], a[2] * along - normal[2])
    square = down[0] * down[0] + down[1] * down[1] + down[2] * down[2]
    upright = square < 1e-15  # mjMINVAL
    if upright:
        down = (
            turned(rotation, 0, across),
            turned(rotation, 1, across),
            turned(rotation, 2, across),
        )
        square = 1.0
    extent = np.sqrt(square)
    u = (down[0] / extent, down[1] / extent, down[2] / extent)
    side = cross(u, a)
    for i in range(3):
        out.reach[i] = rim[0] * a[i] + rim[1] * u[i] + rim[2] * side[i]
    for j in range(3):
        about = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        da = cross(about, a)
        rise = da[0] * normal[0] + da[1] * normal[1] + da[2] * normal[2]
        dw = (da[0] * along + a[0] * rise, da[1] * along + a[1] * rise, da[2] * along + a[2] * rise)
        if upright:
            dw = cross(about, u)
        inward = dw[0] * u[0] + dw[1] * u[1] + dw[2] * u[2]
        du = (
            (dw[0] - inward * u[0]) / extent,
            (dw[1] - inward * u[1]) / extent,
            (dw[2] - inward * u[2]) / extent,
        )
        one, two = cross(du, a), cross(u, da)
        for i in range(3):
            out.roll[i, j] = rim[0] * da[i] + rim[1] * du[i] + rim[2] * (one[i] + two[i])


@compiled
def set_frame(t: Tables, pose: Pose, k: int, frame: FloatArray, turn: FloatArray) -> None:
    """Write normal and tangents, and how fast these turn about it with the body's rotation."""
    own, axis = t.feet.frame[k], t.feet.axis[k]
    turn[:] = 0.0
    for d in range(3):
        for i in range(3):
            frame[d, i] = own[d, i]
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
        return
    normal, first = frame[0], frame[1]
    for i in range(3):
        first[i] = turned(pose.rotation[t.feet.body[k]], i, axis)
    along = first[0] * normal[0] + first[1] * normal[1] + first[2] * normal[2]
    extent = np.sqrt(max(1e-30, 1.0 - along * along))
    for i in range(3):
        first[i] = (first[i] - along * normal[i]) / extent
    for i in range(3):
        one, two = (i + 1) % 3, (i + 2) % 3
        frame[2, i] = normal[one] * first[two] - normal[two] * first[one]
        turn[i] = normal[i] - along / extent * first[i]


@compiled
def turned(rotation: FloatArray, i: int, x: FloatArray | Six) -> float:
    """One component of a vector of a body."""
    result: float = rotation[i, 0] * x[0] + rotation[i, 1] * x[1] + rotation[i, 2] * x[2]
    return result
