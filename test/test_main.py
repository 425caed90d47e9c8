# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The process of a command: a Ctrl-C while it is being imported, and threads of linear algebra."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sysid_ros

ROOT = Path(__file__).resolve().parents[1]


def interrupted_at(module: str, *, ignored: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the program, to which an interrupt comes when it begins to import a module."""
    (place,) = re.findall(r'"sysid_ros = ([\w.]+):main"', (ROOT / "setup.py").read_text("utf-8"))
    program = f"""
import signal, sys

class Interrupting:
    def find_spec(name, *_):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

if {ignored}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.modules.pop({module!r}, None)
sys.meta_path.insert(0, Interrupting)
sys.argv = ["sysid_ros", "--version"]
from {place} import main
sys.exit(main())
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize("module", ["sysid_ros.cli", "argparse", "sysid_ros.processes"])
def test_an_interrupt_while_the_command_line_is_imported_just_ends_it(module: str):
    done = interrupted_at(module)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_an_interrupt_while_the_commands_are_imported_is_said():
    done = interrupted_at("sysid_ros.commands.apply")
    assert (done.returncode, done.stderr) == (130, "sysid_ros: aborted\n")


def test_an_interrupt_that_is_ignored_stays_so():
    done = interrupted_at("argparse", ignored=True)
    assert (done.returncode, done.stdout) == (0, f"sysid_ros {sysid_ros.__version__}\n")


THREADS = """
import contextlib, os, sys
from sysid_ros.__main__ import main
sys.argv = ["sysid_ros", "--version"]
with contextlib.suppress(SystemExit):
    main()
import numpy, threadpoolctl
print(*(each["num_threads"] for each in threadpoolctl.threadpool_info()))
"""


@pytest.mark.parametrize(
    "given", [{}, {"OMP_NUM_THREADS": "2"}, {"OPENBLAS_NUM_THREADS": "2"}], ids=lambda one: str(one)
)
def test_one_thread_of_blas_is_started_unless_another_number_is_asked_for(given: dict[str, str]):
    names = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
    env = {name: value for name, value in os.environ.items() if name not in names}
    said = subprocess.run(
        [sys.executable, "-c", THREADS], env=env | given, check=True, capture_output=True, text=True
    )
    most = min(2, len(os.sched_getaffinity(0)))
    assert set(said.stdout.split()[2:]) == {str(most if given else 1)}
