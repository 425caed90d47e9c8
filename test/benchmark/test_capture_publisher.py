# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the publisher of the benchmark counts as sent."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

pytest.importorskip("rclpy", reason="recording needs ROS 2 (rclpy)")

from rclpy.impl.implementation_singleton import rclpy_implementation

from benchmark.capture_publisher import Stream


def test_what_the_middleware_gives_up_is_sent_later() -> None:
    taken: list[bytes] = []
    refusals = [rclpy_implementation.RCLError("cannot publish data")]

    def publish(content: bytes) -> None:
        if refusals:
            raise refusals.pop()
        taken.append(content)

    stream = Stream(MagicMock(publish=publish), [bytearray(b"a")], False, period=0.1)
    stream.send_due(0.2, limit=10)
    assert (len(taken), stream.sent) == (3, 3)
