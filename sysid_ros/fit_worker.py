# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The child process of a fit: reads one request, runs it, and tells what happens as it goes.

Run as ``python -m sysid_ros.fit_worker EVENTS_FD [ahead]`` by :mod:`sysid_ros.supervised_fit`,
which has the other ends of the pipes. Standard input brings the request as one line of JSON and
later, perhaps, the line ``stop``; its end means that the parent is gone. Events leave as lines of
JSON through the file descriptor ``EVENTS_FD``, so that nothing a library prints can disturb them.

The process is a fresh interpreter that has never imported rclpy: a crash in native code, a
process-global MuJoCo callback or a busy loop that never returns to Python stays in here. What fits
is imported once there is something to fit: a goal that is refused takes a third of the time.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sysid_ros.errors import ErrorCode, ExperimentError, SysidError
from sysid_ros.files import Record, dumps
from sysid_ros.processes import die_with_parent, return_large_arrays

if TYPE_CHECKING:
    from sysid_ros.engine.least_squares import Iteration
    from sysid_ros.experiment import Experiment

FIT_PROGRAM = ("sysid_ros.fit_worker",)  # after ``python -m``
STARTING = "starting"  # the stage before those of the fit itself
AHEAD = "ahead"  # the last argument of a process that is started before there is a request
_SHARES = 0.1  # s between two of them
_PARENT_GONE = 3  # exit status when standard input ends


@dataclass(frozen=True)
class FitRequest:
    """One fit as asked for; paths as given, contents not yet checked."""

    output_dir: str
    experiment_file: str = ""
    experiment_yaml: str = ""  # used where experiment_file is empty
    bags: tuple[str, ...] = ()
    replace_bags: bool = False  # whether ``bags`` stand in for the experiment's sequences
    overrides: tuple[str, ...] = ()
    data_dir: str = ""
    allow_hooks: bool = False
    allow_outside_output: bool = False
    threads: int = 0  # 0: the experiment decides
    nice: int = 0  # 0 to 19: how much the fit stands back behind other processes
    resume: bool = False
    checkpoint_dir: str = ""  # an open work folder, for the best so far; set by run_fit

    @classmethod
    def from_json(cls, text: str) -> FitRequest:
        """Read what :meth:`to_json` wrote."""
        return Record(cls).read(json.loads(text), "")

    def to_json(self) -> str:
        """The request as one line of JSON."""
        return dumps(Record(FitRequest).write(self), indent=None)


@dataclass(frozen=True)
class Callbacks:
    """The calls of a fit to the process that runs it."""

    on_stage: Callable[[str], None]
    on_reading: Callable[[float], None]  # share of the recordings that has been read
    on_iteration: Callable[[Iteration, float], None]  # second: estimated share of the work done
    should_stop: Callable[[], bool]


FitFunction = Callable[[FitRequest, Callbacks], Path]  # gives the result's folder


def fit(request: FitRequest, callbacks: Callbacks) -> Path:
    """Load the requested experiment and run the pipeline on it.

    Returns:
      The result's folder.

    Raises:
      SysidError: Whatever is wrong with the experiment, its model, its data or its output.
    """
    experiment = requested_experiment(request)

    from sysid_ros.pipeline import Resume, run_experiment

    most = max(experiment.fit.max_iterations, 1)
    report = run_experiment(
        experiment,
        data_dir=Path(request.data_dir) if request.data_dir else None,
        output_dir=Path(request.output_dir),
        work_dir=Path(request.checkpoint_dir) if request.checkpoint_dir else None,
        on_iteration=lambda step: callbacks.on_iteration(step, min(step.iteration / most, 1.0)),
        should_stop=callbacks.should_stop,
        on_stage=callbacks.on_stage,
        on_reading=callbacks.on_reading,
        resume=Resume() if request.resume else None,
    )
    return report.files.folder


def prepare(on_stage: Callable[[str], None], is_asked: Callable[[], bool]) -> None:
    """Import what fits, and compile the derivatives or load them from disk.

    Args:
      on_stage: Told that they are compiled, and when they are.
      is_asked: Whether there is a request, whose recordings are then looked at first.
    """
    import sysid_ros.pipeline  # noqa: F401
    from sysid_ros.engine.derivatives import compilation_told, entry_points

    if is_asked():
        return
    with compilation_told(on_stage, STARTING):
        entry_points()


def requested_experiment(request: FitRequest) -> Experiment:
    """The experiment of a request, with the request's bags and overrides applied.

    Raises:
      ExperimentError: The experiment is malformed, or asks for what is not allowed: a hook, or a
        study outside the output folder.
    """
    from sysid_ros.experiment import (
        check_study,
        load_experiment,
        parse_experiment,
        with_bags,
        with_overrides,
    )

    if request.experiment_file:
        experiment = load_experiment(Path(request.experiment_file))
    elif request.experiment_yaml:
        experiment = parse_experiment(request.experiment_yaml)
    else:
        raise ExperimentError("neither experiment_file nor experiment_yaml is given")
    if request.bags:
        experiment = with_bags(experiment, request.bags, replace=request.replace_bags)
    overrides = list(request.overrides)
    if request.threads and not any(item.startswith("fit.threads=") for item in overrides):
        overrides.append(f"fit.threads={request.threads}")
    experiment = with_overrides(experiment, overrides)
    if experiment.modifiers and not request.allow_hooks:
        raise ExperimentError(
            f"the experiment names the Python hook {experiment.modifiers!r}, which this server "
            "does not run; set its parameter allow_hooks to true if you trust the experiment"
        )
    if not request.allow_outside_output:
        check_study(experiment, Path(request.output_dir), overrides_count=False)
    return experiment


def serve(
    function: FitFunction,
    arguments: Sequence[str],
    prepare: Callable[[Callable[[str], None], Callable[[], bool]], None] | None = None,
) -> int:
    """Serve one request.

    Args:
      function: Runs it.
      arguments: Of the command line: ``EVENTS_FD [ahead]``.
      prepare: Called while there is no request yet, where the process is started ahead of it, with
        a function that takes stages, and one that says whether a request has come.

    Returns:
      0; the outcome, good or bad, has left as the last event.
    """
    # Ctrl-C reaches the whole terminal; how to end is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    return_large_arrays()
    stop = threading.Event()
    source = sys.stdin.fileno()
    lines = _lines(source)
    events, *options = arguments
    with os.fdopen(int(events), "w", encoding="utf-8") as stream:
        emit = _Emitter(stream)
        if options == [AHEAD] and prepare is not None:
            prepare(emit.stage, lambda: bool(select.select([source], [], [], 0.0)[0]))
        request = FitRequest.from_json(next(lines))
        os.nice(request.nice)
        threading.Thread(target=_listen, args=(lines, stop), daemon=True).start()
        callbacks = Callbacks(emit.stage, emit.share, emit.iteration, stop.is_set)
        try:
            emit.done(function(request, callbacks))
        except SysidError as error:
            emit.error(error.code, str(error))
        except Exception as error:
            # Nobody else could report it: the traceback goes to the log, the sentence upwards.
            traceback.print_exc()
            emit.error(ErrorCode.WORKER_DIED, f"unexpected {type(error).__name__}: {error}")
    return 0


def _lines(descriptor: int) -> Iterator[str]:
    """Lines read from a file descriptor until its end.

    Not ``sys.stdin``: a thread waiting in its lock would abort the interpreter's exit.
    """
    pending = b""
    while received := os.read(descriptor, 1 << 16):
        *lines, pending = (pending + received).split(b"\n")
        yield from (line.decode() for line in lines)


def _listen(lines: Iterator[str], stop: threading.Event) -> None:
    """Set ``stop`` when asked to; leave at once when the parent is gone."""
    for line in lines:
        if line == "stop":
            stop.set()
    os._exit(_PARENT_GONE)


class _Emitter:
    """Writes events, one JSON object per line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()  # a thread that compiles tells of it by itself
        self._stage = ""
        self._told = 0.0

    def stage(self, text: str) -> None:
        self._stage = text
        self._write({"event": "stage", "text": text, "progress": 0.0})

    def share(self, share: float) -> None:
        """Tell how much of the stage is done, 0 to 1; not more often than anybody can see."""
        if time.monotonic() - self._told >= _SHARES:
            self._told = time.monotonic()
            self._write({"event": "stage", "text": self._stage, "progress": share})

    def iteration(self, step: Iteration, progress: float) -> None:
        from sysid_ros.results import STEP

        self._write({"event": "iteration", "progress": progress, "step": STEP.write(step)})

    def done(self, folder: Path) -> None:
        self._write({"event": "done", "folder": str(folder)})

    def error(self, code: ErrorCode, message: str) -> None:
        self._write({"event": "error", "code": int(code), "message": message})

    def _write(self, event: dict[str, Any]) -> None:
        with self._lock:
            self._stream.write(dumps(event, indent=None) + "\n")
            self._stream.flush()


if __name__ == "__main__":
    sys.exit(serve(fit, sys.argv[1:], prepare))
