# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The commands that README and docs show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@dataclass(frozen=True)
class Command:
    """One command as a reader would type it."""

    page: Path
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}: {self.text[:70]}"

    def program(self, programs: Sequence[str]) -> str:
        """The longest of some programs that it begins with; empty for none."""
        found = [p for p in programs if self.text == p or self.text.startswith((p + " ", p + "."))]
        return max(found, key=len, default="")


def commands_on(page: Path, programs: Sequence[str]) -> list[Command]:
    """Commands in shell blocks, and lines of indented blocks that begin with a program."""
    text = page.read_text(encoding="utf-8")
    lines: list[str] = []
    for block in re.findall(r"```(?:bash|sh|shell)\n(.*?)```", text, re.DOTALL):
        lines += joined(block).splitlines()
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for line in joined(outside).splitlines():
        if line.startswith("    ") and Command(page, line.strip()).program(programs):
            lines.append(line)
    return [Command(page, line.strip()) for line in lines if line.strip()]


def joined(text: str) -> str:
    """Text whose continued lines are one."""
    return re.sub(r"\\\n\s*", "", text)
