# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The messages that the page explains are those that the package says."""

from __future__ import annotations

import ast
import re

import pytest
from docs_workshop import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
MESSAGES = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
SHORTEST = 5  # characters of a fragment that says anything


@pytest.fixture(scope="module")
def fixed_texts() -> str:
    """Every text in the package's sources, f-strings without what they fill in."""
    parts = []
    for path in (ROOT / "sysid_ros").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                parts.append(node.value)
    return "\n".join(parts)


def test_there_are_messages() -> None:
    assert len(MESSAGES) > 40


@pytest.mark.parametrize("message", MESSAGES)
def test_the_package_says_so(message: str, fixed_texts: str) -> None:
    fragments = [part.strip() for part in message.split("...")]
    for fragment in (part for part in fragments if len(part) >= SHORTEST):
        assert fragment in fixed_texts, f"nothing says {fragment!r} any more"
