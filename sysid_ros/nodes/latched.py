# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The quality of service of topics whose latest message also reaches who comes later."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
