"""What a person sees in the terminal: progress while a fit runs, tables when it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TextIO, final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from sysid_ros.outcome import Outcome, Score, SequenceFit
from sysid_ros.sysid.fit_result import Iteration, ParameterEstimate

# Where output is not a terminal, lines are as long as they need to be.
_WIDTH_WITHOUT_TERMINAL = 200
_SECONDS_BETWEEN_LINES = 5.0  # on how much has been read


def console_for(stream: TextIO) -> Console:
    """A console that colours and wraps only on a terminal."""
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=width, highlight=False, soft_wrap=not stream.isatty())


@final
class FitProgress:
    """Shows the stages and iterations of a fit on one stream; also a context manager.

    A terminal gets a bar that is redrawn, anything else plain lines.
    """

    def __init__(self, max_iterations: int, *, stream: TextIO | None = None) -> None:
        """Prepare, without showing anything yet.

        Args:
          max_iterations: Where the bar is full.
          stream: Where to write; standard error by default, so that output stays clean.
        """
        self._stream = sys.stderr if stream is None else stream
        self._console = console_for(self._stream)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[cost]}"),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._stream.isatty(),
        )
        self._max_iterations = max_iterations
        self._task = self._bar.add_task("starting", total=max_iterations, cost="")
        self._said = _NowAndThen()

    def __enter__(self) -> FitProgress:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def stage(self, text: str) -> None:
        """Say what is being done now, such as ``reading bags``."""
        self._bar.update(
            self._task, description=text, total=self._max_iterations, completed=0, cost=""
        )
        if self._bar.disable:
            self._line(text)

    def reading(self, share: float) -> None:
        """Show how much of the recordings has been read, 0 to 1."""
        self._bar.update(self._task, total=100, completed=int(100 * share), cost="%")
        if self._bar.disable and self._said.is_time():
            self._line(f"{share:.0%} read")

    def iteration(self, step: Iteration) -> None:
        """Show one accepted step of the optimizer."""
        cost = f"cost {step.cost:.6g}"
        self._bar.update(self._task, completed=step.iteration, cost=cost)
        if self._bar.disable:
            self._line(f"iteration {step.iteration}: {cost}, {step.elapsed:.1f} s")

    def note(self, text: str) -> None:
        """A sentence that stays visible above the bar."""
        self._console.print(Text(text))

    def _line(self, text: str) -> None:
        print(text, file=self._stream, flush=True)


@final
class ReadingProgress:
    """Shows how much of a recording has been read, on standard error; also a context manager.

    A terminal gets a bar that goes away, anything else a line every few seconds.
    """

    def __init__(self, *, stream: TextIO | None = None) -> None:
        """Prepare, without showing anything yet."""
        self._stream = sys.stderr if stream is None else stream
        self._bar = Progress(
            TextColumn("reading"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console_for(self._stream),
            disable=not self._stream.isatty(),
            transient=True,
        )
        self._task = self._bar.add_task("", total=1.0)
        self._said = _NowAndThen()

    def __enter__(self) -> ReadingProgress:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def reading(self, share: float) -> None:
        """Show how much has been read, 0 to 1."""
        self._bar.update(self._task, completed=share)
        if self._bar.disable and self._said.is_time():
            print(f"{share:.0%} read", file=self._stream, flush=True)


class _NowAndThen:
    """Keeps lines some seconds apart, the first one too."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def is_time(self) -> bool:
        """Whether enough time has passed since the last line."""
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return False
        self._last = now
        return True


def print_outcome(outcome: Outcome, *, stream: TextIO | None = None) -> None:
    """Print the identified parameters, the scores, the verdict and the warnings.

    Args:
      outcome: What a run delivered.
      stream: Where to write; standard output by default.
    """
    console = console_for(sys.stdout if stream is None else stream)
    console.print(parameter_table(outcome.fit.parameters))
    scores = [
        ("training", outcome.training),
        ("held out", outcome.validation),
    ]
    shown = [(title, score) for title, score in scores if score is not None]
    if shown:
        console.print(score_table(shown))
    console.print(Text(outcome.fit.message))
    console.print(Text(outcome.verdict, style="bold"))
    for warning in outcome.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))


def print_scores(
    training: Score | None,
    validation: Score | None,
    sequences: Sequence[SequenceFit],
    *,
    stream: TextIO | None = None,
) -> None:
    """Print how well parameters predict, in all and by recording."""
    console = console_for(sys.stdout if stream is None else stream)
    scores = (("training", training), ("held out", validation))
    console.print(score_table([(title, score) for title, score in scores if score is not None]))
    table = plain_table("recording", "signal", "identified", "unit")
    for sequence in sequences:
        for signal in sequence.signals:
            names = Text(sequence.name), Text(signal.name)
            table.add_row(*names, f"{signal.rmse:.4g}", Text(signal.unit))
    console.print(table)


def parameter_table(parameters: tuple[ParameterEstimate, ...]) -> Table:
    """One row per parameter: start, result, 95 % interval and flags."""
    table = plain_table("parameter", "initial", "identified", "95 % interval", "unit", "note")
    for parameter in parameters:
        interval = parameter.interval()
        table.add_row(
            Text(parameter.name),
            f"{parameter.initial:.4g}",
            f"{parameter.value:.4g}",
            "-" if interval is None else f"{interval[0]:.4g} .. {interval[1]:.4g}",
            Text(parameter.unit),
            Text(", ".join(parameter.flags)),
        )
    return table


def score_table(scores: list[tuple[str, Score]]) -> Table:
    """One row per signal and set of recordings: error before and after, in the signal's unit."""
    table = plain_table("RMSE of", "recordings", "initial", "identified", "unit")
    for title, score in scores:
        for name, rmse in score.rmse.items():
            initial = score.rmse_initial.get(name, float("nan"))
            unit = Text(score.units.get(name, ""))
            table.add_row(Text(name), title, f"{initial:.4g}", f"{rmse:.4g}", unit)
        table.add_row(
            "all together",
            title,
            f"{score.rmse_all_initial:.4g}",
            f"{score.rmse_all:.4g}",
            Text(score.unit_all),
        )
    return table


def plain_table(*columns: str) -> Table:
    """An empty table without lines; columns called ``initial`` or ``identified`` hold numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        numeric = column in ("initial", "identified")
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    return table
