# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The work folder of one run of the pipeline: its best so far and its state, while it runs."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from sysid_ros.engine.estimation import FitState
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.errors import OutputError, SysidError
from sysid_ros.files import translated_os_errors
from sysid_ros.judgement import Outcome
from sysid_ros.pipeline.resume import Resume, find_state
from sysid_ros.processes import WorkersError
from sysid_ros.results import (
    SEARCH_FILE,
    STATE_FILE,
    Checkpoint,
    claimed,
    discard,
    is_work_folder,
    open_work_folder,
)
from sysid_ros.run_logs import Run, RunLogs
from sysid_ros.search import Trials, write_search_state, write_trials

FOLDS = "folds"  # of cross-validation, a folder with the state of each


class RunFolder:
    """Keeps what an interrupted run needs, and leaves nothing behind where that is nothing.

    ``warnings`` says in sentences what the run could not be carried on from.

    Args:
      output_dir: Holds the result folders.
      title: Names the result.
      given: An open work folder of the caller's, who discards it if that is needed.
    """

    def __init__(self, output_dir: Path, title: str, given: Path | None) -> None:
        self._output = output_dir
        self._given = given
        self.path = given or open_work_folder(output_dir, title)
        self._checkpoint = Checkpoint(self.path)
        self._inputs: Mapping[str, str] = {}
        self.warnings: tuple[str, ...] = ()
        self._continued: Path | None = None
        self._held = ExitStack()
        self._logs: RunLogs | None = None

    def __enter__(self) -> RunFolder:
        self._held.enter_context(claimed(self.path))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._held.close()
        self.end_logs(None)
        mistaken = isinstance(error, SysidError) and not isinstance(
            error, (OutputError, WorkersError)
        )
        unwanted = mistaken or isinstance(error, KeyboardInterrupt)
        kept = any((self.path / name).exists() for name in (STATE_FILE, SEARCH_FILE))
        if self._given is None and (unwanted or not kept):
            discard(self.path)  # harmless once the result is published
        elif kept and isinstance(error, OutputError) and self._given is None:
            raise OutputError(
                f"{error}; the search is kept: --resume {shlex.quote(str(self.path))} carries on"
            ) from error

    def begin(self, inputs: Mapping[str, str], resume: Resume | None) -> FitState | Trials | None:
        """Name what is about to be fitted.

        Args:
          inputs: What :func:`sysid_ros.pipeline.resume.inputs_of` gives.
          resume: Which fit to carry on with, if any.

        Returns:
          Where that fit stood, or what its search had tried when it was still searching.

        Raises:
          SysidError: There is no such fit; see :func:`sysid_ros.pipeline.resume.find_state`.
        """
        self._inputs = inputs
        if resume is None:
            return None
        found = find_state(resume, self._output, inputs, self._held)
        self._continued = found.folder
        self.warnings = found.warnings
        if is_work_folder(found.folder) and (found.folder / FOLDS).is_dir():
            with translated_os_errors(self.path):
                (found.folder / FOLDS).rename(self.path / FOLDS)
        if isinstance(found.state, FitState):
            for step in found.state.trace[:-1]:
                self._log(step)
        return found.state

    def recording(
        self, listener: Callable[[Iteration], None] | None
    ) -> Callable[[Iteration], None]:
        """A listener that keeps the best parameters on disk and passes every step on."""

        def record(step: Iteration) -> None:
            self._checkpoint.add(step)
            self._log(step)
            if listener is not None:
                listener(step)

        return record

    def open_logs(self, names: Sequence[str], title: str, settings: Mapping[str, str]) -> None:
        """Record every step from now on.

        Args:
          names: The logs besides the CSV file, see :mod:`sysid_ros.run_logs.run_log`.
          title: The run's name.
          settings: What tells it from others.

        Raises:
          ExperimentError: A log's package is absent.
        """
        self._logs = RunLogs(names, Run(title, self.path, self._output, settings))

    def end_logs(self, outcome: Outcome | None) -> None:
        """Record what came out, ``None`` where the run was broken off."""
        if self._logs is not None:
            self._logs.end(outcome)
            self._logs = None

    def _log(self, step: Iteration) -> None:
        if self._logs is not None:
            self._logs.step(step)

    def save(self, state: FitState) -> None:
        """Keep a state; from then on an unfinished folder that it came from is superfluous."""
        self._checkpoint.save(state, self._inputs)
        self._discard_continued()

    def save_trials(self, trials: Trials) -> None:
        """Keep what a search has tried, for people and to carry it on."""
        write_trials(self.path, trials)
        write_search_state(self.path, trials, self._inputs)
        self._discard_continued()

    @contextmanager
    def folds(self) -> Iterator[Path]:
        """A folder for the states of the folds, which goes once they are all done."""
        folder = self.path / FOLDS
        with translated_os_errors(folder):
            folder.mkdir(exist_ok=True)
        yield folder
        shutil.rmtree(folder, ignore_errors=True)

    def _discard_continued(self) -> None:
        if self._continued is not None:
            discard(self._continued)
            self._continued = None
