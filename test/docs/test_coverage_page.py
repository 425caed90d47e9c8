# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""docs/coverage.md names nothing that does not exist."""

from __future__ import annotations

import importlib.util
import re

import mujoco
import pytest
from docs_workshop import ROOT

from sysid_ros import sysid
from sysid_ros.engine.attributes.attribute_table import table
from sysid_ros.experiment.experiment_schema import Experiment, SequenceConfig, ValidationConfig
from sysid_ros.experiment.fit_schema import FitConfig, InitialStateConfig, WindowConfig
from sysid_ros.experiment.section import keys_of

PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ", 1) for line in PAGE.splitlines() if line.startswith("| ")]
HERE = " ".join(right for _, right in ROWS)
SECTIONS = {
    "fit": FitConfig,
    "windows": WindowConfig,
    "initial_state": InitialStateConfig,
    "validation": ValidationConfig,
}


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`sysid\.([A-Za-z_.]+)", PAGE))))
def test_library_names_exist(name: str) -> None:
    found: object = sysid
    for part in name.split("."):
        found = getattr(found, part)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(mujoco\.\w+)[`.]", HERE))))
def test_names_of_mujoco_exist(name: str) -> None:
    attribute = name.split(".")[1]
    assert hasattr(mujoco, attribute) or importlib.util.find_spec(name) is not None


def test_experiment_keys_exist() -> None:
    named = re.findall(r"`(fit|windows|initial_state|validation)\.(\w+)`", HERE)
    assert len(named) > 8
    for section, key in named:
        assert key in keys_of(SECTIONS[section]), f"{section}.{key}"
    for key in ("sequences", "modifiers"):
        assert f"`{key}`" in HERE
        assert key in keys_of(Experiment)
    assert "conditions" in keys_of(SequenceConfig)


def test_attributes_exist() -> None:
    named = {word for _, right in ROWS if "attribute" in right for word in quoted(right)}
    attributes = {attribute for _, attribute in table()}
    known = attributes | {"dcmotor", "sysid.lookup"}
    plain = {word for word in named if re.fullmatch(r"[a-z_]+", word)}
    assert plain <= known, plain - known
    assert len(plain) > 10


def test_every_document_of_the_references_has_its_section() -> None:
    assert [line for line in PAGE.splitlines() if line.startswith("## ")] == [
        "## The README of mujoco.sysid",
        "## The notebook of mujoco.sysid",
        "## BAM: fitting friction models to actuator logs",
        "## mujoco-py",
        "## MuJoCo's Python bindings",
    ]
    assert all(right.strip(" |") for _, right in ROWS)
