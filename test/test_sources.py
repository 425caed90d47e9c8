# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What every source file must have."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("benchmark", "launch", "sysid_ros", "test", "tools")


@pytest.mark.parametrize("folder", FOLDERS)
def test_copyright_and_licence_are_stated(folder: str) -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")}
    assert sources
    without = [
        str(path.relative_to(ROOT))
        for path, text in sources.items()
        if text and "# SPDX-License-Identifier: Apache-2.0\n" not in text.splitlines(True)[:3]
    ]
    assert not without


@pytest.mark.parametrize(
    "init", sorted((ROOT / "sysid_ros").rglob("__init__.py")), ids=lambda i: i.parent.name
)
def test_no_module_takes_the_place_of_what_its_package_offers(init: Path) -> None:
    # A module that is imported later than its package becomes the package's attribute.
    for node in ast.walk(ast.parse(init.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                name = alias.asname or alias.name
                own_module = node.module.rpartition(".")[2] == name
                assert own_module or not (init.parent / f"{name}.py").exists(), name
