# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A short animation of a motion that is planned, for its page."""

from __future__ import annotations

import tempfile
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import places_in_qpos
from sysid_ros.excitation.design.designed_motion import DesignedMotion
from sysid_ros.excitation.design.servos import ServoMotion
from sysid_ros.pictures import FRAMES_PER_SECOND, Poses
from sysid_ros.video import Video, drawing_poses

FRAMES = 100  # at the most; longer motions are shown faster


def shown_speed(duration: float) -> float:
    """By how much a motion of so many seconds is shown faster than it is."""
    return max(1.0, duration * FRAMES_PER_SECOND / FRAMES)


def motion_video(
    spec: mujoco.MjSpec, home: FloatArray, motion: DesignedMotion, followed: ServoMotion | None
) -> Video:
    """Draw a motion of a robot; as its ghost, what the robot makes of it under its own servos.

    Args:
      spec: The robot.
      home: Posture of the whole model, (nq,).
      motion: The motion.
      followed: Under servos, if there are any.
    """
    rate = FRAMES_PER_SECOND / shown_speed(motion.duration)
    times = np.arange(0.0, motion.duration, 1.0 / rate)
    model = spec.compile()
    planned = np.tile(home, (len(times), 1))
    planned[:, places_in_qpos(model, motion.joints)] = motion.values(times)
    ghost = None if followed is None else followed.at(times).qpos
    shown = Poses(planned, fitted=ghost)
    with (
        tempfile.TemporaryDirectory() as folder,
        drawing_poses(model, shown, Path(folder)) as video,
    ):
        return video()
