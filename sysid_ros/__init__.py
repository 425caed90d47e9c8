# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Record a robot on ROS 2 and find the MuJoCo model parameters that reproduce it."""

__version__ = "0.1.0"
