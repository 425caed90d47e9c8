# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Speed of the identification against ``mujoco.sysid``, as ratios within one run."""
