# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros trend``: a table, JSON and a page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import open_browser
from robot_days import made, robot

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode
from sysid_ros.files import write_json
from sysid_ros.judgement import Outcome
from sysid_ros.results import document_from


def write(folder: Path, outcome: Outcome) -> None:
    folder.mkdir(parents=True)
    write_json(folder / "result.json", document_from(outcome))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    drawn = robot(np.random.default_rng(1), parameters=5, change=0.2, scatter=0.01, error=0.01)
    for number, result in enumerate(drawn):
        write(folder / f"run_{number}", result.outcome)
    return folder


def test_table_and_page(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "trend.html"
    assert main(["trend", str(results), "--limit", "10", "--output", str(page)]) == 0
    shown = capsys.readouterr().out
    rows = {line.split()[0]: line for line in shown.splitlines() if "friction" in line}
    assert "ERROR" in rows["joint0_friction"]
    assert "between 2026-03-06 and 2026-03-07" in rows["joint0_friction"]
    assert all(" OK " in rows[f"joint{i}_friction"] for i in range(1, 5))
    assert f"page: {page}" in shown
    with open_browser() as browser:
        browser.open(page, width=1000)
        assert browser.errors == []
        assert len(browser.requests) == 1
        assert browser.faults() == []
        assert browser.run("document.querySelectorAll('figure svg').length") == 5
        assert browser.run("document.querySelectorAll('figure svg .mark').length") == 1
        assert browser.run("document.querySelector('h2').textContent") == "ERROR"
        first_screen = browser.run("document.querySelector('.verdict').textContent")
        assert "joint0_friction: +" in first_screen and "joint1" not in first_screen


def test_json(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(folder) for folder in results.iterdir()]
    assert main(["trend", *folders, "--json", "--output", str(tmp_path / "page.html")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["level"] == "WARN"
    assert len(document["results"]) == 10
    changed = document["parameters"]["joint0_friction"]
    assert changed["changes"][0]["percent"] == pytest.approx(20.0, abs=4.0)
    assert changed["p"] < 0.01
    assert document["parameters"]["joint1_friction"]["changes"] == []


def test_a_folder_of_folders_that_fits_went_to_holds_their_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in (0, 1):
        write(tmp_path / "runs" / f"day_{day}" / "2026-01-01_arm", made([1.0], day, 0.1))
    write(tmp_path / "runs" / ".day_2" / "2026-01-01_arm", made([1.0], 2, 0.1))
    runs, page = str(tmp_path / "runs"), str(tmp_path / "page.html")
    assert main(["trend", runs, "--json", "--output", page]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 2


def test_a_recording_counts_once(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (results / "run_9" / "result.json").read_text()
    (tmp_path / "run_9_again").mkdir()
    (tmp_path / "run_9_again" / "result.json").write_text(text)
    arguments = [str(results), str(tmp_path), "--json", "--output", str(tmp_path / "page.html")]
    assert main(["trend", *arguments]) == 0
    shown = capsys.readouterr()
    assert "run_9 and run_9_again are fits of the same recording" in shown.err
    assert len(json.loads(shown.out)["results"]) == 10


def test_what_judges_all_results_makes_them_no_fits_of_one_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in (0, 1):
        one = made([1.0], day, 0.1)
        reference = replace(one.quality[0], sequence="reference")
        outcome = replace(
            one,
            quality=(*one.quality, reference),
            provenance={**one.provenance, "sha256 reference": "ef" * 32},
        )
        write(tmp_path / f"run_{day}", outcome)
    assert main(["trend", str(tmp_path), "--json", "--output", str(tmp_path / "page.html")]) == 0
    shown = capsys.readouterr()
    assert "same recording" not in shown.err
    assert len(json.loads(shown.out)["results"]) == 2


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["run_0"], "1 is given"),
        (["run_0", "undated"], "undated has no date"),
        (["run_0", "another"], "another model than"),
        (["nowhere"], "nowhere"),
        (["empty"], "is no result folder, and holds none"),
        (["run_0", "run_1", "--condition", "load"], "as condition 'load'"),
        (["run_0", "run_1", "--limit", "0"], "--limit is 0"),
    ],
)
def test_what_cannot_be_done_is_said(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str], said: str
) -> None:
    one = made([1.0], 0.5, 0.1)
    dateless = {k: v for k, v in one.provenance.items() if not k.startswith("recorded")}
    write(tmp_path / "undated", replace(one, provenance=dateless))
    write(
        tmp_path / "another",
        replace(one, provenance={**one.provenance, "sha256 robot.xml": "cd" * 32}),
    )
    (tmp_path / "empty").mkdir()
    ours = {"run_0": results, "run_1": results}
    words = [
        str(ours.get(n, tmp_path) / n) if n.isidentifier() and n != "load" else n for n in names
    ]
    page = tmp_path / "page.html"
    status = main(["trend", *words, "--output", str(page)])
    assert status in (ErrorCode.DATA_UNUSABLE, ErrorCode.INVALID_EXPERIMENT)
    assert said in capsys.readouterr().err
    assert not page.exists()
