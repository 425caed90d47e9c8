# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiled functions that Python calls, and their constants; numba takes half a second."""

from __future__ import annotations

from sysid_ros.engine.compiled import soon_loaded
from sysid_ros.engine.regressor import filter_kernel, regressor_kernel
from sysid_ros.engine.regressor.regressor_kernel import MUJOCO_LAW, VELOCITY_LAW

fill = soon_loaded(regressor_kernel.fill)
torques = soon_loaded(regressor_kernel.torques)
thin = soon_loaded(filter_kernel.thin)
weighted_windows = soon_loaded(filter_kernel.weighted_windows)

__all__ = ["MUJOCO_LAW", "VELOCITY_LAW", "fill", "thin", "torques", "weighted_windows"]
