# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A short animation of a result: the measured robot, and as ghosts the initial and fitted ones."""

from __future__ import annotations

from sysid_ros.video.making import Video, drawing, drawing_poses, read_video
from sysid_ros.video.poses import telling_stretch
