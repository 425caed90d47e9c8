# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs a fit in a process of its own and answers for it, whatever becomes of that process.

:func:`run_fit` blocks until the fit is done, failed, cancelled or dead. Cancelling asks first and
ends the process when it does not listen, so that it takes less than a second even in the middle
of a long native call; the best parameters so far are kept either way.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from sysid_ros.closing import Closing
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.errors import ErrorCode, OutputError
from sysid_ros.fit_worker import AHEAD, FIT_PROGRAM, FitRequest
from sysid_ros.results import STEP, ResultFolder, discard, finalize_checkpoint, open_work_folder

_POLL = 0.05  # s between looks at should_cancel
_LOG_LINES = 5  # of a dead process, quoted in the message


@dataclass(frozen=True)
class FitEvent:
    """An event of a running fit: a stage or an iteration, with the share of it that is done."""

    stage: str = ""
    iteration: Iteration | None = None
    progress: float = 0.0


@dataclass(frozen=True)
class FitEnd:
    """The end of a fit."""

    code: ErrorCode
    message: str  # empty if the code is NONE
    files: ResultFolder | None = None  # present where the fit delivered
    best: Iteration | None = None  # the last accepted step that was reported


def run_fit(
    request: FitRequest,
    *,
    on_progress: Callable[[FitEvent], None] = lambda event: None,
    should_cancel: Callable[[], bool] = lambda: False,
    grace: float = 0.6,
    program: Sequence[str],
    worker: Worker | None = None,
) -> FitEnd:
    """Run one fit in a child process.

    The child dies with the thread that calls this, so call it from one that stays.

    Args:
      request: What to fit.
      on_progress: Called with every event of the child, in this thread.
      should_cancel: Looked at every 50 ms.
      grace: Seconds between asking the child to stop and killing it.
      program: The child's module and arguments, after ``python -m``; it calls
        :func:`~sysid_ros.fit_worker.serve`.
      worker: The child, started beforehand; ``None`` to start one now.

    Returns:
      How it ended; failures of the fit are values, not exceptions. A fit that was cancelled or
      died after its first iteration still has a result folder, with its best parameters.
    """
    try:
        work = open_work_folder(request.output_dir, _title(request))
    except OutputError as error:
        return FitEnd(error.code, str(error))
    if worker is None or not worker.lives:
        worker = Worker(program)
    try:
        with worker:
            if told := worker.doing():
                on_progress(FitEvent(stage=told))
            worker.begin(replace(request, checkpoint_dir=str(work)))
            end = _follow(worker, on_progress, should_cancel, grace)
        if end.files is None and end.best is not None:
            return replace(end, files=_keep_best(work, end, _title(request)))
        return end
    finally:
        discard(work)


def _follow(
    worker: Worker,
    on_progress: Callable[[FitEvent], None],
    should_cancel: Callable[[], bool],
    grace: float,
) -> FitEnd:
    """Follow the child until it has said how the fit ended, or is no more."""
    best: Iteration | None = None
    deadline: float | None = None
    while not worker.closed:
        for event in worker.events(_POLL):
            if event["event"] in ("done", "error"):
                return _end(event, best)
            told = _event(event)
            best = told.iteration or best
            on_progress(told)
        if deadline is None and should_cancel():
            worker.request_stop()
            deadline = time.monotonic() + grace
        if deadline is not None and time.monotonic() >= deadline:
            worker.kill()
    status = worker.wait()
    if deadline is not None:
        return FitEnd(ErrorCode.CANCELED, "the fit was canceled", best=best)
    return FitEnd(ErrorCode.WORKER_DIED, _obituary(status, worker.last_words()), best=best)


def _keep_best(work: Path, end: FitEnd, title: str) -> ResultFolder | None:
    """Turn the checkpoint into a result folder, as far as that is possible."""
    canceled = end.code is ErrorCode.CANCELED
    status = FitStatus.CANCELED if canceled else FitStatus.INTERRUPTED
    try:
        return finalize_checkpoint(work, status=status, message=end.message, title=title)
    except OutputError:
        return None  # the end is reported either way, and its parameters with it


def _title(request: FitRequest) -> str:
    """A name for the result folder before the experiment has been read."""
    return Path(request.experiment_file).resolve().parent.name if request.experiment_file else "fit"


def _event(event: dict[str, Any]) -> FitEvent:
    if event["event"] == "stage":
        return FitEvent(stage=event["text"], progress=event["progress"])
    return FitEvent(iteration=STEP.read(event["step"], "step"), progress=event["progress"])


def _end(event: dict[str, Any], best: Iteration | None) -> FitEnd:
    if event["event"] == "error":
        return FitEnd(ErrorCode(event["code"]), event["message"], best=best)
    return FitEnd(ErrorCode.NONE, "", ResultFolder.at(Path(event["folder"])), best)


def _obituary(status: int, words: str) -> str:
    """One sentence on how a process died, with its last words if it had any."""
    if status < 0:
        cause = f"was ended by signal {signal.Signals(-status).name}"
    else:
        cause = f"ended by itself with exit status {status}"
    return f"the process computing the fit {cause}" + (f"; it said: {words}" if words else "")


class Worker(Closing):
    """The child process, its pipes and its log; good for one fit."""

    def __init__(self, program: Sequence[str] = FIT_PROGRAM, *, ahead: bool = False) -> None:
        """Start the process.

        Args:
          program: Its module and arguments, after ``python -m``.
          ahead: Whether there is time until the fit, to import and compile what it needs.
        """
        # A file, not a pipe: nobody needs to empty it, and it outlives the child.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115, closed by close
        self._events, write_end = os.pipe()
        options = [AHEAD] if ahead else []
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *program, str(write_end), *options],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(write_end,),
            )
        finally:
            os.close(write_end)
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._pending = b""
        self._doing = ""
        self.closed = False

    @property
    def lives(self) -> bool:
        """True if the process still runs."""
        return self._process.poll() is None

    def doing(self) -> str:
        """The stage of what it does ahead of a request: empty or ``STARTING``, unless it compiles.

        To be asked before the request; what comes then are the fit's own events.
        """
        for event in self.events(0.0):
            self._doing = event.get("text", "")
        return self._doing

    def begin(self, request: FitRequest) -> None:
        """Tell it what to fit."""
        self._send(request.to_json())

    def close(self) -> None:
        """End the process if it still runs, and let go of its pipes."""
        with contextlib.suppress(OSError):  # of bytes that it never read
            self._stdin.close()
        self.kill()
        self._process.wait()
        os.close(self._events)
        self._log.close()

    def events(self, timeout: float) -> list[dict[str, Any]]:
        """Events that arrive within ``timeout`` seconds; sets ``closed`` at their end."""
        readable, _, _ = select.select([self._events], [], [], timeout)
        if not readable:
            return []
        received = os.read(self._events, 1 << 20)
        self.closed = not received
        *lines, self._pending = (self._pending + received).split(b"\n")
        return [json.loads(line) for line in lines]

    def request_stop(self) -> None:
        """Ask the fit to end after its current step."""
        self._send("stop")

    def kill(self) -> None:
        """End the child now; harmless when it has ended."""
        if self._process.poll() is None:
            self._process.kill()

    def wait(self) -> int:
        """Exit status of the child, negative for a signal.

        A child that closed its events without leaving is ended.
        """
        try:
            return self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()

    def last_words(self) -> str:
        """The last lines that the child printed."""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return " | ".join(lines[-_LOG_LINES:])

    def _send(self, line: str) -> None:
        # A broken pipe means that it has died, which the end of its events says as well.
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(line.encode() + b"\n")
            self._stdin.flush()
