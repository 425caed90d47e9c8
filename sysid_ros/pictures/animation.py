# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of poses: a robot, with a coloured ghost where a model says it is."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
from PIL import Image, WebPImagePlugin

from sysid_ros.arrays import FloatArray
from sysid_ros.pictures.shown_poses import FRAMES_PER_SECOND, Poses, check_drawable, shown_geoms

WIDTH, HEIGHT = 320, 240  # of each of the two pictures side by side

_INITIAL = (0.85, 0.45, 0.05, 0.55)  # the report's colours of the curves
_FITTED = (0.04, 0.38, 0.77, 0.55)
_BACKGROUND = (0.93, 0.94, 0.96)
_GLOW = 100.0  # how much more the background shines than lights make it
_DISTANCE = 2.62  # times the radius of what moves, all within a field of view of 45 degrees
_TRAVEL = 3.0  # times its own radius: a robot that gets farther is followed
_ROOM = 1.6  # times its own radius: what is seen around a robot that is followed
_QUALITY = 70
_EFFORT = 2  # of 6: half the time of the usual 4, for a file 7 % larger
# Faces of all visible meshes, above which every second picture is left out; above four times as
# many, three of four. Without a graphics card a picture of 100 000 faces takes a tenth of a second.
_MANY_FACES = 20_000


def drawable_model(path: Path) -> mujoco.MjModel:
    """Load a compiled model such that it can be drawn quickly.

    Raises:
      DataError: Nothing of it would be visible.
      ValueError: It does not load.
    """
    model = mujoco.MjModel.from_binary_path(str(path))
    model.vis.quality.offsamples = 0  # smooth edges take most of the time without a graphics card
    model.vis.quality.shadowsize = 0  # nor is room for shadows made
    model.vis.headlight.ambient[:] = 0.4
    model.vis.headlight.diffuse[:] = 0.6
    model.vis.global_.offwidth, model.vis.global_.offheight = WIDTH, HEIGHT
    check_drawable(model)
    return model


def animation(model: mujoco.MjModel, poses: Poses) -> bytes:
    """Draw a robot with one ghost beside the same with another one, as animated WebP.

    The model is as from :func:`drawable_model`.
    """
    stride = _stride(model)
    given = ((poses.initial, _INITIAL), (poses.fitted, _FITTED))
    ghosts = [(each[::stride], colour) for each, colour in given if each is not None]
    solid = poses.measured[::stride]
    pictures = [Image.fromarray(each) for each in _pictures(model, solid, ghosts)]
    content = io.BytesIO()
    pictures[0].save(
        content,
        format=WebPImagePlugin.WebPImageFile.format,  # of the only plugin that is loaded
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 * stride / FRAMES_PER_SECOND),
        loop=0,
        quality=_QUALITY,
        method=_EFFORT,
        kmin=len(pictures),  # none but the first is tried whole, which only helps who seeks
        kmax=len(pictures) + 1,
    )
    return content.getvalue()


def _stride(model: mujoco.MjModel) -> int:
    """Return how many poses there are to a picture: 1, 2 or 4."""
    meshes = np.asarray(model.geom_type) == int(mujoco.mjtGeom.mjGEOM_MESH)
    shown = meshes & shown_geoms(model)
    faces = int(model.mesh_facenum[model.geom_dataid[shown]].sum())
    return 1 if faces <= _MANY_FACES else 2 if faces <= 4 * _MANY_FACES else 4


def _pictures(
    model: mujoco.MjModel, solid: FloatArray, ghosts: Sequence[tuple[FloatArray, Sequence[float]]]
) -> Iterator[npt.NDArray[np.uint8]]:
    """A picture per ghost side by side, (height, n * width, 3), for each pose; one without any.

    All are drawn by one renderer, which takes longer to set up than to draw a dozen pictures.
    """
    data = mujoco.MjData(model)
    camera, targets = _camera(model, data, solid)
    tinted = [_tinted(model, colour) for _, colour in ghosts]
    options = mujoco.MjvOption()
    with mujoco.Renderer(model, HEIGHT, WIDTH) as renderer:
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        for k, (here, target) in enumerate(zip(solid, targets, strict=True)):
            camera.lookat[:] = target
            drawn = []
            _show(renderer, model, data, camera, here)
            for ghostly, (there, _) in zip(tinted, ghosts, strict=True):
                _show(renderer, model, data, camera, here)
                _place(ghostly, data, there[k])
                moving = int(mujoco.mjtCatBit.mjCAT_DYNAMIC)
                mujoco.mjv_addGeoms(
                    ghostly, data, options, mujoco.MjvPerturb(), moving, renderer.scene
                )
                drawn.append(renderer.render().copy())
            yield np.hstack(drawn or [renderer.render().copy()])


def _show(
    renderer: Any, model: mujoco.MjModel, data: Any, camera: mujoco.MjvCamera, qpos: FloatArray
) -> None:
    """Make the scene that of one pose, before a bright background where there is no sky.

    A plane far away, as a sky of one colour takes twice the time of all else that is drawn.
    """
    _place(model, data, qpos)
    renderer.update_scene(data, camera)
    scene = renderer.scene
    sky = np.any(model.tex_type == int(mujoco.mjtTexture.mjTEXTURE_SKYBOX))
    if sky or scene.ngeom == scene.maxgeom:
        return
    eye = scene.camera[0]
    ahead, up, far = np.array(eye.forward), np.array(eye.up), 0.5 * eye.frustum_far
    plane = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(
        plane,
        mujoco.mjtGeom.mjGEOM_PLANE,
        np.array([far, far, 1.0]),
        eye.pos + far * ahead,
        np.stack([np.cross(ahead, up), up, -ahead], axis=1).ravel(),
        np.array([*_BACKGROUND, _GLOW], dtype=np.float32) / _GLOW,
    )
    plane.emission, plane.specular = _GLOW, 0.0
    scene.ngeom += 1


def _place(model: mujoco.MjModel, data: Any, qpos: FloatArray) -> None:
    data.qpos[:] = np.clip(qpos, -1e6, 1e6)  # a model that runs away must not stop the others
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)


def _tinted(model: mujoco.MjModel, colour: Sequence[float]) -> mujoco.MjModel:
    """A copy whose visible geoms all have one translucent colour."""
    tinted = copy.copy(model)
    visible = tinted.geom_rgba[:, 3] > 0.0
    tinted.geom_matid[:] = -1
    tinted.geom_rgba[visible] = colour
    return tinted


def _camera(
    model: mujoco.MjModel, data: Any, qpos: FloatArray
) -> tuple[mujoco.MjvCamera, FloatArray]:
    """A camera, and what it looks at in each picture, (n, 3).

    It sees all of the motion, or goes along with a robot that travels; it looks across the plane
    of a robot that has one.
    """
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    moving = model.body_weldid[model.geom_bodyid] != 0
    places = np.empty((len(qpos), int(moving.sum()), 3))
    for place, pose in zip(places, qpos, strict=True):
        _place(model, data, pose)
        place[:] = data.geom_xpos[moving]
    centres = 0.5 * (places.min(axis=1) + places.max(axis=1))
    middle = 0.5 * (places.min(axis=(0, 1)) + places.max(axis=(0, 1)))
    margin = float(model.geom_rbound[moving].max())
    size = float(np.linalg.norm(places - centres[:, None], axis=2).max()) + margin
    reach = float(np.linalg.norm(places - middle, axis=2).max()) + margin
    travels = reach > _TRAVEL * size
    camera.distance = _DISTANCE * (_ROOM * size if travels else reach)
    axes = data.xaxis[model.jnt_type == int(mujoco.mjtJoint.mjJNT_HINGE)]
    if len(axes) and np.all(np.abs(axes @ axes[0]) > 0.98) and abs(axes[0, 2]) < 0.3:
        camera.azimuth = float(np.degrees(np.arctan2(axes[0, 1], axes[0, 0])))
        camera.elevation = -5.0
    return camera, centres if travels else np.tile(middle, (len(qpos), 1))
