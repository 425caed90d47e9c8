# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fitted recording as motions of the robot: measured, and simulated, to be looked at."""
