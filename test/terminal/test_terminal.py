# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tables and progress as a person reads them."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from outcomes import outcome

from sysid_ros.engine.estimation import BodyFinding, TorqueFindings
from sysid_ros.engine.least_squares.search_progress import Iteration
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.judgement.outcome import JointTorque, Score
from sysid_ros.terminal.printing import (
    console_for,
    parameter_table,
    plain_number,
    print_outcome,
    score_table,
)
from sysid_ros.terminal.progress import FitProgress, ReadingProgress, working


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


@pytest.mark.parametrize("coordinates", [10, 0])
def test_bodies_are_told_by_their_masses_and_not_by_coordinates(
    coordinates: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some have none, as where a mass alone is estimated."""
    plain = outcome()
    theta = [estimate(f"link_inertia[{k}]", 0.2, 0.1) for k in range(coordinates)]
    parameters = (*theta, *plain.fit.parameters)
    rows = [line.split()[0] for line in shown(parameter_table(parameters))]
    assert rows[1:] == [p.name for p in (*plain.fit.parameters, *theta)]
    centre, moments = np.array([0.0, -1e-9, 0.125]), np.array([0.001, 0.002, 0.0025])
    body = BodyFinding("link", 3.25, centre, moments, np.eye(4)[0], np.ones(4), False)
    torque = TorqueFindings((), (body,), (), 10.0, 100, 0.0, 5, 2.0)
    print_outcome(replace(plain, fit=replace(plain.fit, parameters=parameters, torque=torque)))
    said = capsys.readouterr().out
    assert "link_inertia" not in said
    assert ("parameters.yaml has the 10 coordinates" in said) == (coordinates == 10)
    assert ("parameters.yaml has" in said) == (coordinates > 0)
    assert "link  3.25       0.0000, 0.0000, 0.1250  0.001, 0.002, 0.0025" in said
    assert all(p.name in said for p in plain.fit.parameters)


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


def test_a_cost_that_is_counted_anew_is_no_step_back() -> None:
    stream = io.StringIO()
    steps = ((0, 9.0), (1, 2.0), (1, 80.0), (1, 80.0), (2, 79.0))
    with FitProgress(10, stream=stream) as progress:
        for number, cost in steps:
            progress.iteration(Iteration(number, cost, 0.1, ("a",), np.array([1.0]), 1.0))
    assert stream.getvalue().splitlines() == [
        "iteration 0: cost 9, 1.0 s",
        "iteration 1: cost 2, 1.0 s",
        "iteration 1, weighed anew: cost 80, 1.0 s",
        "iteration 2: cost 79, 1.0 s",
    ]


class Clock:
    """Tells the time that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_long_fits_do_not_flood_a_log() -> None:
    """The first steps one by one, then one in five seconds, and the last."""
    stream, clock = io.StringIO(), Clock()
    with FitProgress(5000, stream=stream, clock=clock) as progress:
        progress.stage("fitting")
        for number in range(3000):
            clock.now = 0.01 * number
            progress.iteration(Iteration(number, 1.0, 0.1, ("a",), np.array([1.0]), clock.now))
        progress.stage("scoring")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "fitting"
    assert [line.split(":")[0] for line in lines[1:11]] == [f"iteration {i}" for i in range(10)]
    assert len(lines) < 20
    assert lines[-2:] == ["iteration 2999: cost 1, 30.0 s", "scoring"]


def test_counted_stages_are_told_now_and_then() -> None:
    stream, clock = io.StringIO(), Clock()
    with FitProgress(1, stream=stream, clock=clock) as progress:
        for number in range(1, 101):
            clock.now += 0.125
            progress.stage(f"reading recordings: {number} of 100")
    assert stream.getvalue().splitlines() == [
        "reading recordings: 1 of 100",
        "reading recordings: 41 of 100",
        "reading recordings: 81 of 100",
        "reading recordings: 100 of 100",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_stage_keeps_a_row_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    with FitProgress(50, stream=stream) as progress:
        progress.stage("reading [recordings]: 1 of 2")
        progress.stage("reading [recordings]: 2 of 2")
        progress.stage("fitting")
        progress.iteration(Iteration(7, 12.5, 0.1, ("a",), np.array([1.0]), 4.2))
        progress.stage("scoring")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).splitlines()[-3:]
    assert [line.split()[1] for line in shown] == ["reading", "fitting", "scoring"]
    assert all(line.startswith("✓") for line in shown)
    assert "2/2" in shown[0] and "7/50 cost 12.5" in shown[1]


def test_short_work_is_silent_without_a_terminal() -> None:
    stream = io.StringIO()
    with working("reading", stream=stream):
        pass
    assert stream.getvalue() == ""
    terminal = Terminal()
    with working("reading", stream=terminal):
        pass
    assert "reading" in terminal.getvalue()


def test_work_on_recordings_shows_how_much_has_been_read() -> None:
    terminal = Terminal()
    with working("testing", stream=terminal) as reading:
        for share in (0.0, 0.4, 1.0):
            reading(share)
    shown = terminal.getvalue()
    assert "40%" in shown
    assert shown.rindex("testing") > shown.rindex("reading recordings")


def test_reading_is_said_every_few_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    with ReadingProgress(stream=stream, clock=clock) as reading:
        for clock.now, share in ((0.0, 0.1), (4.0, 0.4), (6.0, 0.5), (7.0, 0.6), (12.0, 0.9)):
            reading.reading(share)
    assert stream.getvalue() == "50% read\n90% read\n"
    stream = io.StringIO()
    with FitProgress(9, stream=stream, clock=clock) as progress:
        progress.stage("reading recordings")
        for clock.now, share in ((13.0, 0.1), (18.0, 0.4), (19.0, 1.0)):
            progress.reading(share)
        progress.stage("fitting")
    assert stream.getvalue().splitlines() == [
        "reading recordings", "40% read", "100% read", "fitting",
    ]  # fmt: skip


def test_all_measured_quantities_and_torques_have_rows_of_their_own() -> None:
    score = Score(
        {"angle": 0.01, "rate": 0.4},
        {"angle": 0.2, "rate": 0.8},
        {"angle": "rad", "rate": "rad/s"},
        0.01,
        0.2,
        "rad",
        5,
        rmse_still={"angle": 0.3, "rate": 1.0},
        rmse_still_all=0.3,
    )
    torque = JointTorque("wrist", "N m", 3.0, 0.25, 1.5)
    noise = {"angle": 0.01, "rate": 0.4}
    table = score_table([("held out", score)], noise, [torque])
    rows = [line.split() for line in shown(table)]
    assert rows[1] == ["angle", "held", "out", "0.2", "0.01", "0.3", "rad"]
    assert rows[3] == ["all", "together", "held", "out", "0.2", "0.01", "0.3", "rad"]
    assert " ".join(rows[4]) == "all signals held out 14.21 1 21.29 times their noise level"
    assert rows[5][-4:] == ["0.25", "3", "N", "m"]
    assert "wrist" in rows[5]


@pytest.mark.parametrize(
    ("value", "shown_as"),
    [
        (-3.2e-31, "0"),
        (1.7e-17, "0"),
        (-1.5e-9, "-1.5e-09"),
        (0.123456, "0.1235"),
        (math.inf, "inf"),
    ],
)
def test_numbers_that_are_rounding_are_shown_as_zero(value: float, shown_as: str) -> None:
    assert plain_number(value) == shown_as
