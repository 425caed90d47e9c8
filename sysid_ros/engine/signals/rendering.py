# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of simulated runs, several in one scene where wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals.initial_state import FULL_PHYSICS
from sysid_ros.errors import ModelError, SignalError

Frame = npt.NDArray[np.uint8]

_VISUALIZATION_GROUP = 3


def render_rollout(
    model: Any,
    data: Any,
    state: FloatArray,
    framerate: int,
    camera: str | int = -1,
    width: int = 640,
    height: int = 480,
    light_pos: Sequence[float] | None = None,
) -> list[Frame]:
    """Render one or several runs into the same scene; several appear as ghosts of each other.

    Needs a way to draw without a screen: set ``MUJOCO_GL`` to egl or osmesa.

    Args:
      model: One MjModel, or one per run, for example in different colours.
      data: An MjData to work with.
      state: Full-physics states, (runs, steps, nstate); steps with NaN are left out.
      framerate: Pictures per second of simulated time.
      camera: Camera name or id, -1 for the free one.
      width: Of the picture in pixels.
      height: Of the picture in pixels.
      light_pos: Where to add a spotlight that shines down, (3,) m.

    Returns:
      Pictures, (height, width, 3) each.

    Raises:
      SignalError: The number of models is not that of the runs.
      ModelError: There is nothing to draw with.
    """
    runs = len(state)
    models = [model] if isinstance(model, mujoco.MjModel) else list(model)
    models = models * runs if len(models) == 1 else models
    if len(models) != runs:
        raise SignalError(f"{len(models)} models were given for {runs} runs")
    options = mujoco.MjvOption()
    options.geomgroup[_VISUALIZATION_GROUP] = 1
    try:
        renderer = mujoco.Renderer(models[0], height=height, width=width)
    except Exception as error:  # its type depends on the graphics library
        raise ModelError(
            f"cannot draw without a screen ({error}); set MUJOCO_GL to egl or osmesa"
        ) from error
    frames = []
    with renderer:
        for step in _frame_steps(state.shape[1], float(models[0].opt.timestep), framerate):
            if np.isnan(state[:, step]).any():
                continue
            _draw(renderer, models, data, state[:, step], camera, options)
            if light_pos is not None:
                _add_light(renderer.scene, light_pos)
            frames.append(renderer.render())
    return frames


def _frame_steps(steps: int, timestep: float, framerate: int) -> list[int]:
    """The steps to draw: the first one after each picture's time."""
    chosen: list[int] = []
    for step in range(steps):
        if len(chosen) < step * timestep * framerate:
            chosen.append(step)
    return chosen


def _draw(
    renderer: Any, models: Sequence[Any], data: Any, states: FloatArray, camera: Any, options: Any
) -> None:
    for i, (model, state) in enumerate(zip(models, states, strict=True)):
        mujoco.mj_setState(model, data, state, FULL_PHYSICS)
        mujoco.mj_forward(model, data)
        if i == 0:
            renderer.update_scene(data, camera, scene_option=options)
        else:
            moving = int(mujoco.mjtCatBit.mjCAT_DYNAMIC)
            mujoco.mjv_addGeoms(model, data, options, mujoco.MjvPerturb(), moving, renderer.scene)


def _add_light(scene: Any, position: Sequence[float]) -> None:
    if scene.nlight >= len(scene.lights):
        return
    light = scene.lights[scene.nlight]
    light.type = mujoco.mjtLightType.mjLIGHT_SPOT
    light.pos = position
    light.dir = (0.0, 0.0, -1.0)
    light.ambient = (0.0, 0.0, 0.0)
    light.diffuse = (0.8, 0.8, 0.8)
    light.specular = (0.3, 0.3, 0.3)
    light.attenuation = (1.0, 0.0, 0.0)
    light.cutoff, light.exponent, light.headlight, light.castshadow = 45.0, 10.0, 0, 1
    scene.nlight += 1
