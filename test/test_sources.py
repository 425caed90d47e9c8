# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What every source file must have."""

from __future__ import annotations

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
