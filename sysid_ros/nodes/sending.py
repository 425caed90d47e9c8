# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages that the middleware may refuse for a moment, which must not end a node.

Fast DDS gives up after 100 ms where another thread of its own is held up meanwhile, as by a process
that was stopped while it read from shared memory. Then nothing was sent.
"""

from __future__ import annotations

from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.publisher import Publisher

from sysid_ros.nodes.printable_log import log_of

_OFTEN = 5.0  # s between two warnings


def send(node: Node, publisher: Publisher[Any], message: Any) -> bool:
    """Publish a message.

    Returns:
      Whether the middleware took it; a warning says so where it did not.
    """
    try:
        publisher.publish(message)
    except rclpy_implementation.RCLError as error:
        log_of(node).repeated_warning(
            f"a message to {publisher.topic_name} could not be sent: {error}", period=_OFTEN
        )
        return False
    return True
