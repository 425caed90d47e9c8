# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of a contact's place and force as bodies are displaced, compiled.

The frame of a contact moves with a twist of its own, which is a linear function of how the second
body is displaced against the first, and so does the depth: ``Footing.follow``. What both bodies
are displaced by alike, the frame follows, but for tangents that MuJoCo lays along the axes of the
world. See :mod:`.floor_contacts`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import (
    Six,
    Three,
    add,
    compiled,
    compiled_apart,
    cross,
    cross_force,
    cross_motion,
    dot,
    load,
    rotated,
    scale,
)
from sysid_ros.engine.mechanics.floor_contacts import Footing
from sysid_ros.engine.mechanics.kinematics import Pose
from sysid_ros.engine.mechanics.model_tables import Tables


class Contact(NamedTuple):
    """A contact that presses; the rest of it is in :class:`Footing`."""

    body: IntArray  # (2,)
    dimension: int
    n_dof: int  # how many degrees of freedom move its bodies
    motion: Six  # of the second body against the first, by ``Footing.rate``
    push: Six  # the force
    # what the depth alone changes
    deeper: float  # of the reference acceleration
    softer: float  # of the regularization


@compiled
def couple_bodies(t: Tables, one: int, two: int, out: Footing) -> int:
    """Write the degrees of freedom that move either body, and which; returns how many do."""
    i, j = t.body_lastdof[one], t.body_lastdof[two]
    count = 0
    while i >= 0 or j >= 0:
        last, side = max(i, j), 0
        if i == last:
            side, i = side - 1, t.dof_parentid[i]
        if j == last:
            side, j = side + 1, t.dof_parentid[j]
        out.dofs[count], out.side[last] = last, side
        count += 1
    return count


@compiled
def approach(
    t: Tables, pose: Pose, count: int, first: int, carried: tuple[bool, bool], out: Footing
) -> Six:
    """The motion of the second body against the first by ``out.rate`` of what is displaced."""
    result = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for c in range(count):
        i = out.dofs[c]
        if _displaced(t, i, first, carried, out):
            result = add(result, scale(load(pose.subspace[i]), out.side[i] * out.rate[i]))
    return result


@compiled
def _displaced(t: Tables, i: int, first: int, carried: tuple[bool, bool], out: Footing) -> bool:
    """Return whether a dof that moves one body only is displaced along with it."""
    if out.side[i] == 0 or t.dof_first[i] < first:
        return False
    return carried[1] if out.side[i] > 0 else carried[0]


@compiled_apart
def displace(
    t: Tables,
    pose: Pose,
    contact: Contact,
    s: Six,
    first: int,
    carried: tuple[bool, bool],
    out: Footing,
    changes: FloatArray,
    column: int,
) -> None:
    """Add the derivative of a contact's force as everything from one place on is displaced.

    Args:
      t: The model.
      pose: Where everything is.
      contact: The contact.
      s: The twist of the displacement.
      first: The first degree of freedom that is displaced.
      carried: Whether each of both bodies is.
      out: The contact, too; its ``violation`` is written.
      changes: Added to, (nv, columns).
      column: Where.
    """
    n, push = contact.dimension, contact.push
    frame, deeper = _follow(s, carried, out)
    own = cross_motion(s, approach(t, pose, contact.n_dof, first, carried, out))
    turning = add(own, scale(cross_motion(frame, contact.motion), -1.0))
    change = out.violation
    for d in range(n):
        change[d] = dot(turning, load(out.wrench[d]))
    change[0] += contact.deeper * deeper
    shifted = cross_force(frame, push)
    for d in range(n):
        more = out.force[d] * contact.softer * deeper
        for e in range(n):
            more -= out.curvature[d, e] * change[e]
        shifted = add(shifted, scale(load(out.wrench[d]), more))
    for c in range(contact.n_dof):
        i = out.dofs[c]
        other = load(pose.subspace[i])
        entry = dot(other, shifted)
        if _displaced(t, i, first, carried, out):
            entry += dot(cross_motion(s, other), push)
        changes[i, column] += out.side[i] * entry


@compiled
def _follow(s: Six, carried: tuple[bool, bool], out: Footing) -> tuple[Six, float]:
    """The twist of a contact's frame, and by how much the distance grows."""
    frame, deeper, f = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.0, out.follow
    if carried[0] != carried[1]:
        against = s if carried[1] else scale(s, -1.0)
        frame = (
            dot(load(f[0]), against), dot(load(f[1]), against), dot(load(f[2]), against),
            dot(load(f[3]), against), dot(load(f[4]), against), dot(load(f[5]), against),
        )  # fmt: skip
        deeper = dot(load(f[6]), against)
    if carried[0]:
        rate = out.spin[0] * s[0] + out.spin[1] * s[1] + out.spin[2] * s[2]
        frame = add(add(frame, s), scale(_about(out.place, out.frame[0]), rate))
    return frame, deeper


@compiled
def through(p: FloatArray, d: FloatArray) -> Six:
    """A unit force along ``d`` at ``p``, about the fixed point."""
    return (
        p[1] * d[2] - p[2] * d[1], p[2] * d[0] - p[0] * d[2], p[0] * d[1] - p[1] * d[0],
        d[0], d[1], d[2],
    )  # fmt: skip


@compiled
def _about(p: FloatArray, d: FloatArray) -> Six:
    """A unit turn about ``d`` through ``p``."""
    line = through(p, d)
    return line[3], line[4], line[5], line[0], line[1], line[2]


@compiled
def follow_plane(t: Tables, pose: Pose, k: int, center: Three, depth: float, out: Footing) -> None:
    """Write place and frame of the contact of a foot, and how they follow its body."""
    normal, behind = t.feet.frame[k, 0], t.feet.radius[k] + 0.5 * depth
    place, follow = out.place, out.follow
    for i in range(3):
        place[i] = center[i] + out.reach[i] - behind * normal[i]
    out.spin[:] = 0.0
    _set_frame(t, pose, k, out.frame, out.turn)
    for j in range(6):
        for i in range(3):
            out.step[i] = out.roll[i, j] if j < 3 else 0.0
        if j < 3:
            one, two = (j + 1) % 3, (j + 2) % 3
            out.step[two] += center[one]
            out.step[one] -= center[two]
        else:
            out.step[j - 3] = 1.0
        deeper, rate = 0.0, out.turn[j] if j < 3 else 0.0
        for i in range(3):
            deeper += normal[i] * out.step[i]
        line = _about(place, normal)
        for i in range(3):
            follow[i, j] = rate * line[i]
            follow[3 + i, j] = out.step[i] - 0.5 * deeper * normal[i] + rate * line[3 + i]
        follow[6, j] = deeper


@compiled
def reach_around(t: Tables, rotation: FloatArray, k: int, out: Footing) -> None:
    """Write where a point that goes around is from its centre, and how that turns with the body."""
    out.reach[:] = 0.0
    out.roll[:] = 0.0
    axes, rim = t.feet.axes[k], t.feet.rim[k]
    if rim[0] != 0.0 or rim[1] != 0.0 or rim[2] != 0.0:
        _reach_rim(t, rotation, k, out)
    elif axes[0, 0] != 0.0 or axes[0, 1] != 0.0 or axes[0, 2] != 0.0:
        _reach_lowest(t, rotation, k, out)


@compiled
def _reach_lowest(t: Tables, rotation: FloatArray, k: int, out: Footing) -> None:
    """The same of an ellipsoid, with half axes a and their sum S of a a^T: -S n / sqrt(n S n)."""
    normal = t.feet.frame[k, 0]
    g = _below(t, rotation, k, normal[0], normal[1], normal[2])
    extent = np.sqrt(g[0] * normal[0] + g[1] * normal[1] + g[2] * normal[2])
    for i in range(3):
        out.reach[i] = -g[i] / extent
    for j in range(3):
        about = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        turned = cross(about, (normal[0], normal[1], normal[2]))
        one, two = cross(about, g), _below(t, rotation, k, turned[0], turned[1], turned[2])
        longer = (one[0] * normal[0] + one[1] * normal[1] + one[2] * normal[2]) / extent
        for i in range(3):
            out.roll[i, j] = -(one[i] - two[i] + longer * out.reach[i]) / extent


@compiled
def _below(t: Tables, rotation: FloatArray, k: int, x: float, y: float, z: float) -> Three:
    """The matrix S of an ellipsoid in the world times a vector."""
    found = (0.0, 0.0, 0.0)
    for row in range(3):
        a = rotated(rotation, t.feet.axes[k, row])
        along = a[0] * x + a[1] * y + a[2] * z
        found = (found[0] + along * a[0], found[1] + along * a[1], found[2] + along * a[2])
    return found


@compiled
def _reach_rim(t: Tables, rotation: FloatArray, k: int, out: Footing) -> None:
    """The same of a cylinder."""
    axle, across, normal, rim = (
        t.feet.axes[k, 0],
        t.feet.axes[k, 1],
        t.feet.frame[k, 0],
        t.feet.rim[k],
    )
    a = rotated(rotation, axle)
    along = a[0] * normal[0] + a[1] * normal[1] + a[2] * normal[2]
    if along > 0.0:
        a, along = (-a[0], -a[1], -a[2]), -along
    down = (a[0] * along - normal[0], a[1] * along - normal[1], a[2] * along - normal[2])
    square = down[0] * down[0] + down[1] * down[1] + down[2] * down[2]
    upright = square < 1e-15  # mjMINVAL
    if upright:
        down = rotated(rotation, across)
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
def _set_frame(t: Tables, pose: Pose, k: int, frame: FloatArray, turn: FloatArray) -> None:
    """Write normal and tangents, and how fast these turn about it with the body's rotation."""
    own, axis = t.feet.frame[k], t.feet.axis[k]
    turn[:] = 0.0
    for d in range(3):
        for i in range(3):
            frame[d, i] = own[d, i]
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
        return
    normal, first = frame[0], frame[1]
    along_axis = rotated(pose.rotation[t.feet.pairs.body[k, 1]], axis)
    along = along_axis[0] * normal[0] + along_axis[1] * normal[1] + along_axis[2] * normal[2]
    extent = np.sqrt(max(1e-30, 1.0 - along * along))
    for i in range(3):
        first[i] = (along_axis[i] - along * normal[i]) / extent
    for i in range(3):
        one, two = (i + 1) % 3, (i + 2) % 3
        frame[2, i] = normal[one] * first[two] - normal[two] * first[one]
        turn[i] = normal[i] - along / extent * first[i]
