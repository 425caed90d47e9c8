# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contacts move with their geoms, against differences of whole models."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.mechanics import touches_of

VERTICES = np.random.default_rng(2).normal(size=(20, 3)) * (0.03, 0.02, 0.025)
ASSETS = f"""<asset><mesh name="stone" vertex="{" ".join(map(str, VERTICES.ravel()))}"/>
  <hfield name="ground" nrow="4" ncol="4" size="1 1 0.3 0.1"
  elevation="0 1 3 2 3 2 4 5 1 6 3 2 9 4 3 2"/></asset>"""
SPHERE, CAPSULE = 'type="sphere" size="0.03"', 'type="capsule" size="0.02 0.06"'
BOX, CYLINDER = 'type="box" size="0.05 0.04 0.03"', 'type="cylinder" size="0.03 0.04"'
ELLIPSOID, MESH = 'type="ellipsoid" size="0.03 0.04 0.05"', 'type="mesh" mesh="stone"'
PLANE, GROUND = 'type="plane" size="1 1 1"', 'type="hfield" hfield="ground"'
CONVEX = {ELLIPSOID, MESH}  # which MuJoCo's steps towards each other find to a micrometre at best
STEP = 1e-6


def model_of(one: str, two: str, *, still: bool) -> mujoco.MjModel:
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    first = f"<geom {one}/>" if still else f"<body><freejoint/>{inertial}<geom {one}/></body>"
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option ccd_tolerance="1e-14"/>{ASSETS}<worldbody>{first}
        <body><freejoint/>{inertial}<geom {two}/></body></worldbody></mujoco>"""
    )


def displaced(q: FloatArray, body: int, twist: FloatArray) -> FloatArray:
    """Positions with a free body moved by a twist about the origin."""
    own, turn = q.copy(), Rotation.from_rotvec(twist[:3])
    place = slice(7 * body, 7 * body + 3)
    own[place] = turn.apply(own[place]) + twist[3:]
    quaternion = own[7 * body + 3 : 7 * body + 7]
    turned = turn * Rotation.from_quat(quaternion, scalar_first=True)
    quaternion[:] = turned.as_quat(scalar_first=True)
    return own


def contacts(model: mujoco.MjModel, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    found = data.contact
    return np.array(found.dist), np.array(found.pos), np.reshape(found.frame, (-1, 3, 3)).copy()


@pytest.mark.parametrize(
    ("one", "two", "place", "turn"),
    [
        (SPHERE, SPHERE, (0.03, 0.03, 0.03), (0.3, 0.0, 0.0)),
        (SPHERE, CAPSULE, (0.03, 0.03, 0.02), (1.3, 0.4, 0.0)),
        (CAPSULE, CAPSULE, (0.03, 0.01, 0.02), (1.3, 0.4, 0.0)),
        (BOX, SPHERE, (0.01, 0.01, 0.055), (0.1, 0.2, 0.4)),
        (CAPSULE, BOX, (0.01, 0.01, 0.045), (0.1, 1.6, 0.4)),
        (BOX, BOX, (0.01, 0.02, 0.055), (0.03, 0.04, 0.3)),
        (SPHERE, CYLINDER, (0.01, 0.01, 0.065), (0.1, 0.2, 0.4)),
        (BOX, ELLIPSOID, (0.01, 0.01, 0.075), (0.1, 0.2, 0.4)),
        (MESH, CAPSULE, (0.01, 0.01, 0.05), (1.5, 0.2, 0.4)),
        (MESH, BOX, (0.01, 0.01, 0.055), (0.05, 0.02, 0.4)),
        (PLANE, ELLIPSOID, (0.01, 0.01, 0.035), (0.1, 0.2, 0.4)),
        (PLANE, MESH, (0.01, 0.01, 0.02), (0.1, 0.2, 0.4)),
        (PLANE, CYLINDER, (0.01, 0.01, 0.027), (1.5, 0.2, 0.4)),
        (GROUND, ELLIPSOID, (0.1, 0.12, 0.14), (1.5, 0.2, 0.4)),
    ],
)
def test_contacts_follow_both_geoms(
    one: str, two: str, place: tuple[float, ...], turn: tuple[float, ...]
) -> None:
    still = one in (PLANE, GROUND)
    within = 1e-3 if {one, two} & CONVEX and one != PLANE else 1e-6
    model = model_of(one, two, still=still)
    q, moving = np.array(model.qpos0), 1 - still
    q[7 * moving :][:7] = *place, *Rotation.from_rotvec(turn).as_quat(scalar_first=True)
    if not still:  # the tangents lie along the axes of the world
        for body in range(2):
            q = displaced(q, body, np.array([0.3, -0.5, 0.8, 0.1, 0.2, -0.4]))
    told, (depth, point, frame) = touches_of(model, q[np.newaxis], ()), contacts(model, q)
    assert told.pair.size == len(depth) > 0
    np.testing.assert_allclose(told.depth, depth, atol=1e-9)
    for body in range(model.nbody - 1):
        second = told.pairs.body[0, 1] == body + 1
        for twist in np.eye(6):
            ahead, behind = (
                contacts(model, displaced(q, body, side * STEP * twist)) for side in (1.0, -1.0)
            )
            slopes = [(a - b) / (2.0 * STEP) for a, b in zip(ahead, behind, strict=True)]
            follow = told.follow @ (twist if second else -twist)
            turned, moved = follow[:, :3], follow[:, 3:6]
            if not second:
                rate = (told.spin @ twist[:3])[:, np.newaxis]
                turned = turned + twist[:3] + rate * frame[:, 0]
                moved = moved + twist[3:] + rate * np.cross(point, frame[:, 0])
            expected = (
                follow[:, 6],
                moved + np.cross(turned, point),
                np.cross(turned[:, np.newaxis], frame),
            )
            size = within * (1.0 + np.abs(slopes[2]).max())
            for right, slope in zip(expected, slopes, strict=True):
                np.testing.assert_allclose(right, slope, atol=size)


def test_what_has_no_derivative_is_not_told() -> None:
    """Parallel faces: which of two boxes tells the normal changes with every small turn."""
    model = model_of(BOX, BOX, still=False)
    q = np.array(model.qpos0)
    q[7:10] = 0.01, 0.02, 0.055
    assert len(contacts(model, q)[0]) > 0
    assert touches_of(model, q[np.newaxis], ()).pair.size == 0


@pytest.mark.parametrize("depth", [1e-12, 3e-7, 0.999e-6])
def test_contacts_that_only_just_touch_have_derivatives(depth: float) -> None:
    """Wheels of light robots press floors in by a micrometre; moved up by one they leave it."""
    model = model_of(PLANE, ELLIPSOID, still=True)
    q = np.array(model.qpos0)
    q[2] = 0.05 - depth
    told = touches_of(model, q[np.newaxis], ())
    assert told.pair.size == 1
    np.testing.assert_allclose(told.follow[0, 6], (0, 0, 0, 0, 0, 1), atol=1e-6)


def test_many_contacts_at_once_have_the_derivatives_of_each_alone() -> None:
    """A box on rough ground has dozens, each of which is asked for thirteen times."""
    spec = mujoco.MjSpec()
    heights = np.random.default_rng(0).random(1600).astype(np.float32)
    spec.add_hfield(name="rough", nrow=40, ncol=40, size=[2.0, 2.0, 0.1, 0.1], userdata=heights)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="rough")
    body = spec.worldbody.add_body(pos=[0.0, 0.0, 0.12])
    body.add_freejoint()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.3, 0.3, 0.05])
    model = spec.compile()
    alone = touches_of(model, model.qpos0[np.newaxis], ()).pair.size
    assert alone > 20
    assert touches_of(model, np.tile(model.qpos0, (64, 1)), ()).pair.size == 64 * alone
