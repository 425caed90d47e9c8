# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot's shapes as markers, which RViz and Foxglove draw where its frames are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Point
from visualization_msgs.msg import Marker, MarkerArray

from sysid_ros.playback import Shape, ShapeKind

_TYPES = {
    ShapeKind.BOX: Marker.CUBE,
    ShapeKind.SPHERE: Marker.SPHERE,
    ShapeKind.CYLINDER: Marker.CYLINDER,
    ShapeKind.TRIANGLES: Marker.TRIANGLE_LIST,
}


def robot_markers(
    shapes: Sequence[Shape], robot: str, stamp: Any, colour: Sequence[float] | None
) -> MarkerArray:
    """Markers that move with the frames ``<robot>/<body>``.

    Args:
      shapes: The robot's.
      robot: Prefix of its frames.
      stamp: A ``builtin_interfaces/Time``.
      colour: Red, green, blue and opacity instead of the shapes' own.
    """
    return MarkerArray(
        markers=[_marker(shape, i, robot, stamp, colour) for i, shape in enumerate(shapes)]
    )


def _marker(
    shape: Shape, number: int, robot: str, stamp: Any, colour: Sequence[float] | None
) -> Marker:
    marker = Marker(ns=robot, id=number, type=_TYPES[shape.kind], action=Marker.ADD)
    marker.header.frame_id, marker.header.stamp = f"{robot}/{shape.body}", stamp
    marker.frame_locked = True  # follows its frame although it is sent once
    place, turn = marker.pose.position, marker.pose.orientation
    place.x, place.y, place.z = shape.position.tolist()
    turn.w, turn.x, turn.y, turn.z = shape.quaternion.tolist()
    marker.scale.x, marker.scale.y, marker.scale.z = shape.scale.tolist()
    red, green, blue, opacity = colour or shape.rgba.tolist()
    marker.color.r, marker.color.g, marker.color.b = red, green, blue
    marker.color.a = opacity
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in shape.corners.tolist()]
    return marker
