# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a compilation will take is known from the last one, and how far it is from its process."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import PATIENCE

from sysid_ros.engine.derivatives import compiling_time
from sysid_ros.engine.derivatives.compiling_time import compiling_in, progress_in

WORKS = """
import sys
from pathlib import Path
from sysid_ros.engine.derivatives.compiling_time import compiling_in
with compiling_in(Path(sys.argv[1])):
    while True:
        pass
"""


def test_what_the_last_one_took_is_what_the_next_will_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert progress_in(tmp_path) == "once, about 70 s of processor time"
    for taken in (123.4, 1.0):  # the second one only loads
        clock = iter([5.0, 5.0 + taken])
        with monkeypatch.context() as patched:
            patched.setattr(compiling_time.time, "process_time", lambda clock=clock: next(clock))
            with compiling_in(tmp_path):
                pass
        assert progress_in(tmp_path) == "once, about 123 s of processor time"


def test_how_far_another_process_is_can_be_told(tmp_path: Path) -> None:
    (tmp_path / "derivatives.seconds").write_text("15.0")
    with subprocess.Popen([sys.executable, "-c", WORKS, str(tmp_path)]) as other:
        deadline = time.monotonic() + PATIENCE
        while not progress_in(tmp_path).endswith(" s of processor time, 10 % of it done"):
            assert other.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        other.kill()
    # One that was killed leaves its number behind.
    assert progress_in(tmp_path) == "once, about 15 s of processor time"


@pytest.mark.parametrize("text", ["", "much", "nan", "-1", "inf", "0"])
def test_a_file_that_says_nothing_is_no_error(tmp_path: Path, text: str) -> None:
    for name in ("derivatives.seconds", "derivatives.pid"):
        (tmp_path / name).write_text(text)
    assert progress_in(tmp_path) == "once, about 70 s of processor time"


def test_where_nothing_can_be_written_the_work_is_done(tmp_path: Path) -> None:
    done = []
    with compiling_in(tmp_path / "missing"):
        done.append(True)
    assert done
