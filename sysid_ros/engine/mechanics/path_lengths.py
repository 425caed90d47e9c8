# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lengths of paths with their first and second derivatives, compiled; see :mod:`.paths`.

With l a segment's length as a function of its points x, y relative to the frame's body, g and H
its gradient and Hessian, and J the speed of the points relative to the frame per speed of joints,

    dl/dq = g . J,    d(g . J)/dq_j = (w_j x g + H J_j) . J + g . dJ/dq_j

where w_j is the turning of the frame. Around a circle of radius R, from distances r and s of its
centre and through the angle phi between the points, l = f(r) + f(s) + R phi with
f(r) = sqrt(r^2 - R^2) - R acos(R / r), however the points lie; around a cylinder the height z adds
sqrt(l^2 + z^2), the length on the cylinder unrolled.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    Three,
    add,
    at_point,
    compiled,
    compiled_apart,
    cross,
    cross_motion,
    dot,
    force_at,
    load,
    rotated,
    scalar,
)
from sysid_ros.engine.mechanics.kinematics import Pose
from sysid_ros.engine.mechanics.lines import Course
from sysid_ros.engine.mechanics.model_tables import Tables
from sysid_ros.engine.mechanics.paths import AROUND_CYLINDER, FIRST, FRAME, ROD, SECOND, STRAIGHT

_TINY = 1e-15  # mjMINVAL


@compiled_apart
def lay(t: Tables, q: FloatArray, pose: Pose, bends: bool) -> None:
    """Write the lengths of all lines, their slopes and, where asked for, how these change.

    Args:
      t: The model; ``lines.course``, and ``lines.coefficient`` of paths, are written.
      q: Joint positions, (nq,).
      pose: Where everything is.
      bends: Whether the slopes' derivatives are wanted.
    """
    lines, course = t.lines, t.lines.course
    for k in range(lines.equality.size):
        begin, end = lines.path.first[k], lines.path.first[k + 1]
        total = 0.0
        for i in range(lines.first[k], lines.first[k + 1]):
            if begin == end:
                total += lines.coefficient[i] * q[lines.address[i]]
                continue
            lines.coefficient[i] = 0.0
            course.bend[i] = 0.0
        course.extent[k] = total
        for s in range(begin, end):
            _add_segment(t, pose, k, s, bends)


@compiled
def _add_segment(t: Tables, pose: Pose, k: int, s: int, bends: bool) -> None:
    """Add one segment's share to its line."""
    lines, path, course = t.lines, t.lines.path, t.lines.course
    x = _in_world(pose, path.body[s, FIRST], path.point[s, FIRST])
    y = _in_world(pose, path.body[s, SECOND], path.point[s, SECOND])
    centre = _in_world(pose, path.body[s, FRAME], path.centre[s])
    share = path.share[s]
    course.extent[k] += share * _measure(t, pose, s, x, y, centre)
    g = course.gradient
    one, two = force_at(x, (g[0], g[1], g[2])), force_at(y, (g[3], g[4], g[5]))
    first = lines.first[k]
    for i in range(lines.first[k + 1] - first):
        by_frame = path.carried[s, FRAME, i]
        in_one, in_two = path.carried[s, FIRST, i] - by_frame, path.carried[s, SECOND, i] - by_frame
        if in_one == 0 and in_two == 0:
            continue
        motion = load(pose.subspace[lines.dof[first + i]])
        lines.coefficient[first + i] += share * (
            in_one * dot(motion, one) + in_two * dot(motion, two)
        )
        if bends:
            _add_bend(t, pose, k, s, i, x, y, one, two)


@compiled
def _add_bend(
    t: Tables, pose: Pose, k: int, s: int, j: int, x: Three, y: Three, one: Six, two: Six
) -> None:
    """Add the derivatives of one segment's slopes in the position of entry ``j`` of its line."""
    lines, path, course = t.lines, t.lines.path, t.lines.course
    first = lines.first[k]
    dof = lines.dof[first + j]
    turning, by_frame = load(pose.subspace[dof]), path.carried[s, FRAME, j]
    in_one, in_two = path.carried[s, FIRST, j] - by_frame, path.carried[s, SECOND, j] - by_frame
    dx, dy = at_point(turning, x), at_point(turning, y)
    d_one, d_two = _turned(course, turning, by_frame, in_one, dx, in_two, dy)
    change_one = add(force_at(x, d_one), _carried_along(path.carried[s, FIRST, j], dx, one))
    change_two = add(force_at(y, d_two), _carried_along(path.carried[s, SECOND, j], dy, two))
    for i in range(lines.first[k + 1] - first):
        by_frame = path.carried[s, FRAME, i]
        in_one, in_two = path.carried[s, FIRST, i] - by_frame, path.carried[s, SECOND, i] - by_frame
        if in_one == 0 and in_two == 0:
            continue
        other = lines.dof[first + i]
        motion = load(pose.subspace[other])
        change = in_one * dot(motion, change_one) + in_two * dot(motion, change_two)
        if lines.related[other, dof] and t.dof_first[dof] <= t.dof_first[other]:
            moved = cross_motion(turning, motion)
            change += in_one * dot(moved, one) + in_two * dot(moved, two)
        course.bend[first + i, j] += path.share[s] * change


@compiled
def _turned(
    course: Course, turning: Six, by_frame: int, in_one: int, dx: Three, in_two: int, dy: Three
) -> tuple[Three, Three]:
    """The change of both parts of the gradient as the frame turns and the points move in it."""
    g, h = course.gradient, course.curvature
    spin = by_frame * turning[0], by_frame * turning[1], by_frame * turning[2]
    a, b = cross(spin, (g[0], g[1], g[2])), cross(spin, (g[3], g[4], g[5]))
    moved = (
        in_one * dx[0], in_one * dx[1], in_one * dx[2],
        in_two * dy[0], in_two * dy[1], in_two * dy[2],
    )  # fmt: skip
    return (
        (
            a[0] + dot(load(h[0]), moved),
            a[1] + dot(load(h[1]), moved),
            a[2] + dot(load(h[2]), moved),
        ),
        (
            b[0] + dot(load(h[3]), moved),
            b[1] + dot(load(h[4]), moved),
            b[2] + dot(load(h[5]), moved),
        ),
    )


@compiled
def _carried_along(moves: int, step: Three, push: Six) -> Six:
    """The change of a force about the fixed point as the point that it acts at moves."""
    moment = cross(step, (push[3], push[4], push[5]))
    return moves * moment[0], moves * moment[1], moves * moment[2], 0.0, 0.0, 0.0


@compiled
def _in_world(pose: Pose, body: int, local: FloatArray) -> Three:
    x, y, z = rotated(pose.rotation[body], local)
    position = pose.position[body]
    return position[0] + x, position[1] + y, position[2] + z


@compiled
def _measure(t: Tables, pose: Pose, s: int, x: Three, y: Three, centre: Three) -> float:
    """A segment's length; writes its gradient and its Hessian by the two points, in the world."""
    path, course = t.lines.path, t.lines.course
    course.gradient[:] = 0.0
    course.curvature[:] = 0.0
    if path.kind[s] == STRAIGHT:
        return _distance(x, y, course)
    axis = rotated(pose.rotation[path.body[s, FRAME]], path.axis[s])
    one = x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]
    if path.kind[s] == ROD:
        return _push_rod(one, axis, path.size[s], course)
    two = y[0] - centre[0], y[1] - centre[1], y[2] - centre[2]
    side = _in_world(pose, path.body[s, FRAME], path.side[s])
    side = side[0] - centre[0], side[1] - centre[1], side[2] - centre[2]
    flat, height = (0.0, 0.0, 0.0), 0.0
    if path.kind[s] == AROUND_CYLINDER:
        height = scalar(two, axis) - scalar(one, axis)
        flat = axis
    length = _go_around(
        _flattened(one, flat), _flattened(two, flat), _flattened(side, flat), path.size[s],
        path.sided[s], path.kind[s] == AROUND_CYLINDER, course,
    )  # fmt: skip
    if length < 0.0:
        return _distance(x, y, course)
    return _unroll(length, height, axis, course) if path.kind[s] == AROUND_CYLINDER else length


@compiled
def _along(a: Three, s: float, b: Three, r: float) -> Three:
    """``a s + b r``."""
    return a[0] * s + b[0] * r, a[1] * s + b[1] * r, a[2] * s + b[2] * r


@compiled
def _flattened(a: Three, axis: Three) -> Three:
    """A vector without its part along an axis."""
    return _along(a, 1.0, axis, -scalar(a, axis))


@compiled_apart
def _add_outer(h: FloatArray, row: int, column: int, s: float, a: Three, b: Three) -> None:
    """Add ``s a b^T`` to a block of a Hessian."""
    for i in range(3):
        for j in range(3):
            h[row + i, column + j] += s * a[i] * b[j]


@compiled
def _set_gradient(course: Course, place: int, g: Three) -> None:
    for i in range(3):
        course.gradient[place + i] = g[i]


@compiled_apart
def _distance(x: Three, y: Three, course: Course) -> float:
    """The distance of two points."""
    away, h = _along(x, 1.0, y, -1.0), course.curvature
    length: float = np.sqrt(scalar(away, away))
    if length < _TINY:
        return length
    u = _along(away, 1.0 / length, away, 0.0)
    _set_gradient(course, 0, u)
    _set_gradient(course, 3, _along(u, -1.0, u, 0.0))
    for i in range(3):
        for j in range(3):
            entry = ((1.0 if i == j else 0.0) - u[i] * u[j]) / length
            h[i, j] = h[3 + i, 3 + j] = entry
            h[i, 3 + j] = h[3 + i, j] = -entry
    return length


@compiled
def _push_rod(pin: Three, axis: Three, rod: float, course: Course) -> float:
    """The place along its axis of a slider that a rod connects with a pin."""
    place, away = scalar(pin, axis), _flattened(pin, axis)
    square = rod * rod - scalar(away, away)
    _set_gradient(course, 0, axis)
    if square <= 0.0:
        return place
    reach: float = np.sqrt(square)
    _set_gradient(course, 0, _along(axis, 1.0, away, 1.0 / reach))
    for i in range(3):
        for j in range(3):
            entry = ((1.0 if i == j else 0.0) - axis[i] * axis[j]) / reach
            course.curvature[i, j] = entry + away[i] * away[j] / (reach * square)
    return place - reach


@compiled
def _go_around(
    one: Three, two: Three, side: Three, radius: float, sided: int, flat: bool, course: Course
) -> float:
    """The length around a circle in the plane of both points; -1 where that is not the way.

    Args:
      one: A point relative to the centre.
      two: The other.
      side: A point on the side to go around, likewise.
      radius: Of the circle.
      sided: Whether the side matters.
      flat: Whether the points stay in one plane.
      course: Gradient and Hessian are written.
    """
    r, s = np.sqrt(scalar(one, one)), np.sqrt(scalar(two, two))
    if r < max(radius, _TINY) or s < max(radius, _TINY):
        return -1.0
    u, v = _along(one, 1.0 / r, one, 0.0), _along(two, 1.0 / s, two, 0.0)
    cosine = scalar(u, v)
    normal = cross(u, v)
    sine = np.sqrt(scalar(normal, normal))
    if sine < _TINY:
        return -1.0
    to_two, to_one = (
        _along(v, 1.0 / sine, u, -cosine / sine),
        _along(u, 1.0 / sine, v, -cosine / sine),
    )
    sign = _direction(r, s, cosine, sine, (scalar(side, u), scalar(side, to_two)), radius, sided)
    if sign == 0.0:
        return -1.0
    angle = np.arctan2(sine, cosine)
    bent, h = sign * radius, course.curvature
    normal = _along(normal, 1.0 / sine, normal, 0.0)
    across = bent / sine
    _add_end(course, 0, r, (u, to_two, normal), bent, across * cosine, flat)
    _add_end(course, 3, s, (v, to_one, normal), bent, across * cosine, flat)
    if not flat:
        _add_outer(h, 0, 3, -across / (r * s), normal, normal)
        _add_outer(h, 3, 0, -across / (r * s), normal, normal)
    turned: float = angle if sign > 0.0 else 2.0 * np.pi - angle
    return _straight_part(r, radius) + _straight_part(s, radius) + radius * turned


@compiled
def _straight_part(r: float, radius: float) -> float:
    """The tangent from a distance to a circle less the arc that it saves."""
    tangent: float = np.sqrt(r * r - radius * radius) - radius * np.arccos(radius / r)
    return tangent


@compiled_apart
def _add_end(
    course: Course,
    place: int,
    r: float,
    axes: tuple[Three, Three, Three],
    bent: float,
    bow: float,
    flat: bool,
) -> None:
    """Add one point's part of gradient and Hessian.

    Args:
      course: Added to.
      place: Of the point in them.
      r: Its distance from the centre.
      axes: Towards it; across that towards the other point; across the plane of both.
      bent: The radius, negative for the other way around.
      bow: What the angle between the points adds across their plane.
      flat: Whether the points stay in it.
    """
    (u, m, b), h = axes, course.curvature
    tangent = np.sqrt(r * r - bent * bent)
    _set_gradient(course, place, _along(u, tangent / r, m, -bent / r))
    if tangent > _TINY:
        _add_outer(h, place, place, bent * bent / (r * r * tangent), u, u)
    _add_outer(h, place, place, tangent / (r * r), m, m)
    _add_outer(h, place, place, bent / (r * r), u, m)
    _add_outer(h, place, place, bent / (r * r), m, u)
    if not flat:
        _add_outer(h, place, place, (tangent + bow) / (r * r), b, b)


@compiled
def _unroll(flat: float, height: float, axis: Three, course: Course) -> float:
    """From the length around a circle to that around a cylinder, with gradient and Hessian."""
    length: float = np.sqrt(flat * flat + height * height)
    g, h = course.gradient, course.curvature
    for i in range(6):
        rise_i = -axis[i] if i < 3 else axis[i - 3]
        for j in range(6):
            rise_j = -axis[j] if j < 3 else axis[j - 3]
            slopes = (flat * g[i] + height * rise_i) * (flat * g[j] + height * rise_j)
            h[i, j] = (
                flat * h[i, j] + g[i] * g[j] + rise_i * rise_j - slopes / (length * length)
            ) / length
    for i in range(6):
        rise_i = -axis[i] if i < 3 else axis[i - 3]
        g[i] = (flat * g[i] + height * rise_i) / length
    return length


@compiled
def _direction(
    r: float,
    s: float,
    cosine: float,
    sine: float,
    side: tuple[float, float],
    radius: float,
    sided: int,
) -> float:
    """The way around a circle: 1 through the angle between the points, -1 the other way, 0 none.

    The first point is at (r, 0) and the second at s (cosine, sine). A tendon that is across from
    its side goes around; another one does where the circle is in its way.
    """
    if sided and side[1] < 0.0 and side[0] * sine < side[1] * cosine:
        return -1.0
    step = s * cosine - r, s * sine
    square = step[0] * step[0] + step[1] * step[1]
    if square < _TINY:
        return 0.0
    share = min(max(-step[0] * r / square, 0.0), 1.0)
    near = r + share * step[0], share * step[1]
    return 1.0 if near[0] * near[0] + near[1] * near[1] <= radius * radius else 0.0
