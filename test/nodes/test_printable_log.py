# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names from messages and files reach a node's log without their control sequences."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sysid_ros
from sysid_ros.nodes.printable_log import PrintableLog


class Logger:
    """Keeps what rclpy's would be given."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def __getattr__(self, severity: str):  # type: ignore[no-untyped-def]
        return lambda text: self.said.append((severity, text))


@pytest.mark.parametrize("severity", ["info", "warning", "error"])
def test_control_sequences_are_shown(severity: str) -> None:
    logger = Logger()
    getattr(PrintableLog(logger), severity)("joint \x1b[2Jwrist\nfailed")
    assert logger.said == [(severity, "joint \\x1b[2Jwrist\nfailed")]


def test_every_node_logs_through_it() -> None:
    nodes = Path(sysid_ros.__file__).parent / "nodes"
    for file in nodes.rglob("*.py"):
        if file.name == "printable_log.py":
            continue
        called = {
            node.func.attr
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        assert "get_logger" not in called, file
