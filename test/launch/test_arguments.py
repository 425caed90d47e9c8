# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Defaults of launch arguments, which stand above the parameter file; read, as launch may lack."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "launch").glob("*.launch.py"))
LAUNCHING = (ROOT / "sysid_ros" / "nodes" / "launching.py").read_text(encoding="utf-8")
# Whether a robot moves unasked is said at every launch; a demo has folders of its own.
OWN = {"arm", "bag_dir", "output_dir"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_an_argument_that_is_not_given_leaves_a_parameter_to_the_file(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    defaults = dict(re.findall(r"^ +(\w+)=\((AS_IN_FILE|\"[^\"]*\"), \"", text, re.MULTILINE))
    used = set(re.findall(r"(?:text|flag|whole)\(\"(\w+)\"\)", text)) & set(defaults)
    allowed = OWN if file.name.startswith("demo") else {"arm"}
    assert used
    assert {name for name in used if defaults[name] != "AS_IN_FILE"} <= allowed


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_argument_is_used(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    own = re.findall(r"^ {8}(\w+)=[(A-Z]", text.partition("arguments(\n")[2], re.MULTILINE)
    used = set(re.findall(r"(?:text|flag|whole|LaunchConfiguration)\(\"(\w+)\"\)", text))
    used |= set(re.findall(r"only_if=\"(\w+)\"", text))
    used |= {"stay"} if "ending_node(" in text else set()
    assert own and set(own) <= used | {"params_file"}  # of which a demo has another default
    usual = re.findall(r"^ {8}\"(\w+)\": \(", LAUNCHING, re.MULTILINE)
    of_every_node = set(re.findall(r"(?:flag|LaunchConfiguration)\(\"(\w+)\"\)", LAUNCHING))
    assert usual and set(usual) <= of_every_node
