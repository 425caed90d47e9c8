# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names from messages and files reach a node's log without their control sequences."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from rclpy.logging import get_logger

import sysid_ros
from sysid_ros.nodes.printable_log import PrintableLog


class Logger:
    """Keeps what rclpy's would be given."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def __getattr__(self, severity: str):  # type: ignore[no-untyped-def]
        return lambda text, **how: self.said.append((severity, text))


@pytest.mark.parametrize("severity", ["info", "warning", "error"])
def test_control_sequences_are_shown(severity: str) -> None:
    logger = Logger()
    getattr(PrintableLog(logger), severity)("joint \x1b[2Jwrist\nfailed")
    assert logger.said == [(severity, "joint \\x1b[2Jwrist\nfailed")]


def test_calls_that_are_filtered_and_others_get_along(capfd: pytest.CaptureFixture[str]) -> None:
    """In rclpy's own logger, which refuses calls from one line with different filters."""
    log = PrintableLog(get_logger("printable"))
    for _ in range(3):
        log.repeated_warning("again \x1b[2J", period=1e6)
        log.warning("each time")
        log.info("and this")
        log.error("and that")
    said = capfd.readouterr().err
    assert said.count("again \\x1b[2J") == 1
    assert said.count("each time") == 3


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
