# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The installed program ends without a word at a Ctrl-C while it is still being imported."""

from __future__ import annotations

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
