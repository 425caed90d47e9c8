# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A bag that is followed from its beginning ends where the fit of the whole bag does."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from pendulum_experiment import NOISE, TRUE, write_pendulum_experiment

from sysid_ros.cli import main
from sysid_ros.dataset import FitInputs
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.moving_horizon import HorizonEstimate, HorizonSettings
from sysid_ros.errors import ErrorCode
from sysid_ros.experiment import Experiment, SequenceConfig, load_experiment
from sysid_ros.live_estimation import LiveEstimate, estimates_of_bag

BAG = SequenceConfig("bags/first")


@dataclass(frozen=True)
class Followed:
    """A bag that was followed with a horizon of two seconds, and the fit of it."""

    experiment: Experiment
    found: Sequence[LiveEstimate]
    fitted: FitResult

    @property
    def estimates(self) -> list[HorizonEstimate]:
        return [one.estimate for one in self.found if one.estimate is not None]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    file = write_pendulum_experiment(tmp_path_factory.mktemp("followed"), duration=6.25)
    experiment = load_experiment(file, overrides=["validation={}", "fit.model_error=false"])
    fitted = FitInputs.read(experiment, None).fitted()
    return Followed(experiment, _follow(experiment), fitted)


def _follow(experiment: Experiment) -> list[LiveEstimate]:
    return list(estimates_of_bag(experiment, BAG, HorizonSettings(length=2.0)))


def test_the_last_estimate_is_that_of_the_fit(followed: Followed):
    last = followed.estimates[-1]
    assert last.settled == (followed.fitted.interval_method == "clustered")
    for live, fitted in zip(last.parameters, followed.fitted.parameters, strict=True):
        assert live.name == fitted.name
        assert live.standard_error == pytest.approx(fitted.standard_error, rel=0.1)
        assert abs(live.value - fitted.value) < 0.1 * (fitted.standard_error or 0.0)
        assert live.value == pytest.approx(TRUE[live.name], rel=0.01)  # up to the time step's error
    assert last.noise["angle"] == pytest.approx(NOISE, rel=0.1)
    assert last.unexplained == ()


def test_an_estimate_contains_samples_of_the_last_tenth_of_a_second(followed: Followed):
    times = [one.time for one in followed.estimates]
    assert times[0] < 1.25  # one whole window
    assert times[-1] == pytest.approx(6.0)  # the fit leaves out what is less than half a window
    assert np.max(np.diff(times[:-1])) < 0.15
    widths = [one.parameters[0].standard_error or np.inf for one in followed.estimates]
    assert widths[-1] < 0.5 * widths[0]


def test_the_same_bag_gives_the_same_estimates(followed: Followed):
    assert repr(_follow(followed.experiment)) == repr(list(followed.found))


def test_the_command_writes_a_table(
    followed: Followed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = followed.experiment.path
    assert file is not None
    output = tmp_path / "estimates.csv"
    options = ["--bag", "bags/first", "--horizon", "2", "--output", str(output)]
    assert main(["live", str(file), *options]) == 0
    assert "pivot_damping" in capsys.readouterr().out
    with output.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(followed.estimates)
    last = followed.estimates[-1].parameters[1]
    assert float(rows[-1]["pivot_damping"]) == last.value
    assert (float(rows[-1]["pivot_damping_lower"]), float(rows[-1]["pivot_damping_upper"])) == (
        last.interval()
    )


@pytest.mark.parametrize(
    ("last", "reason"), [("", "first is shorter than a window"), ("no torque", "")]
)
def test_a_problem_is_told_once_though_it_comes_and_goes(
    last: str,
    reason: str,
    followed: Followed,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    problems = ["", "no torque", "", "no torque", "no torque", last]
    found = [LiveEstimate(None, problem=problem) for problem in problems]
    monkeypatch.setattr("sysid_ros.live_estimation.estimates_of_bag", lambda *_, **__: found)
    assert (
        main(["live", str(followed.experiment.path), "--bag=bags/first"]) == ErrorCode.DATA_UNUSABLE
    )
    said, end = capsys.readouterr().err.splitlines()
    assert said == "sysid_ros: no torque"
    assert reason in end and "nothing is estimated" in end and "no torque" not in end
