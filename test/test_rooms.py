# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rooms import one way: each only what stands before it, lazy imports and types included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "sysid_ros"
# ``sysid`` is the library's face; the rest of its folder is the engine.
FACE = {"__init__", "default_report", "library_outcome", "model_saving", "results_io"}
ORDER = (
    "errors", "files", "processes", "engine", "experiment", "recording", "robots", "dataset",
    "diagnosis", "proposal", "judgement", "terminal", "exports", "results", "run_logs",
    "playback", "video", "report", "search", "pipeline", "fit_page", "comparison",
    "excitation", "joint_monitor", "sysid", "nodes", "commands", "cli", "__main__",
)  # fmt: skip


def room_of(module: str) -> str:
    first, *rest = module.split(".")
    if first != "sysid":
        return first
    return "sysid" if (rest or ["__init__"])[0] in FACE else "engine"


def imports() -> Iterator[tuple[str, str]]:
    """Who imports whom, without the package's name."""
    modules = {
        ".".join(p.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): p
        for p in PACKAGE.rglob("*.py")
    }
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path} imports relatively"
                below = [f"{node.module}.{alias.name}" for alias in node.names]
                named = [b if b[10:] in modules else str(node.module) for b in below]
            else:
                continue
            for name in named:
                if name.startswith("sysid_ros.") and module != "__init__":
                    yield module, name.removeprefix("sysid_ros.")


def test_imports_point_to_earlier_rooms() -> None:
    found = set(imports())
    assert len(found) > 1000
    back = {
        (importer, imported)
        for importer, imported in found
        if ORDER.index(room_of(importer)) < ORDER.index(room_of(imported))
    }
    assert not back
