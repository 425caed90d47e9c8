# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The example of docs/friction.md runs and does what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sysid_ros.engine.friction.models import COEFFICIENTS

MOTOR = {"model": "m1", "actuator": "xl330", "q_offset": 0.0, "friction_viscous": 0.051,
      "friction_base": 0.1}  # fmt: skip
PAGE = Path(__file__).parents[3] / "docs" / "friction.md"


def test_the_examples_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("xl330_m6.json").write_text(json.dumps(MOTOR))
    files, loop = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for block in (loop, files):
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102
    assert capsys.readouterr().out == "m5\n"
    assert json.loads(Path("copy.json").read_text()) == MOTOR


def test_the_table_of_parameters_is_the_code_s() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, known in COEFFICIENTS.items():
        row = (
            f"| `{name}` | {known.unit} | {known.initial:g} | {known.lower:g} .. {known.upper:g} |"
        )
        assert row.replace("|  |", "| |") in page, row
