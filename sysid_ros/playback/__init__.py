# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fitted recording as motions of the robot: measured, and simulated, to be looked at."""

from __future__ import annotations

from sysid_ros.playback.frames import Frame, frames_of
from sysid_ros.playback.joint_positions import configurations, shown_joints
from sysid_ros.playback.recorded_motion import SIMULATED, RobotMotion, load_motion
from sysid_ros.playback.shapes import Shape, ShapeKind, shapes_of
from sysid_ros.playback.viewer import GHOST, check_display, view
