# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Model structures compared on recordings whose structure is known."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path

import pytest
from browser import open_browser
from pendulum_experiment import write_pendulum_bag, write_pendulum_experiment

from sysid_ros.cli import main
from sysid_ros.comparison.compare import _within_limit, compare
from sysid_ros.comparison.model_fits import ModelTask
from sysid_ros.errors import DataError, ErrorCode
from sysid_ros.experiment import ValidationConfig, load_experiment
from sysid_ros.files import labels_of
from sysid_ros.pipeline import FitTask

ALTERNATIVES = """
alternatives:
  undamped:
    parameters: [{joint: pivot, armature: {max: 0.2}, damping: {initial: 0.0, frozen: true}}]
  friction: {add: [{joint: pivot, frictionloss: {initial: 0.01, max: 1.0}}]}
  wrong: {add: [{joint: pivt, frictionloss: }]}
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bags of a pendulum with armature and damping and no dry friction."""
    file = write_pendulum_experiment(tmp_path_factory.mktemp("pendulum"), duration=3.0)
    write_pendulum_bag(file.parent / "bags" / "third", duration=3.0, seed=5)
    file.write_text(file.read_text() + ALTERNATIVES)
    return file


@pytest.fixture(scope="module")
def compared(
    experiment: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, dict]]:
    """The result folder of a comparison of the three structures that can be fitted, and one."""
    output = tmp_path_factory.mktemp("results")
    arguments = ["compare", str(experiment), "--output", str(output), "--quiet"]
    assert main(arguments) == ErrorCode.NONE
    (folder,) = output.iterdir()
    return folder, json.loads((folder / "comparison.json").read_text())


def test_the_structure_that_made_the_data_is_chosen(compared: tuple[Path, dict]) -> None:
    _, document = compared
    assert document["chosen"] == "experiment"
    assert document["joints"]["pivot"]["chosen"] == "experiment"
    models = document["models"]
    assert list(models) == ["experiment", "undamped", "friction"]
    assert [m["number_of_parameters"] for m in models.values()] == [2, 1, 3]
    errors = {name: model["validation"]["rmse_all"] for name, model in models.items()}
    assert errors["undamped"] > 10.0 * errors["experiment"]
    assert errors["friction"] == pytest.approx(errors["experiment"], rel=0.05)
    assert models["experiment"]["bic"] < models["friction"]["bic"] < models["undamped"]["bic"]
    assert models["undamped"]["p_worse"] < 0.01 <= models["friction"]["p_worse"]


def test_a_model_that_cannot_be_fitted_is_named(compared: tuple[Path, dict]) -> None:
    folder, document = compared
    assert "unknown joint 'pivt'" in document["failures"]["wrong"]
    page = html.unescape((folder / "comparison.html").read_text())
    assert page.count("unknown joint 'pivt'") == 2  # among the models, and as a warning
    assert any(text.startswith("wrong could not be fitted") for text in document["warnings"])


def test_parameters_of_every_model_can_be_evaluated(
    compared: tuple[Path, dict], experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, document = compared
    arguments = ["evaluate", str(experiment), "--parameters", str(folder / "experiment"), "--json"]
    assert main(arguments) == ErrorCode.NONE
    found = json.loads(capsys.readouterr().out)
    assert found["validation"] == document["models"]["experiment"]["validation"]


def test_without_a_hold_out_it_is_cross_validated(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", str(experiment), "--output", str(tmp_path), "--json", "--quiet"]
    arguments += ["--models", "experiment,undamped", "--workers", "2"]
    arguments += ["--set", "sequences=[bags/first, bags/third]", "--set", "validation={}"]
    assert main(arguments) == ErrorCode.NONE
    document = json.loads(capsys.readouterr().out)
    assert document["chosen"] == "experiment"
    assert document["models"]["experiment"]["validation"]["windows"] == 6
    assert document["paired_over"] == "12 held-out blocks"
    assert any("cross-validated in 2 folds" in text for text in document["warnings"])


def test_one_recording_alone_predicts_its_end(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", str(experiment), "--output", str(tmp_path), "--quiet"]
    arguments += ["--models", "experiment,undamped", "--set", "validation={}"]
    assert main([*arguments, "--json"]) == ErrorCode.NONE
    document = json.loads(capsys.readouterr().out)
    assert any("the last 30% of its recording" in text for text in document["warnings"])
    assert document["chosen"] == "experiment"


def test_one_structure_alone_is_fitted(experiment: Path, tmp_path: Path) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    assert main([*arguments, "--model", "undamped"]) == ErrorCode.NONE
    (folder,) = tmp_path.iterdir()
    assert list(json.loads((folder / "result.json").read_text())["parameters"]) == [
        "pivot_armature"
    ]
    assert main([*arguments, "--model", "damped"]) == ErrorCode.INVALID_EXPERIMENT


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ("undamped,frictoin", "unknown model 'frictoin'; nearest: 'friction'"),
        ("undamped", "needs at least two models, given undamped"),
        ("undamped,undamped", "named twice"),
        ("undamped,wrong", "no two models to compare: wrong: "),
    ],
)
def test_wrong_names_are_refused(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], models: str, words: str
) -> None:
    arguments = ["compare", str(experiment), "--models", models, "--output", str(tmp_path)]
    assert main(arguments) in (ErrorCode.INVALID_EXPERIMENT, ErrorCode.DATA_UNUSABLE)
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_names_of_alternatives_are_checked(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = "alternatives={'../x': {add: [{joint: pivot, mas: }], modell: a.xml}}"
    assert main(["compare", str(experiment), "--set", setting]) == ErrorCode.INVALID_EXPERIMENT
    told = capsys.readouterr().err
    assert "takes letters, digits, _ and -, given '../x'" in told
    assert "unknown key 'mas'" in told
    assert "unknown key 'modell'" in told
    assert load_experiment(experiment).alternatives["undamped"].parameters is not None


def test_the_page_draws_without_an_error_or_a_request(compared: tuple[Path, dict]) -> None:
    folder, _ = compared
    with open_browser() as page:
        page.open(folder / "comparison.html", width=1000)
        page.wait_for("document.querySelectorAll('#overlays canvas').length >= 1")
        assert page.errors == []
        assert len(page.requests) == 1
        assert "experiment is chosen" in page.run("document.body.textContent")
        page.run("document.querySelector('[data-model=\"1\"]').click()")
        assert page.errors == []
        assert page.faults() == []
        assert page.run("document.documentElement.scrollWidth") <= 1000
        assert page.faults() == []


def test_parameter_files_of_several_structures_are_laid_over_each_other(
    compared: tuple[Path, dict],
    experiment: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, document = compared
    page = tmp_path / "overlay.html"
    arguments = ["evaluate", str(experiment), "--page", str(page)]
    for name in ("experiment", "undamped"):
        arguments += ["--parameters", str(folder / name)]
    assert main([*arguments, "--json"]) == ErrorCode.NONE
    files = json.loads(capsys.readouterr().out)["files"]
    assert list(files) == ["experiment", "undamped"]
    for name, found in files.items():
        assert found["validation"] == document["models"][name]["validation"]
    with open_browser() as opened:
        opened.open(page, width=1000)
        opened.wait_for("document.querySelectorAll('#overlays canvas').length >= 1")
        assert opened.errors == []
        assert opened.faults() == []
    assert main(arguments) == ErrorCode.NONE
    assert "undamped" in capsys.readouterr().out


def test_files_are_told_apart_by_the_shortest_names(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "parameters.yaml").touch()
    files = [tmp_path / folder / "parameters.yaml" for folder in ("a", "b")]
    assert list(labels_of(files)) == ["a/parameters", "b/parameters"]
    assert list(labels_of(files[:1])) == ["parameters"]
    assert list(labels_of([tmp_path / "a", tmp_path / "b"])) == ["a", "b"]
    assert list(labels_of([files[0], files[0].with_suffix(".json")])) == [
        str(files[0]),
        str(files[0].with_suffix(".json")),
    ]


def test_fits_that_have_not_converged_are_no_choice(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", str(experiment), "--output", str(tmp_path), "--json", "--quiet"]
    arguments += ["--models", "experiment,undamped", "--set", "fit.max_iterations=1"]
    assert main(arguments) == ErrorCode.NONE
    document = json.loads(capsys.readouterr().out)
    assert document["chosen"] is None
    assert document["joints"]["pivot"]["chosen"] is None
    assert "only by fits that have converged" in document["reason"]
    assert "raise fit.max_iterations" in document["reason"]
    page = next(tmp_path.glob("*/comparison.html")).read_text()
    assert "No model is chosen" in page


def test_all_models_are_of_the_same_reading(
    experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: dict[str, ModelTask] = {}

    def told(models: dict[str, ModelTask], *rest: object, **options: object) -> dict[str, str]:
        tasks.update(models)
        return dict.fromkeys(models, "not fitted")

    monkeypatch.setitem(compare.__globals__, "fit_models", told)
    with pytest.raises(DataError, match="not fitted"):
        compare(load_experiment(experiment), ["experiment", "undamped"])
    (own,) = {part.reading for model in tasks.values() for part in model.parts()}
    assert own


@pytest.mark.parametrize(("limit", "workers", "each"), [(None, 1, None), (60, 1, 10), (60, 2, 20)])
def test_the_time_limit_is_that_of_the_whole_comparison(
    experiment: Path, limit: float | None, workers: int, each: float | None
) -> None:
    whole = load_experiment(experiment)
    whole = replace(whole, fit=replace(whole.fit, time_limit=limit))
    folds = replace(whole, validation=ValidationConfig(folds=2))
    tasks = {name: ModelTask(FitTask.of(folds, None), frozenset()) for name in ("a", "b")}
    found = _within_limit(tasks, limit, workers)
    assert {task.task.experiment.fit.time_limit for task in found.values()} == {each}
