# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What goes wrong on purpose, with real nodes in real processes."""

import pytest

pytest.importorskip("rclpy", reason="the nodes need ROS 2 (rclpy)")

from node_fixtures import *  # noqa: F403 after the skip: it imports rclpy
