# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the documentation names exists, and what it shows as an experiment is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_workshop import ROOT

from sysid_ros.commands import COMMANDS
from sysid_ros.errors import ErrorCode
from sysid_ros.experiment import parse_experiment

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(page)):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_experiments_are_valid(page: Path) -> None:
    for block in re.findall(r"```yaml experiment\n(.*?)```", text_of(page), re.DOTALL):
        assert parse_experiment(block).parameters


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_modules_and_commands_exist(page: Path) -> None:
    text = text_of(page)
    for path in re.findall(r"`((?:test|benchmark|examples|launch|config)/[\w/.]+(?<!json))`", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"(?:`|-m )(sysid_ros(?:\.[a-z_]+){2,}|benchmark(?:\.[a-z_]+)+)", text):
        place = ROOT / name.replace(".", "/")
        assert place.is_dir() or place.with_suffix(".py").exists() or _defined(place), name
    for command in re.findall(r"`sysid_ros ([a-z]+)", text):
        assert command in {module.__name__.rsplit(".", 1)[-1] for module in COMMANDS}


def _defined(place: Path) -> bool:
    """Whether the module that a dotted name ends in has something of that name."""
    file = (
        place.parent / "__init__.py" if place.parent.is_dir() else place.parent.with_suffix(".py")
    )
    return file.exists() and bool(re.search(rf"\b{place.name}\b", file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_imported_is_offered_to_users(page: Path) -> None:
    # Type checkers refuse what a typed package's face imports without saying that it offers it.
    shown = r"^\s*from (sysid_ros\.[\w.]+) import \(?([\w,\s]+?)(?:\)|\n\S|\n\n|$)"
    for room, names in re.findall(shown, text_of(page), re.MULTILINE):
        face = ROOT / room.replace(".", "/") / "__init__.py"
        module = face if face.exists() else face.parent.with_suffix(".py")
        for name in re.findall(r"\w+", names):
            offered = rf'"{name}"|\b{name} as {name}$|^(?:def|class) {name}\b'
            assert re.search(offered, text_of(module), re.MULTILINE), (room, name)


def test_the_readme_shows_an_experiment() -> None:
    assert "```yaml experiment" in text_of(ROOT / "README.md")


def test_commands_targets_and_launch_files_exist() -> None:
    readme = text_of(ROOT / "README.md")
    commands = {module.__name__.rsplit(".", 1)[-1] for module in COMMANDS}
    for command in re.findall(r"^    (?:\.venv/bin/python -m )?sysid_ros ([a-z]+) ", readme, re.M):
        assert command in commands
    targets = re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.M)
    pages = "\n".join(text_of(page) for page in PAGES)
    for target in re.findall(r"`make ([a-z-]+)`", pages):
        assert target in targets
    for launch_file in re.findall(r"[a-z]+\.launch\.py", pages):
        assert (ROOT / "launch" / launch_file).exists()


def test_the_index_names_every_page() -> None:
    index = text_of(ROOT / "docs" / "README.md")
    named = set(re.findall(r"\]\(([a-z_]+\.md)\)", index))
    assert named == {page.name for page in PAGES} - {"README.md"}


def test_error_codes_are_all_listed() -> None:
    page = text_of(ROOT / "docs" / "commands.md")
    for code in ErrorCode:
        assert f"| {code.value} |" in page
        assert code is ErrorCode.NONE or code.name in page
