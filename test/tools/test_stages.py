# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stages are made once, side by side, and what a person sees of them."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import pytest
from machine import SetupError
from patience import PATIENCE
from progress import Progress, bar, steps_of_ninja
from stages import Stage, Stages
from work import Work


class Terminal(io.StringIO):
    """Text for a terminal."""

    def isatty(self) -> bool:
        return True


def stages(folder: Path, out: io.StringIO) -> Stages:
    return Stages(folder / "stamps", folder / "logs", folder, Progress(out))


def test_a_stage_is_made_once_for_what_it_is_made_from(tmp_path: Path) -> None:
    made: list[str] = []
    out = io.StringIO()
    for inputs in ("a", "a", "b"):
        stage = Stage("one", "First", inputs, lambda work: made.append("one"))
        stages(tmp_path, out).make([stage])
    assert made == ["one", "one"]
    assert out.getvalue() == 2 * "First ...\nFirst: 0 s\n"


def test_stages_run_side_by_side(tmp_path: Path) -> None:
    meeting = threading.Barrier(2, timeout=PATIENCE)
    both = [Stage(name, name, "", lambda work: meeting.wait() and None) for name in "ab"]
    made = stages(tmp_path, io.StringIO())
    made.make(both)  # would break the barrier if one came after the other
    assert all(made.is_done(stage) for stage in both)


def test_one_that_fails_ends_the_others_and_is_not_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sleeping = threading.Event()

    def long(work: Work) -> None:
        sleeping.set()
        work.run(sys.executable, "-c", f"import time; time.sleep({10 * PATIENCE})")

    def bad(work: Work) -> None:
        sleeping.wait(PATIENCE)
        work.run(sys.executable, "-c", "raise SystemExit('no compiler here')")

    both = [Stage("long", "Long", "", long), Stage("bad", "Bad", "", bad)]
    out = io.StringIO()
    made = stages(tmp_path, out)
    with pytest.raises(SetupError):
        made.make(both)
    assert "no compiler here" in capsys.readouterr().err
    assert "Bad: failed after" in out.getvalue()
    assert not any(made.is_done(stage) for stage in both)


def test_a_terminal_shows_one_line_that_lives() -> None:
    out = Terminal()
    progress = Progress(out)
    progress.begin("Building")
    progress.begin("Compiling")
    progress.count("Building", bar(1, 4))
    progress.show()
    assert out.getvalue() == "\r\x1b[KBuilding [###.........] 1/4 0 s; Compiling 0 s"
    progress.end("Building", failed=False)
    assert out.getvalue().endswith("\r\x1b[KBuilding: 0 s\n")


def test_the_build_program_s_count_is_read() -> None:
    assert steps_of_ninja("[1/110] a\n[12/110] b\nwarning: [99/100]\n") == bar(12, 110)
    assert steps_of_ninja("configuring\n") == ""
