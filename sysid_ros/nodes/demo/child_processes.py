# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A group of node processes that ends as a whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sysid_ros.closing import Closing
from sysid_ros.processes import die_with_parent

# s for a node to end by itself; on an overbooked machine 11 were seen. Only one that hangs uses it
# up, and a second Ctrl-C ends the wait.
_GRACE = 60.0
_LOG_LINES = 12


class ChildProcesses(Closing):
    """Python processes started one by one and always ended together."""

    def __init__(self, environment: Mapping[str, str], log_dir: Path) -> None:
        """Prepare the group; use it as a context manager.

        Args:
          environment: Of every process.
          log_dir: Receives one log file per process; created if missing.
        """
        self._environment = dict(environment)
        self.log_dir = log_dir
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, module: Sequence[str], *, show: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start ``python -m MODULE ARGUMENTS``.

        Args:
          name: Names its log file.
          module: The module and its arguments.
          show: Whether it writes to this process's terminal instead of a log file.
        """
        self.log_dir.mkdir(parents=True, exist_ok=True)
        with self._log(name).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *module],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=None if show else log,
                stderr=None if show else log,
                # Ctrl-C is for the parent, which then ends the others in order.
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self._processes[name] = process
        return process

    def ended(self) -> Iterator[tuple[str, int, str]]:
        """Name, exit status and last log lines of every process that has ended."""
        for name, process in self._processes.items():
            status = process.poll()
            if status is not None:
                yield name, status, self.last_words(name)

    def close(self) -> None:
        """Ask the processes to end, the last started first, and kill what does not listen.

        One after the other, as a client may have something to call off with its servers.
        """
        for name in list(reversed(self._processes)):
            self.end(name)

    def end(self, name: str) -> None:
        """Ask one process to end, kill it if it does not listen, and forget it."""
        process = self._processes.pop(name)
        if process.poll() is not None:
            return
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            with self._log(name).open("ab") as log:
                log.write(f"killed: it had not ended {_GRACE:g} s after SIGINT\n".encode())

    def last_words(self, name: str) -> str:
        """The last lines of a process's log."""
        lines = self._log(name).read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_LOG_LINES:])

    def _log(self, name: str) -> Path:
        return self.log_dir / f"{name}.log"
