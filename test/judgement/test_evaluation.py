# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hold-out by folds, and scores of given parameters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from outcomes import score
from pendulum_experiment import TRUE, write_pendulum_bag, write_pendulum_experiment

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode
from sysid_ros.pipeline.cross_validation import combined, folds_of
from sysid_ros.results import read_results


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three recordings to fit and one held out."""
    file = write_pendulum_experiment(tmp_path_factory.mktemp("pendulum"), duration=3.0)
    for seed, name in ((5, "third"), (6, "fourth")):
        write_pendulum_bag(file.parent / "bags" / name, duration=3.0, seed=seed)
    return file


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    assert main(["evaluate", *map(str, arguments), "--json"]) == ErrorCode.NONE
    return json.loads(capsys.readouterr().out)


def test_folds_hold_every_sequence_out_once() -> None:
    for sequences, folds in ((2, 2), (7, 3), (96, 5)):
        parts = folds_of(sequences, folds)
        assert sorted(i for part in parts for i in part) == list(range(sequences))
        assert len(parts) == folds
        assert all(parts)


def test_scores_of_folds_are_pooled_by_their_squares() -> None:
    pooled = combined([score(2.0, 1.0), score(4.0, 3.0)])
    assert pooled.rmse_all == pytest.approx(np.sqrt(5.0))
    assert pooled.rmse_all_initial == pytest.approx(np.sqrt(10.0))
    assert pooled.windows == 8


def test_cross_validation_predicts_what_its_fits_have_not_seen(
    experiment: Path, tmp_path: Path
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    arguments += ["--set", "sequences=[bags/first, bags/second, bags/third]"]
    arguments += ["--set", "validation={folds: 3}", "--workers", "2"]
    assert main(arguments) == ErrorCode.NONE
    (folder,) = tmp_path.iterdir()
    result = read_results(folder)
    assert [s.role for s in result.sequences] == ["training"] * 3 + ["validation"] * 3
    assert [s.name for s in result.sequences[3:]] == ["first", "second", "third"]
    assert result.validation is not None
    assert result.training is not None
    assert result.validation.windows == result.training.windows
    assert result.training.rmse_all < result.validation.rmse_all < 1.2 * result.training.rmse_all
    assert not any("Nothing was held out" in warning for warning in result.warnings)
    document = json.loads((folder / "result.json").read_text())
    assert document["judgement"] == "IMPROVED"
    assert document["verdict"].startswith("Improved: the held-out error")


def test_too_many_folds_are_refused(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["fit", str(experiment), "--set", "validation={folds: 2}"])
    assert status == ErrorCode.INVALID_EXPERIMENT
    assert "validation.folds is 2, but sequences has only 1" in capsys.readouterr().err


def test_evaluate_reproduces_the_scores_of_a_fit(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(experiment), "--output", str(tmp_path), "--quiet"]) == ErrorCode.NONE
    (folder,) = tmp_path.iterdir()
    fitted = json.loads((folder / "result.json").read_text())
    for source in (folder, folder / "parameters.yaml", folder / "result.json"):
        found = evaluated(capsys, experiment, "--parameters", source)
        assert found["training"] == fitted["training"]
        assert found["validation"] == fitted["validation"]
    assert found["sequences"]["second"]["role"] == "validation"
    assert main(["evaluate", str(experiment), "--parameters", str(folder)]) == ErrorCode.NONE
    assert "held out" in capsys.readouterr().out
    fitted_bag = str(experiment.parent / "bags" / "first")
    main(["evaluate", str(experiment), "--parameters", str(folder), "--bag", fitted_bag])
    said = capsys.readouterr().out
    assert "as named" in said and "held out" not in said


def test_a_model_file_is_scored_as_it_is_written(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With parameters of the model alone it is the result; gains of signals are not in it."""
    arguments = ["fit", str(experiment), "--output", str(tmp_path / "plain"), "--json"]
    assert main(arguments) == ErrorCode.NONE
    fitted = json.loads(capsys.readouterr().out)
    assert not any("model file cannot carry" in warning for warning in fitted["warnings"])
    (folder,) = (tmp_path / "plain").iterdir()
    found = evaluated(capsys, experiment, "--parameters", folder / "model.xml")
    for role in ("training", "validation"):
        for key in ("rmse_all", "rmse_all_initial", "windows"):
            assert found[role][key] == pytest.approx(fitted[role][key], rel=1e-6)
    gained = "parameters+=[{signal: motor, gain: {initial: 2.0, min: 1.9, max: 2.1}}]"
    arguments = ["fit", str(experiment), "--output", str(tmp_path / "gained"), "--set", gained]
    main([*arguments, "--json"])
    (folder,) = (tmp_path / "gained").iterdir()
    fitted = json.loads((folder / "result.json").read_text())
    (said,) = [warning for warning in fitted["warnings"] if "model file cannot carry" in warning]
    assert "motor_gain (gain of motor: " in said
    top, _, _ = (folder / "model.xml").read_text().partition("<mujoco")
    assert "motor_gain (gain of motor: " in top
    capsys.readouterr()
    found = evaluated(capsys, experiment, "--parameters", folder / "model.xml", "--set", gained)
    assert found["validation"]["rmse_all"] > 1.1 * fitted["validation"]["rmse_all"]


def test_without_parameters_the_untuned_model_is_scored(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = evaluated(capsys, experiment)
    assert found["parameters"] == {"pivot_armature": 0.1, "pivot_damping": 0.5}
    assert found["validation"]["rmse_all"] == found["validation"]["rmse_all_initial"]


def test_bags_given_are_scored_instead(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "true.json"
    file.write_text(json.dumps(TRUE))
    bags = [experiment.parent / "bags" / name for name in ("third", "fourth")]
    arguments = [experiment, "--parameters", file, "--bag", bags[0], "--bag", bags[1]]
    found = evaluated(capsys, *arguments)
    assert found["training"] is None
    assert list(found["sequences"]) == ["third", "fourth"]
    assert found["validation"]["rmse_all"] < 0.1 * found["validation"]["rmse_all_initial"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pivot_dampin: 0.1", "unknown parameter 'pivot_dampin'; nearest: 'pivot_damping'"),
        ("pivot_damping: high", "'pivot_damping' is no number"),
        ("pivot_damping: .nan", "'pivot_damping' is not finite"),
        ("pivot_damping: .inf", "'pivot_damping' is not finite"),
        (f"pivot_damping: 1{400 * '0'}", "'pivot_damping' is not finite"),
        ("a: " + 10_000 * "[", "nested more than 20 levels deep"),
        ("a: " + (2 << 20) * "a", "more than 1 MiB"),
        ("[1, 2]", "holds no parameters"),
        ("a: [", "cannot read parameters"),
    ],
)
def test_files_that_hold_something_else_are_refused(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text)
    status = main(["evaluate", str(experiment), "--parameters", str(file)])
    assert status == ErrorCode.INVALID_EXPERIMENT
    assert words in capsys.readouterr().err
