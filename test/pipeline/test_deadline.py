# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The time limit bounds the whole command, in a clock that the test turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from outcomes import fit_result
from pendulum_experiment import write_pendulum_experiment

from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.pipeline import deadline as module
from sysid_ros.pipeline import run_experiment
from sysid_ros.pipeline.deadline import Deadline, TimeLimitError


class Clock:
    """Goes on when it is told to, or by ``step`` whenever it is asked."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 100.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_without_a_limit_everything_has_time() -> None:
    clock = Clock()
    deadline = Deadline(None, clock)
    clock.now += 1e9
    deadline.reading_ended()
    assert deadline.for_fit() is None
    assert deadline.while_reading(None) is None
    assert not deadline.passed()
    assert not deadline.fit_is_overdue()


@pytest.mark.parametrize(
    ("limit", "reading", "fit"), [(1000.0, 10.0, 960.0), (1000.0, 100.0, 800.0), (10.0, 0.0, 6.0)]
)
def test_reading_scoring_and_writing_count(limit: float, reading: float, fit: float) -> None:
    """What is reserved for the end is half a minute, or as long as reading took, 40 % at most."""
    clock = Clock()
    deadline = Deadline(limit, clock)
    clock.now += reading
    deadline.reading_ended()
    assert deadline.for_fit() == pytest.approx(fit)
    assert deadline.for_fit(elapsed=7.0) == pytest.approx(fit + 7.0)
    clock.now += fit
    assert deadline.for_fit() == pytest.approx(0.0)
    assert not deadline.fit_is_overdue()
    clock.now += 0.6 * (limit - reading - fit)
    assert deadline.fit_is_overdue()
    assert not deadline.passed()
    clock.now += 0.4 * (limit - reading - fit)
    assert deadline.passed()


def test_reading_ends_with_the_limit() -> None:
    clock = Clock()
    told: list[float] = []
    listen = Deadline(10.0, clock).while_reading(told.append)
    assert listen is not None
    listen(0.1)
    clock.now += 11.0
    with pytest.raises(TimeLimitError, match="10 s passed when 25 % of the recordings were read"):
        listen(0.25)
    assert told == [0.1, 0.25]


@pytest.mark.parametrize(
    ("status", "late", "asked", "expected"),
    [
        (FitStatus.CANCELED, True, False, FitStatus.TIME_LIMIT),
        (FitStatus.CANCELED, True, True, FitStatus.CANCELED),
        (FitStatus.CANCELED, False, False, FitStatus.CANCELED),
        (FitStatus.CONVERGED, True, False, FitStatus.CONVERGED),
    ],
)
def test_a_fit_broken_off_for_its_time_says_so(
    status: FitStatus, late: bool, asked: bool, expected: FitStatus
) -> None:
    clock = Clock()
    deadline = Deadline(10.0, clock)
    deadline.reading_ended()
    clock.now += 9.9 * late
    result = replace(fit_result(np.random.default_rng(0)), status=status)
    assert deadline.explained(result, asked=asked).status is expected


def test_a_run_out_of_time_still_writes_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit passes before scoring."""
    experiment = load_experiment(write_pendulum_experiment(tmp_path, duration=3.0))
    experiment = with_overrides(experiment, ["fit.time_limit=1000"])
    clock = Clock()
    monkeypatch.setattr(module.Deadline.__init__, "__defaults__", (clock,))
    ended: list[str] = []

    def stage(text: str) -> None:
        ended.append(text)
        if text == "scoring":
            clock.now += 2000.0

    report = run_experiment(experiment, output_dir=tmp_path / "out", on_stage=stage)
    assert "scoring" in ended
    assert report.outcome.validation is None
    assert report.outcome.verdict.startswith("Not scored: the time limit passed")
    assert (report.files.folder / "parameters.yaml").is_file()
    assert (report.files.folder / "report.html").is_file()
