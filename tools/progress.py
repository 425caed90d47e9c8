# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a person sees of the stages that run: one line that is kept up to date, or plain lines.

On a terminal the line shows a bar or a count and the time of every stage that runs. Elsewhere
each stage has a line when it begins, one now and then, and one when it ends.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from dataclasses import dataclass
from typing import TextIO

_PLAIN_PERIOD = 15.0  # s
_BAR = 12  # characters
_ALONE = 40  # characters of a title where several stages share the line


@dataclass
class _Running:
    since: float
    count: str = ""


class Progress:
    """The stages that run, in the order in which they began."""

    def __init__(self, out: TextIO | None = None) -> None:
        """Write to ``out``, which is the standard output if it is not given."""
        self._out = out or sys.stdout
        self._is_terminal = self._out.isatty()
        self._running: dict[str, _Running] = {}
        self._shown = time.monotonic()

    def begin(self, title: str) -> None:
        """A stage begins."""
        self._running[title] = _Running(time.monotonic())
        if not self._is_terminal:
            self._line(f"{title} ...")

    def count(self, title: str, count: str) -> None:
        """A stage is so far."""
        self._running[title].count = count

    def end(self, title: str, *, failed: bool) -> None:
        """A stage is over."""
        words = "failed after " if failed else ""
        self._line(f"{title}: {words}{_seconds(self._running.pop(title))}")

    def show(self) -> None:
        """Show every stage that runs."""
        if not self._running:
            return
        if self._is_terminal:
            several = len(self._running) > 1
            parts = [
                " ".join(filter(None, (_short(title) if several else title, _said(state))))
                for title, state in self._running.items()
            ]
            width = shutil.get_terminal_size().columns - 1
            self._out.write("\r\x1b[K" + "; ".join(parts)[:width])
            self._out.flush()
        elif time.monotonic() - self._shown >= _PLAIN_PERIOD:
            for title, state in self._running.items():
                self._line(f"{title} ... {_said(state)}")
            self._shown = time.monotonic()

    def _line(self, text: str) -> None:
        self._out.write(("\r\x1b[K" if self._is_terminal else "") + text + "\n")
        self._out.flush()


def bar(done: int, total: int) -> str:
    """So many of a known total, as a bar and in numbers."""
    full = _BAR * done // max(total, 1)
    return f"[{'#' * full}{'.' * (_BAR - full)}] {done}/{total}"


def steps_of_ninja(log: str) -> str:
    """The count of steps that the build program showed last, ``[12/110]``."""
    found = re.findall(r"^\[(\d+)/(\d+)\]", log, re.MULTILINE)
    return bar(*map(int, found[-1])) if found else ""


def _said(state: _Running) -> str:
    return " ".join(filter(None, (state.count, _seconds(state))))


def _seconds(state: _Running) -> str:
    return f"{time.monotonic() - state.since:.0f} s"


def _short(title: str) -> str:
    return title if len(title) <= _ALONE else title[: _ALONE - 1] + "…"
