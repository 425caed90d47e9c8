# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The examples of docs/library.md run, and its table is the library's."""

from __future__ import annotations

import re
from pathlib import Path

from sysid_ros.engine.attributes.attribute_table import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"


def test_examples_run_one_after_the_other(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{PAGE.name}, example {number}", "exec"), namespace)  # noqa: S102
    assert "CONVERGED mass: 1 in [0.3, 3]" in capsys.readouterr().out


def test_table_of_attributes_is_complete():
    listed = {}
    for element, attributes in re.findall(
        r"^\| (joint|body|site|actuator|geom|pair|tendon|option|signal) \| (.*) \|$",
        PAGE.read_text(),
        re.MULTILINE,
    ):
        listed[element] = set(attributes.split(", "))
    actual: dict[str, set[str]] = {}
    for element, attribute in table():
        actual.setdefault(element, set()).add(attribute)
    assert listed == actual
