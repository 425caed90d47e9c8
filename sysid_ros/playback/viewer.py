# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's interactive viewer with two robots: the measured one, and the model as its ghost."""

from __future__ import annotations

import time
import warnings
from typing import Any

import mujoco

from sysid_ros.errors import ErrorCode, SysidError
from sysid_ros.playback.recorded_motion import RobotMotion

_FRAME = 1.0 / 60.0  # s
GHOST = (0.1, 0.55, 1.0, 0.45)  # red, green, blue, opacity


class ViewError(SysidError):
    """Nothing can be shown here."""

    code = ErrorCode.DATA_UNUSABLE


def check_display() -> None:
    """Find out whether a window can be opened; MuJoCo's viewer would end the process.

    Raises:
      ViewError: There is no display, or no OpenGL library.
    """
    try:
        import glfw
    except ImportError as error:
        raise ViewError(f"MuJoCo's viewer needs the Python package glfw: {error}") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        works = bool(glfw.init())
    if not works:
        raise ViewError(
            "there is no display to open a window on; run this on a desktop, or look at the "
            "report, or replay the recording to a ROS machine that has one (sysid_ros replay)"
        )


def draw_ghost(scene: Any, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Replace what a scene holds by a translucent robot.

    Args:
      scene: An MjvScene, such as ``user_scn`` of a viewer's handle.
      model: The robot.
      data: Where it is; its kinematics must be up to date.
    """
    scene.ngeom = 0
    mujoco.mjv_addGeoms(
        model,
        data,
        mujoco.MjvOption(),
        mujoco.MjvPerturb(),
        int(mujoco.mjtCatBit.mjCAT_DYNAMIC),
        scene,
    )
    for geom in scene.geoms[: scene.ngeom]:
        geom.rgba[:] = GHOST
        geom.matid = -1
        geom.category = int(mujoco.mjtCatBit.mjCAT_DECOR)


def view(
    model: mujoco.MjModel, motion: RobotMotion, *, rate: float = 1.0, loop: bool = True
) -> None:
    """Show a motion until its window is closed.

    Args:
      model: The identified model.
      motion: What is shown: the measured robot solid, the simulated one as a ghost.
      rate: Speed; 1 is as it happened.
      loop: Whether to begin again at the end; otherwise the last instant stays.

    Raises:
      ViewError: There is no display.
    """
    check_display()
    import mujoco.viewer

    shown, ghost = mujoco.MjData(model), mujoco.MjData(model)
    try:
        opened = mujoco.viewer.launch_passive(model, shown, show_left_ui=False, show_right_ui=False)
    except RuntimeError as error:  # such as on macOS, where it takes the program mjpython
        raise ViewError(f"MuJoCo's viewer does not open: {error}") from error
    with opened as window:
        begin = time.monotonic()
        while window.is_running():
            elapsed = (time.monotonic() - begin) * rate
            if loop and motion.duration > 0.0:
                elapsed %= motion.duration
            row = motion.row_at(elapsed)
            with window.lock():
                for data, qpos in ((shown, motion.measured_qpos), (ghost, motion.simulated_qpos)):
                    data.qpos[:] = qpos[row]
                    mujoco.mj_forward(model, data)
                shown.time = motion.times[row]
                draw_ghost(window.user_scn, model, ghost)
            window.sync()
            time.sleep(_FRAME)
