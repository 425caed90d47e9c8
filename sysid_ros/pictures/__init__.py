# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An animation of poses, drawn by a process of its own that loads little else."""

from __future__ import annotations

from sysid_ros.pictures.shown_poses import FRAMES_PER_SECOND, NOTHING_TO_DRAW, Poses, check_drawable
