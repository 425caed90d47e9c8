# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The examples of docs/library.md run."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"


def test_examples_run_one_after_the_other(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{PAGE.name}, example {number}", "exec"), namespace)  # noqa: S102
    assert "CONVERGED mass: 1 in [0.3, 3]" in capsys.readouterr().out
