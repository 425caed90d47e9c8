# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of a contact's force as bodies are displaced, compiled; see :mod:`.floor_contacts`."""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    Three,
    add,
    compiled,
    compiled_apart,
    cross_motion,
    dot,
    load,
    scale,
)
from sysid_ros.engine.mechanics.contact_points import turned
from sysid_ros.engine.mechanics.floor_contacts import Footing
from sysid_ros.engine.mechanics.kinematics import Pose
from sysid_ros.engine.mechanics.model_tables import Tables


@compiled
def through(p: tuple[float, float, float], d: FloatArray) -> Six:
    """A unit force along ``d`` at ``p``, about the fixed point."""
    return (
        p[1] * d[2] - p[2] * d[1], p[2] * d[0] - p[0] * d[2], p[0] * d[1] - p[1] * d[0],
        d[0], d[1], d[2],
    )  # fmt: skip


@compiled
def moved(t: Tables, pose: Pose, body: int, rate: FloatArray, first: int) -> Six:
    """The motion of a body by the rates of its degrees of freedom from the ``first`` on."""
    result = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    i = t.body_lastdof[body]
    while i >= 0:
        if t.dof_first[i] >= first:
            result = add(result, scale(load(pose.subspace[i]), rate[i]))
        i = t.dof_parentid[i]
    return result


@compiled_apart
def displace(
    t: Tables,
    pose: Pose,
    k: int,
    s: Six,
    first: int,
    points: tuple[Three, Three],
    rates: tuple[FloatArray, FloatArray],
    motions: tuple[Six, Six],
    damping: float,
    by_depth: tuple[float, float],
    push: Six,
    out: Footing,
    changes: FloatArray,
    column: int,
) -> None:
    """Add the derivative of a contact's force as everything from one place on is displaced.

    Args:
      t: The model.
      pose: Where everything is.
      k: The foot.
      s: The twist of the displacement.
      first: The first degree of freedom that is displaced.
      points: The centre of the foot, and of the contact.
      rates: Joint velocities and accelerations, (nv,) each.
      motions: Those of the foot's body.
      damping: Of the contact.
      by_depth: What the depth alone changes: reference acceleration, and regularization.
      push: The contact's force.
      out: The contact; its ``violation`` is written.
      changes: Added to, (nv, columns).
      column: Where.
    """
    feet, body, center = t.feet, t.feet.body[k], points[0]
    normal, n = feet.frame[k, 0], feet.dimension[k]
    x = s[3] + s[1] * center[2] - s[2] * center[1] + turned(out.roll, 0, s)
    y = s[4] + s[2] * center[0] - s[0] * center[2] + turned(out.roll, 1, s)
    z = s[5] + s[0] * center[1] - s[1] * center[0] + turned(out.roll, 2, s)
    deeper = normal[0] * x + normal[1] * y + normal[2] * z
    half = 0.5 * deeper
    step = x - half * normal[0], y - half * normal[1], z - half * normal[2]
    speed = cross_motion(s, moved(t, pose, body, rates[0], first))
    gain = cross_motion(s, moved(t, pose, body, rates[1], first))
    change = out.violation
    for d in range(n):
        wrench = load(out.wrench[d])
        faster = dot(speed, wrench)
        more = dot(gain, wrench)
        if d < 3:
            shifted = through(step, out.frame[d])
            for i in range(3):
                faster += shifted[i] * motions[0][i]
                more += shifted[i] * motions[1][i]
        change[d] = more + damping * faster
    change[0] += by_depth[0] * deeper
    shifted_push = (
        step[1] * push[5] - step[2] * push[4],
        step[2] * push[3] - step[0] * push[5],
        step[0] * push[4] - step[1] * push[3],
        0.0, 0.0, 0.0,
    )  # fmt: skip
    rate = s[0] * out.turn[0] + s[1] * out.turn[1] + s[2] * out.turn[2]
    if rate != 0.0:
        for d in range(1, n - 1, 3):
            one, two = load(out.wrench[d]), load(out.wrench[d + 1])
            change[d] += rate * (dot(motions[1], two) + damping * dot(motions[0], two))
            change[d + 1] -= rate * (dot(motions[1], one) + damping * dot(motions[0], one))
            shifted_push = add(shifted_push, scale(two, rate * out.force[d]))
            shifted_push = add(shifted_push, scale(one, -rate * out.force[d + 1]))
    for d in range(n):
        own = out.force[d] * by_depth[1] * deeper
        for e in range(n):
            own -= out.curvature[d, e] * change[e]
        shifted_push = add(shifted_push, scale(load(out.wrench[d]), own))
    i = t.body_lastdof[body]
    while i >= 0:
        other = load(pose.subspace[i])
        entry = dot(other, shifted_push)
        if t.dof_first[i] >= first:
            entry += dot(cross_motion(s, other), push)
        changes[i, column] += entry
        i = t.dof_parentid[i]
