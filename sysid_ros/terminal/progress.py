# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Progress on a terminal: bars, or a few plain lines elsewhere."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO, final

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from sysid_ros.engine.least_squares import Iteration
from sysid_ros.printable import print_text, printable
from sysid_ros.terminal.printing import console_for, plain_text

# Without a terminal, as under ros2 launch or in a log file, steps are told one by one at first and
# then now and then: thousands of lines are read by nobody.
_TOLD = 10
_PERIOD = 5.0  # s
_COUNTED = re.compile(r"(\d+) of (\d+)(?: \w+)?$")


def is_counted(stage: str) -> bool:
    """Return whether a stage is one of many of its kind, such as ``reading recordings: 2 of 9``."""
    return _COUNTED.search(stage) is not None


@final
class FitProgress:
    """Shows stages and iterations on one stream; also a context manager.

    On a terminal each stage is a row that stays when it is done, with a bar where it is known how
    much there is to do. A stage that goes on under another text, ``reading: 2 of 9`` after
    ``reading: 1 of 9``, keeps its row. Anything else gets plain lines.
    """

    def __init__(
        self,
        max_iterations: int,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare, without showing anything yet.

        Args:
          max_iterations: Where the bar of a fit is full.
          stream: Where to write; standard error by default, so that output stays clean.
          clock: Tells the time in s.
        """
        self._stream = sys.stderr if stream is None else stream
        self._console = console_for(self._stream)
        self._most = max_iterations
        self._bar = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TextColumn("{task.fields[cost]}"),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal or self._console.is_dumb_terminal,
        )
        self._lines = _Lines(self._stream, clock)
        self._task: TaskID | None = None
        self._stage = ""
        self._step = (0, "")  # that was shown last: its number and cost

    def __enter__(self) -> FitProgress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        self._lines.flush()
        if kind is None:
            self._finish()
        if self.visible:  # rich before 14 ends what it never drew with an empty line
            self._bar.stop()

    @property
    def visible(self) -> bool:
        """True if there is a terminal to draw on."""
        return not self._bar.disable

    def stage(self, text: str) -> None:
        """Say what is being done now, such as ``reading bags``.

        Args:
          text: Where it ends in ``2 of 9``, the bar shows that.
        """
        stage = text.partition(":")[0]
        goes_on, self._stage = stage == self._stage, stage
        if self._bar.disable:
            self._lines.stage(text, goes_on=goes_on)
            return
        if self._task is None or not goes_on:
            self._finish()
            self._task = self._bar.add_task(printable(text), total=None, count="", cost="")
        counted = _COUNTED.search(text)
        self._bar.update(self._task, description=printable(_COUNTED.sub("", text).rstrip(": ")))
        if counted is not None:
            self._count(int(counted[1]), int(counted[2]))

    def reading(self, share: float) -> None:
        """Show how much of the recordings has been read, 0 to 1."""
        if self._bar.disable:
            self._lines.rarely(f"{share:.0%} read")
        elif self._task is not None:
            self._bar.update(self._task, completed=share, total=1.0, count=f"{share:.0%}")

    def iteration(self, step: Iteration) -> None:
        """Show one accepted step of the optimizer.

        The same number once more begins anew with other noise levels, in which errors are counted.
        """
        cost = f"cost {step.cost:.6g}"
        before, self._step = self._step, (step.iteration, cost)
        if self._bar.disable:
            if before == self._step:
                return
            again = ", weighed anew" * (0 < step.iteration == before[0])
            self._lines.write(f"iteration {step.iteration}{again}: {cost}, {step.elapsed:.1f} s")
            return
        if self._task is None:
            self.stage("fitting")
        self._count(step.iteration, max(self._most, step.iteration), cost)

    def note(self, text: str) -> None:
        """A sentence that stays visible above the bars."""
        self._lines.flush()
        self._console.print(plain_text(text))

    def _count(self, done: int, total: int, cost: str = "") -> None:
        if self._task is not None:
            count = f"{done}/{total}"
            self._bar.update(self._task, completed=done, total=total, count=count, cost=cost)

    def _finish(self) -> None:
        """Fill the present bar, whether or not everything had to be done."""
        if self._task is not None:
            self._bar.update(self._task, completed=1, total=1)
            self._task = None


class _Lines:
    """Plain lines, fewer of them the more there are."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream, self._clock = stream, clock
        self._told = 0
        self._last = float("-inf")
        self._held_back: str | None = None

    def stage(self, text: str, *, goes_on: bool) -> None:
        """Print that a stage begins; that it ``goes_on`` is said now and then."""
        if goes_on:
            self.rarely(text)
        else:
            self.flush()
            self._told, self._last = 0, self._clock()
            self._print(text)

    def rarely(self, text: str) -> None:
        """Print a line only when its time has come."""
        self._told = _TOLD
        self.write(text)

    def write(self, text: str) -> None:
        """Print a line, or hold it back until the next one takes its place or its time comes."""
        now = self._clock()
        if self._told < _TOLD or now - self._last >= _PERIOD:
            self._print(text)
            self._told, self._last = self._told + 1, now
            self._held_back = None
        else:
            self._held_back = text

    def quiet(self) -> None:
        """Say nothing before some time has passed."""
        self._last = self._clock()

    def flush(self) -> None:
        """Print the line that was held back last: where things stand at the end."""
        if self._held_back is not None:
            self._print(self._held_back)
            self._held_back = None

    def _print(self, text: str) -> None:
        print_text(text, stream=self._stream)


@final
class ReadingProgress:
    """Shows how much of a recording has been read; also a context manager.

    A terminal gets a bar that goes away, anything else a line every few seconds.
    """

    def __init__(
        self, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare, without showing anything yet.

        Args:
          stream: Where to write; standard error by default.
          clock: Tells the time in s.
        """
        stream = sys.stderr if stream is None else stream
        self._bar = Progress(
            TextColumn("reading"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console_for(stream),
            disable=not stream.isatty(),
            transient=True,
        )
        self._task = self._bar.add_task("", total=1.0)
        self._lines = _Lines(stream, clock)
        self._lines.quiet()

    def __enter__(self) -> ReadingProgress:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._bar.disable:
            self._bar.stop()

    def reading(self, share: float) -> None:
        """Show how much has been read, 0 to 1."""
        self._bar.update(self._task, completed=share)
        if self._bar.disable:
            self._lines.rarely(f"{share:.0%} read")


@contextmanager
def working(text: str, *, stream: TextIO | None = None) -> Iterator[Callable[[float], None]]:
    """Show on a terminal that something is being done; elsewhere only how reading goes on.

    Args:
      text: What, such as ``simulating the recordings``.
      stream: Standard error by default.

    Yields:
      Takes how much of the recordings has been read, 0 to 1, where that is part of it.
    """
    progress = FitProgress(1, stream=stream)

    def reading(share: float) -> None:
        if progress.visible:
            progress.stage("reading recordings" if share < 1.0 else text)
        if share < 1.0:
            progress.reading(share)

    if not progress.visible:
        yield reading
        return
    with progress:
        progress.stage(text)
        yield reading
