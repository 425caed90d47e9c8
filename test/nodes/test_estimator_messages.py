# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An identified body as a message has the same inertia."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.estimation import BodyFinding

pytest.importorskip("rclpy", reason="the messages need ROS 2 (rclpy)")

from sysid_ros.nodes.estimator.messages import inertia  # after the skip


def test_inertia_is_along_the_axes_of_the_frame():
    quarter = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # about z: x becomes y
    body = BodyFinding(
        "payload", 0.7, np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), quarter, np.ones(4),
        on_edge=False,
    )  # fmt: skip
    message = inertia(body, "hand", 5_000_000_007)
    assert (message.header.frame_id, message.header.stamp.sec) == ("hand", 5)
    assert message.header.stamp.nanosec == 7
    found = message.inertia
    assert (found.m, found.com.x, found.com.z) == (0.7, 0.1, 0.3)
    assert (found.ixx, found.iyy, found.izz) == pytest.approx((2.0, 1.0, 3.0))
    assert found.ixy == pytest.approx(0.0)
