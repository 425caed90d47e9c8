# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The commands of one stage of the set-up: their log, and their end when the set-up is over."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import machine
from machine import SetupError

_SHOWN = 25  # lines of the log of a command that failed


class Work:
    """Runs the commands of a stage one after the other into one log."""

    def __init__(self, log: Path, programs: Path) -> None:
        """Begin an empty log.

        Args:
          log: The file that takes all output.
          programs: A folder that comes first in the commands' PATH.
        """
        self.log = log
        self._programs = programs
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._is_over = False
        log.write_text("")

    def run(self, *command: str, also: Mapping[str, str] | None = None) -> None:
        """Run a command.

        Args:
          command: The program and its arguments.
          also: Variables to set beside those of this process.

        Raises:
          SetupError: It failed; says how it was called and where its words are.
        """
        status = self.try_to_run(*command, also=also)
        if status == 0:
            return
        if not self._is_over:
            lines = self.log.read_text(errors="replace").splitlines()
            print("\n" + "\n".join(lines[-_SHOWN:]), file=sys.stderr)
        raise SetupError(
            f"`{' '.join([Path(command[0]).name, *command[1:4]])} ...` ended with status {status}; "
            f"all it said is in {os.path.relpath(self.log)}"
        )

    def try_to_run(self, *command: str, also: Mapping[str, str] | None = None) -> int:
        """Run a command that may fail; returns its exit status."""
        environment = {**machine.clean_environment(), **(also or {})}
        environment["PATH"] = f"{self._programs}{os.pathsep}{environment.get('PATH', os.defpath)}"
        with self.log.open("a") as log:
            with self._lock:
                if self._is_over:
                    raise SetupError(f"given up before `{Path(command[0]).name}` was started")
                log.write(f"$ {' '.join(command)}\n")
                log.flush()
                self._running = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
                )
            return self._running.wait()

    def end(self) -> None:
        """End the command that runs and start no other."""
        with self._lock:
            self._is_over = True
            if self._running is not None and self._running.poll() is None:
                self._running.terminate()
