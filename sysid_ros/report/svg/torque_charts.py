# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Charts of a fit to measured torque: torque and its parts, friction, ellipsoids of inertia."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import rotation_matrix
from sysid_ros.engine.estimation import BodyFinding, JointFinding
from sysid_ros.engine.signals import rate_unit
from sysid_ros.report.svg.axis import Axis
from sysid_ros.report.svg.frame import Frame
from sysid_ros.report.svg.numbers import unit

_PLANES = ((0, 1, "z"), (0, 2, "y"))
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 61)


def torque_chart(joint: JointFinding) -> Markup:
    """Measured (bold) and predicted torque over time."""
    measured, predicted = joint.torque[0].tolist(), joint.torque[1].tolist()
    frame = _over_time(joint, [*measured, *predicted], "Measured and predicted torque")
    times = joint.times.tolist()
    return frame.svg(frame.path(times, measured, "initial"), frame.path(times, predicted, "fitted"))


def parts_chart(joint: JointFinding) -> Markup:
    """Predicted torque by gravity, inertia and friction over time."""
    gravity, inertia, friction = (row.tolist() for row in joint.torque[2:])
    frame = _over_time(joint, [*gravity, *inertia, *friction], "Gravity, inertia and friction")
    times = joint.times.tolist()
    return frame.svg(
        frame.path(times, gravity, "initial"),
        frame.path(times, inertia, "fitted"),
        frame.path(times, friction, "reference"),
    )


def friction_chart(joint: JointFinding) -> Markup:
    """Measured friction against velocity (dots) with the fitted law (line)."""
    x, y, law = (row.tolist() for row in (joint.velocity, joint.friction, joint.law))
    frame = Frame(
        Axis.over(x, f"velocity [{rate_unit(joint.unit)}]"),
        Axis.over([*y, *law, 0.0], f"friction [{unit(joint.unit)}]"),
        f"Friction of {joint.joint} against its velocity",
    )
    return frame.svg(frame.path(x, law, "fitted"), frame.dots(x, y))


def inertia_ellipsoid_charts(body: BodyFinding) -> tuple[Markup, ...]:
    """A body's ellipsoid of inertia in its geometry (dashed), seen along z and along y.

    It is the solid one with the body's mass and moments, around its centre of mass; the dot is the
    origin of the body's frame.
    """
    return tuple(_ellipsoid(body, view) for view in range(len(_PLANES)))


def _ellipsoid(body: BodyFinding, view: int) -> Markup:
    a, b, along = _PLANES[view]
    x, y = (row.tolist() for row in _outline(body, a, b))
    across, up = body.outlines[view].tolist() if body.outlines else ([], [])
    frame = Frame.to_scale(
        [*x, *across, 0.0],
        [*y, *up, 0.0],
        (f"{'xyz'[a]} [m]", f"{'xyz'[b]} [m]"),
        f"Ellipsoid of inertia of {body.body} along {along}: semi-axes "
        + ", ".join(f"{s:.3g} m" for s in _semi_axes(body)),
    )
    return frame.svg(
        frame.path(across, up, "reference"), frame.path(x, y, "fitted"), frame.dots([0.0], [0.0])
    )


def _over_time(joint: JointFinding, values: list[float], what: str) -> Frame:
    known = [value for value in values if np.isfinite(value)]
    return Frame(
        Axis.over(joint.times.tolist(), "time [s]", pad=0.02),
        Axis.over([*known, 0.0], f"torque [{unit(joint.unit)}]"),
        f"{what} of {joint.joint} in {joint.recording}",
    )


def _semi_axes(body: BodyFinding) -> FloatArray:
    """Of the solid ellipsoid with the body's mass and moments, (3,) m."""
    second = np.maximum(0.5 * body.moments.sum() - body.moments, 0.0)
    return np.asarray(np.sqrt(5.0 * second / max(body.mass, 1e-12)))


def _outline(body: BodyFinding, a: int, b: int) -> tuple[FloatArray, FloatArray]:
    """The silhouette of the ellipsoid in a plane of the body's frame, (61,) each."""
    axes = rotation_matrix(body.axes)
    shape = (axes * _semi_axes(body) ** 2) @ axes.T
    plane = shape[np.ix_([a, b], [a, b])]
    values, vectors = np.linalg.eigh(plane)
    circle = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    points = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    return points[0] + body.centre[a], points[1] + body.centre[b]
