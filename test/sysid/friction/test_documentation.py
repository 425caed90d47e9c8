"""The example of docs/friction.md runs and does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sysid_ros.sysid.friction.models import COEFFICIENTS

PAGE = Path(__file__).parents[3] / "docs" / "friction.md"


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102
    assert capsys.readouterr().out == "m5\n"


def test_the_table_of_parameters_is_the_code_s() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, known in COEFFICIENTS.items():
        row = (
            f"| `{name}` | {known.unit} | {known.initial:g} | {known.lower:g} .. {known.upper:g} |"
        )
        assert row.replace("|  |", "| |") in page, row
