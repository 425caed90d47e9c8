# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What docs/architecture.md names is there, in the order in which it says."""

from __future__ import annotations

import ast
import re

import pytest
import test_structure
from docs_workshop import ROOT

PACKAGE = ROOT / "sysid_ros"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE)
STEPS = [row.split(" | ") for row in ROWS if row.startswith("`") and ".py` | " in row]


def test_the_rooms_are_listed_in_their_order() -> None:
    _, _, section = PAGE.partition("\n## The rooms\n")
    section, _, _ = section.partition("\n## ")
    assert tuple(re.findall(r"^\| `([a-z_.]+)` \|", section, re.MULTILINE)) == test_structure.ORDER


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_/0-9]+/[a-z_0-9/]*\.py)`", PAGE))))
def test_files_exist(path: str) -> None:
    assert (PACKAGE / path).is_file() or (ROOT / path).is_file()


@pytest.mark.parametrize(("function", "path"), [(s[0].strip("`"), s[1].strip("`")) for s in STEPS])
def test_the_steps_of_a_walk_are_where_they_are_said_to_be(function: str, path: str) -> None:
    found: list[ast.stmt] = ast.parse((PACKAGE / path).read_text(encoding="utf-8")).body
    for name in function.split("."):
        node = next(n for n in found if isinstance(n, NAMED) and n.name == name)
        found = node.body


NAMED = (ast.FunctionDef, ast.ClassDef)


def test_every_name_is_one_of_the_package() -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    known = {
        word
        for source in [*sources, test_structure.__file__, "ORDER sysid_ros"]
        for word in re.findall(r"\w+", source)
    }
    for name in re.findall(r"`([A-Za-z_][A-Za-z_.]+)`", PAGE):
        assert set(name.removesuffix(".py").split(".")) <= known, name
