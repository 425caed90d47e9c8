# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What every source file must have."""

from __future__ import annotations

import ast
import subprocess
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


def test_no_output_of_a_run_is_among_the_sources() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(
        ["git", "ls-files", "*progress.csv", "*residuals.npz"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert not listed


PACKAGES = sorted(path.parent for path in (ROOT / "sysid_ros").rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_module_takes_the_place_of_what_its_package_offers(package: Path) -> None:
    # A module that is imported later than its package becomes the package's attribute.
    modules = {path.stem for path in package.glob("*.py")}
    for node in ast.walk(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            origin = node.module.rpartition(".")[2]
            taken = {alias.asname or alias.name for alias in node.names} & modules - {origin}
            assert origin == package.name or not taken


def test_parts_of_scipy_are_loaded_when_they_are_used() -> None:
    # ``import scipy`` finds them on demand; imported by name they take a second of every start.
    for path in (ROOT / "sysid_ros").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                assert not [a.name for a in node.names if a.name.startswith("scipy.")], path
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("scipy."), path
