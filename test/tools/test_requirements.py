# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pinned versions go with every Python that the package is said to run on."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

_FILES = sorted((Path(__file__).parents[2] / "requirements").glob("*.txt"))


def _pinned() -> Iterator[Requirement]:
    for file in _FILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            if "==" in (wanted := line.partition("#")[0]):
                yield Requirement(wanted)


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13", "3.14"])
def test_what_is_pinned_runs_on_every_python(python: str) -> None:
    """Each pin without another version for an older Python, as far as it is installed here."""
    refused = []
    for one in _pinned():
        if one.marker is not None and not one.marker.evaluate({"python_version": python}):
            continue
        try:
            found = importlib.metadata.distribution(one.name)
        except importlib.metadata.PackageNotFoundError:
            continue  # on other Pythons only
        runs_on = SpecifierSet(found.metadata.get("Requires-Python") or "")
        if one.specifier.contains(found.version) and not runs_on.contains(f"{python}.99"):
            refused.append(f"{one} runs on Python {runs_on}")
    assert not refused


def test_every_python_has_a_version_of_each_package() -> None:
    pins = list(_pinned())
    for name in {one.name for one in pins if one.marker is None}:
        assert sum(one.name == name for one in pins) == 1, name
