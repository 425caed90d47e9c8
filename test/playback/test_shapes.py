# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots look in ROS as they look in MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.playback.shapes import ShapeKind, shapes_of

MODEL = """<mujoco><asset><material name="red" rgba="1 0 0 0.5"/>
  <mesh name="tetra" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/><geom type="box" size="1 1 1"/>
  <body name="b"><joint/>{geom}<geom name="hidden" size="1" group="3"/>
  <geom name="clear" size="1" rgba="1 1 1 0"/></body></worldbody></mujoco>"""


def shapes(geom: str):
    return shapes_of(mujoco.MjModel.from_xml_string(MODEL.format(geom=geom)))


@pytest.mark.parametrize(
    ("geom", "kind", "scale"),
    [
        ('type="sphere" size="0.1"', ShapeKind.SPHERE, [0.2, 0.2, 0.2]),
        ('type="box" size="0.1 0.2 0.3"', ShapeKind.BOX, [0.2, 0.4, 0.6]),
        ('type="ellipsoid" size="0.1 0.2 0.3"', ShapeKind.SPHERE, [0.2, 0.4, 0.6]),
        ('type="cylinder" size="0.1 0.3"', ShapeKind.CYLINDER, [0.2, 0.2, 0.6]),
    ],
)
def test_plain_shapes(geom: str, kind: ShapeKind, scale: list[float]) -> None:
    (shape,) = shapes(f'<geom {geom} pos="1 2 3" euler="0 0 90" material="red"/>')
    assert (shape.body, shape.kind) == ("b", kind)
    np.testing.assert_allclose(shape.scale, scale)
    np.testing.assert_allclose(shape.position, [1, 2, 3])
    np.testing.assert_allclose(shape.quaternion, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    np.testing.assert_allclose(shape.rgba, [1, 0, 0, 0.5])


def test_a_capsule_reaches_from_end_to_end() -> None:
    tube, first, second = shapes('<geom type="capsule" size="0.1" fromto="0 0 0 2 0 0"/>')
    np.testing.assert_allclose(tube.scale, [0.2, 0.2, 2.0])
    ends = sorted([first.position[0], second.position[0]])
    np.testing.assert_allclose(ends, [0.0, 2.0], atol=1e-12)
    assert first.kind is second.kind is ShapeKind.SPHERE


def test_meshes_are_triangles_where_they_were_given() -> None:
    (shape,) = shapes('<geom type="mesh" mesh="tetra" pos="5 0 0"/>')
    assert shape.corners.shape == (12, 3)
    moved = np.empty_like(shape.corners)
    for row, corner in zip(moved, shape.corners, strict=True):
        mujoco.mju_rotVecQuat(row, corner, shape.quaternion)
    corners = {tuple(np.round(corner, 6) + 0.0) for corner in moved + shape.position}
    assert corners == {(5, 0, 0), (6, 0, 0), (5, 1, 0), (5, 0, 1)}
