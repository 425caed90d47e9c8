# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A signal counts from the first moment of a node's process."""

from __future__ import annotations

import contextlib
import importlib
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from patience import PATIENCE

from sysid_ros.nodes.ending import LAUNCHED_BY, EndRequest

ROOT = Path(__file__).parents[2]
NODES = sorted(
    path.parent.name
    for path in (ROOT / "sysid_ros" / "nodes").glob("*/__main__.py")
    if path.parent.name != "demo"  # not a node: it starts them
)


LISTENS = f"""
import time
from sysid_ros.nodes.ending import EndRequest

request, last = EndRequest.listen(), time.monotonic() + {PATIENCE}
print("listens", flush=True)
while not request.made() and time.monotonic() < last:
    time.sleep(0.01)
print("ends" if request.made() else "goes on", flush=True)
"""
LAUNCHES = f"""
import os, subprocess, sys, time

environment = {{**os.environ, "{LAUNCHED_BY}": str(os.getpid())}}
subprocess.run([sys.executable, "-c", sys.argv[1]], env=environment)
"""


class Interrupted(ModuleType):
    """A node's module, while whose import an interrupt comes and is lost."""

    @property
    def main(self) -> Callable[[], bool]:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return lambda: EndRequest.listen().made()


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("name", NODES)
def test_interrupt_counts_that_an_import_swallows(name: str, monkeypatch: pytest.MonkeyPatch):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    face = importlib.import_module(f"sysid_ros.nodes.{name}")
    swallowing = Interrupted(f"sysid_ros.nodes.{name}.node")
    monkeypatch.setitem(sys.modules, swallowing.__name__, swallowing)
    monkeypatch.setattr(face, "node", swallowing, raising=False)
    program = importlib.import_module(f"sysid_ros.nodes.{name}.__main__")
    assert program.main() is True


def test_little_is_imported_before_a_signal_counts():
    programs = ", ".join(f"sysid_ros.nodes.{name}.__main__" for name in NODES)
    seen = f"import sys, {programs}; print({{'mujoco', 'rclpy', 'scipy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("name", NODES)
def test_installed_program_is_the_one_that_listens_first(name: str):
    program = f'"{name} = sysid_ros.nodes.{name}.__main__:main"'
    assert program in (ROOT / "setup.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_a_request_also_that_of_a_terminal_that_is_closed(number: signal.Signals):
    with subprocess.Popen([sys.executable, "-c", LISTENS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"listens\n"
        process.send_signal(number)
        assert process.stdout.readline() == b"ends\n"


@pytest.mark.usefixtures("signals")
def test_what_is_to_outlive_its_terminal_does():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    request = EndRequest.listen()
    signal.raise_signal(signal.SIGHUP)
    assert not request.made()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells of a parent's death")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_launch_that_is_killed_ends_what_it_started(number: signal.Signals):
    """Nobody else would: a robot would go on moving."""
    command = [sys.executable, "-c", LAUNCHES, LISTENS]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as launch:
        assert launch.stdout is not None and launch.stdout.readline() == b"listens\n"
        launch.send_signal(number)
        assert launch.stdout.readline() == b"ends\n"
