"""Tables and progress as a person reads them."""

from __future__ import annotations

import io

import numpy as np
import pytest

from sysid_ros.outcome import Score
from sysid_ros.sysid.fit_result import Iteration, ParameterEstimate
from sysid_ros.terminal import (
    FitProgress,
    ReadingProgress,
    console_for,
    parameter_table,
    score_table,
)


def shown(table: object) -> list[str]:
    """The lines of a table on a stream that is no terminal."""
    stream = io.StringIO()
    console_for(stream).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def estimate(name: str, value: float, error: float | None, *flags: str) -> ParameterEstimate:
    return ParameterEstimate(name, "kg m^2", 0.1, value, 0.0, 1.0, error, 20.0, tuple(flags))


def test_names_with_brackets_stay_and_absent_intervals_are_dashes() -> None:
    lines = shown(
        parameter_table(
            (estimate("link[3]", 0.25, 0.01), estimate("edge", 1.0, None, "at upper bound"))
        )
    )
    assert lines[0].split() == [
        "parameter", "initial", "identified", "95", "%", "interval", "unit", "note",
    ]  # fmt: skip
    assert lines[1].split() == ["link[3]", "0.1", "0.25", "0.2291", "..", "0.2709", "kg", "m^2"]
    assert lines[2].endswith("1  -                 kg m^2  at upper bound")


def test_scores_have_a_row_for_each_signal_and_one_for_all() -> None:
    score = Score({"angle": 0.01}, {"angle": 0.2}, {"angle": "rad"}, 0.01, 0.2, "rad", 5)
    rows = [line.split() for line in shown(score_table([("training", score)]))]
    assert rows[1] == ["angle", "training", "0.2", "0.01", "rad"]
    assert rows[2] == ["all", "together", "training", "0.2", "0.01", "rad"]


def test_long_names_are_not_cut_where_there_is_no_terminal() -> None:
    name = "a_very_long_name_" * 8
    assert any(name in line for line in shown(parameter_table((estimate(name, 0.2, 0.1),))))


@pytest.mark.parametrize("stage", ["reading bags [1/3]", "fitting"])
def test_without_a_terminal_progress_is_plain_lines(stage: str) -> None:
    stream = io.StringIO()
    step = Iteration(3, 12.5, 0.1, ("a",), np.array([1.0]), 4.26)
    with FitProgress(10, stream=stream) as progress:
        progress.stage(stage)
        progress.iteration(step)
        progress.note("stopping [soon]")
    assert stream.getvalue().splitlines() == [
        stage,
        "iteration 3: cost 12.5, 4.3 s",
        "stopping [soon]",
    ]


def test_reading_is_said_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 1.0, 6.0, 7.0, 11.0])
    monkeypatch.setattr("sysid_ros.terminal.time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    with ReadingProgress(stream=stream) as reading, FitProgress(9, stream=stream) as progress:
        reading.reading(0.1)
        reading.reading(0.5)
        progress.reading(0.6)
        progress.reading(0.9)
    assert stream.getvalue() == "50% read\n60% read\n"
