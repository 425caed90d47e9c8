# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names of nodes on ``/diagnostics``, which nodes of all namespaces share."""

from __future__ import annotations

from rclpy.node import Node


def diagnostic_name(node: Node, name: str = "") -> str:
    """The name with its namespace, such as ``left/recorder``; without one, just ``recorder``.

    Args:
      node: One that publishes or listens.
      name: Of another node, as seen from this one; the node itself where it is empty.
    """
    whole = node.resolve_service_name(name) if name else node.get_fully_qualified_name()
    return str(whole).strip("/")
