# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A node's log, in which control sequences are shown rather than obeyed.

Logs end on terminals, and what is logged names topics, files and joints that others have chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from sysid_ros.printable import printable


@dataclass(frozen=True)
class PrintableLog:
    """Writes to one logger of rclpy's."""

    logger: Any

    def info(self, text: str) -> None:
        """Log what goes on."""
        self.logger.info(printable(text))

    def warning(self, text: str, **often: Any) -> None:
        """Log what somebody should look at; ``often`` are rclpy's words on how often at most."""
        self.logger.warning(printable(text), **often)

    def error(self, text: str) -> None:
        """Log what went wrong."""
        self.logger.error(printable(text))


def log_of(node: Node) -> PrintableLog:
    """Return the log of a node."""
    return PrintableLog(node.get_logger())
