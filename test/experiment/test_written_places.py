# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An experiment file writes below the output folder unless whoever runs it allows more."""

from __future__ import annotations

from pathlib import Path

import pytest

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import Experiment, check_study, output_of, parse_experiment
from sysid_ros.fit_worker import FitRequest, requested_experiment

TEXT = """\
model: arm.xml
sequences: [bag]
signals: [{qpos: elbow, topic: /joint_states, field: "position[elbow]"}]
"""


def experiment(extra: str, *overrides: str) -> Experiment:
    return parse_experiment(TEXT + extra, overrides=overrides)


def searching(study: str) -> str:
    return f"fit: {{search: {{study: '{study}'}}}}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.mark.parametrize("output", ["results", "a/b", "a/../b", "."])
def test_a_folder_below_the_current_one_is_taken(output: str) -> None:
    assert output_of(experiment(f"output: {output}\n"), None) == Path(output)


@pytest.mark.parametrize("output", ["/srv", "..", "a/../..", "link/results", "~/results"])
def test_another_folder_has_to_be_allowed(output: str) -> None:
    asked = experiment(f"output: {output}\n")
    with pytest.raises(ExperimentError, match="not below the current folder"):
        output_of(asked, None)
    assert output_of(asked, Path(output)) == Path(output)
    assert output_of(experiment("", f"output={output}"), None) == Path(output)


@pytest.mark.parametrize("study", ["results/arm.db", "results/deep/arm.log"])
def test_a_study_below_the_output_folder_is_kept(study: str) -> None:
    check_study(experiment(searching(study)), Path("results"), overrides_count=True)


@pytest.mark.parametrize(
    "study",
    ["arm.db", "/srv/arm.db", "results/../../arm.db", "sqlite:///results/a.db", "link/a.db"],
)
def test_another_study_has_to_be_allowed(study: str) -> None:
    with pytest.raises(ExperimentError, match=r"say so with --set fit\.search\.study"):
        check_study(experiment(searching(study)), Path("results"), overrides_count=True)
    overridden = experiment("", f"fit.search.study={study}")
    check_study(overridden, Path("results"), overrides_count=True)
    with pytest.raises(ExperimentError, match="allow_outside_output"):
        check_study(overridden, Path("results"), overrides_count=False)


def test_the_server_decides_for_the_goals_it_gets() -> None:
    text = TEXT + searching("/srv/arm.db")
    with pytest.raises(ExperimentError, match="the server's parameter allow_outside_output"):
        requested_experiment(FitRequest("results", experiment_yaml=text))
    allowed = FitRequest("results", experiment_yaml=text, allow_outside_output=True)
    assert requested_experiment(allowed).fit.search.study == "/srv/arm.db"
