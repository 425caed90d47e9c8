# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node processes with their imports done: forked from a process that does nothing else.

Imports are most of what a node costs in a test, 1 to 3 s of a processor; a fork costs almost
nothing. All else is as after ``python -m``, which the tests of the demo use.
"""

from __future__ import annotations

import contextlib
import os
import random
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from typing import Any

from sysid_ros.nodes.demo.child_processes import ChildProcesses
from sysid_ros.processes import die_with_parent

_NODES = ("recorder", "excite", "sim_robot", "fit_server", "estimator", "sufficiency", "replay")
_FORKED = get_context("forkserver")
_FORKED.set_forkserver_preload(
    ["pytest", __name__, *(f"sysid_ros.nodes.{node}.node" for node in _NODES)]
)


class WarmProcesses(ChildProcesses):
    """A group of node processes that are forked; it ends as a whole."""

    def start(self, name: str, module: Sequence[str], *, show: bool = False) -> Any:
        self.log_dir.mkdir(parents=True, exist_ok=True)
        log = self._log(name)  # also of what would be shown
        log.touch()
        self._processes[name] = ForkedProcess(module, self._environment, str(log))
        return self._processes[name]


class ForkedProcess:
    """What tests use of :class:`subprocess.Popen`."""

    def __init__(self, module: Sequence[str], environment: Mapping[str, str], log: str) -> None:
        self._process = _FORKED.Process(target=run, args=(list(module), dict(environment), log))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended, as Popen bears too
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(module: list[str], environment: dict[str, str], log: str) -> None:
    """Do in a forked process what ``python -m MODULE ARGUMENTS`` does."""
    os.setsid()
    die_with_parent()
    with open(log, "wb") as file:  # noqa: PTH123 as Popen does
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    random.seed()
    sys.argv = module
    runpy.run_module(module[0], run_name="__main__", alter_sys=True)
