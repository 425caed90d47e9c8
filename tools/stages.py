# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stages of the set-up: done once for what they are made from, side by side where they can be."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from progress import Progress
from work import Work

_PERIOD = 0.2  # s


@dataclass(frozen=True)
class Stage:
    """One step of the set-up.

    ``inputs`` is a hash of all that the step depends on; the step is done when the stamp called
    ``name`` holds it. ``count`` says how far the step is, from its log.
    """

    name: str
    title: str
    inputs: str
    make: Callable[[Work], None]
    count: Callable[[str], str] = lambda log: ""


class Stages:
    """Makes stages and remembers which are done."""

    def __init__(self, stamps: Path, logs: Path, programs: Path, progress: Progress) -> None:
        """Keep the folders of stamps and logs, and that of programs for the stages' PATH."""
        self._stamps = stamps
        self._logs = logs
        self._programs = programs
        self._progress = progress

    def is_done(self, stage: Stage) -> bool:
        """Whether the stamp of an earlier run answers for these inputs."""
        with contextlib.suppress(OSError):
            return (self._stamps / stage.name).read_text() == stage.inputs
        return False

    def make(self, stages: Iterable[Stage]) -> None:
        """Make those stages that are not done, side by side.

        When one fails or the person interrupts, the others are ended.

        Raises:
          SetupError: One failed.
        """
        due = [stage for stage in stages if not self.is_done(stage)]
        if not due:
            return
        self._logs.mkdir(parents=True, exist_ok=True)
        self._stamps.mkdir(parents=True, exist_ok=True)
        works = [Work(self._logs / f"{stage.name}.log", self._programs) for stage in due]
        with ThreadPoolExecutor(len(due)) as threads:
            parts = [
                threads.submit(self._make, stage, work)
                for stage, work in zip(due, works, strict=True)
            ]
            try:
                self._watch(due, works, parts)
            finally:
                for work in works:
                    work.end()
        for part in parts:
            part.result()

    def _watch(
        self, due: Sequence[Stage], works: Sequence[Work], parts: Sequence[Future[None]]
    ) -> None:
        """Show what goes on until all is done or one failed."""
        for stage in due:
            self._progress.begin(stage.title)
        pending = set(parts)
        while pending:
            done, pending = wait(pending, _PERIOD, FIRST_EXCEPTION)
            for stage, work, part in zip(due, works, parts, strict=True):
                if part in done:
                    self._progress.end(stage.title, failed=part.exception() is not None)
                elif part in pending:
                    log = work.log.read_text(errors="replace")
                    self._progress.count(stage.title, stage.count(log))
            self._progress.show()
            if any(part.exception() is not None for part in done):
                return

    def _make(self, stage: Stage, work: Work) -> None:
        """Make one stage and stamp it; an interruption leaves it unstamped."""
        stamp = self._stamps / stage.name
        stamp.unlink(missing_ok=True)
        stage.make(work)
        new = stamp.with_suffix(".new")
        new.write_text(stage.inputs)
        new.replace(stamp)
