# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lifecycle node ``estimator``: parameters while the robot moves."""
