# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits whose process is killed, and what carries on with them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE
from pendulum_experiment import SLOW, write_pendulum_experiment

from sysid_ros.cli import main
from sysid_ros.dataset import FitInputs
from sysid_ros.errors import DataError, ErrorCode, ExperimentError, OutputError
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.pipeline.resume import Resume, inputs_of
from sysid_ros.results import read_results
from sysid_ros.results.state_file import STATE_FILE, claimed, folders_with_state, read_state

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of several noise rounds with a hook that can be slow."""
    file = write_pendulum_experiment(tmp_path_factory.mktemp("pendulum"), duration=4.0)
    (file.parent / "slow_hook.py").write_text(SLOW)
    file.write_text(file.read_text() + "modifiers: slow_hook:add\n")
    return file


@pytest.fixture(scope="module")
def undisturbed(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """The parameters that a fit finds when nobody kills it."""
    report = run_experiment(load_experiment(experiment), output_dir=tmp_path_factory.mktemp("out"))
    assert not (report.files.folder / STATE_FILE).exists()  # nothing left to do
    return {p.name: p.value for p in report.outcome.fit.parameters}


def test_what_could_not_be_written_says_how_to_carry_on(
    experiment: Path, undisturbed: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("sysid_ros.pipeline.result_writing.write_signals", full)
        with pytest.raises(OutputError, match=r"No space left .* --resume .*") as caught:
            run_experiment(load_experiment(experiment), output_dir=tmp_path)
    (kept,) = folders_with_state(tmp_path)
    assert str(caught.value).endswith(f"--resume {kept} carries on")
    report = run_experiment(load_experiment(experiment), output_dir=tmp_path, resume=Resume(kept))
    found = {p.name: p.value for p in report.outcome.fit.parameters}
    assert found == pytest.approx(undisturbed, rel=1e-6)


def kill_after_steps(command: list[object], output: Path, steps: int) -> None:
    """Start a process in a group of its own and kill all of it once a fit got that far."""
    kill_once(
        command,
        lambda: any(read_state(f).state.iteration >= steps for f in folders_with_state(output)),
    )


def kill_once(command: list[object], reached: Callable[[], object]) -> None:
    """Start a process in a group of its own and kill all of it as soon as ``reached``."""
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "SLOW": "0.04"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, "the fit ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_killed_fit_carries_on_to_the_same_optimum(
    experiment: Path, undisturbed: dict[str, float], tmp_path: Path
) -> None:
    command = ["sysid_ros", "fit", experiment, "--output", tmp_path]
    kill_after_steps(command, tmp_path, 2)
    (left,) = tmp_path.iterdir()
    with (left / "progress.csv").open() as rows:
        announced = int(list(csv.DictReader(rows))[-1]["iteration"])
    done = read_state(left).state
    # The state is kept first, so that a step which was announced is never lost.
    assert announced in (done.iteration - 1, done.iteration)

    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    assert main([*arguments, "--resume"]) == ErrorCode.NONE
    (folder,) = tmp_path.iterdir()  # what the killed process left is used up
    result = read_results(folder)
    for name in ("pivot_armature", "pivot_damping"):
        assert result.fit[name].value == pytest.approx(undisturbed[name], rel=1e-5)
    assert [step.iteration for step in result.fit.trace[: done.iteration + 1]] == list(
        range(done.iteration + 1)
    )
    assert result.fit.trace[0].values[0] == 0.1
    assert main([*arguments, "--resume"]) == ErrorCode.INVALID_EXPERIMENT


def test_a_fit_cut_short_goes_on_with_a_higher_limit(
    experiment: Path, undisturbed: dict[str, float], tmp_path: Path
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    assert main([*arguments, "--set", "fit.max_iterations=2"]) == ErrorCode.NOT_CONVERGED
    (first,) = tmp_path.iterdir()
    assert main([*arguments, "--resume", str(first)]) == ErrorCode.NONE
    (second,) = (folder for folder in tmp_path.iterdir() if folder != first)
    fit = read_results(second).fit
    assert fit["pivot_damping"].value == pytest.approx(undisturbed["pivot_damping"], rel=1e-5)
    assert fit.iterations > 2
    assert (first / STATE_FILE).exists()  # a published result is never touched


@pytest.mark.parametrize("optimizer", ["scipy", "mujoco"])
def test_other_optimizers_resume_from_their_best_point(
    experiment: Path, undisturbed: dict[str, float], tmp_path: Path, optimizer: str
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    arguments += ["--set", f"fit.optimizer={optimizer}"]
    main([*arguments, "--set", "fit.max_iterations=2"])
    (first,) = tmp_path.iterdir()
    assert main([*arguments, "--resume"]) == ErrorCode.NONE
    (latest,) = (folder for folder in tmp_path.iterdir() if folder != first)
    fit = read_results(latest).fit
    assert fit["pivot_damping"].value == pytest.approx(undisturbed["pivot_damping"], rel=1e-4)


ALTERNATIVES = """
alternatives:
  undamped:
    parameters: [{joint: pivot, armature: {max: 0.2}, damping: {initial: 0.0, frozen: true}}]
"""


@pytest.fixture
def resumed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each fit in this process carried on from a state."""
    found: list[bool] = []
    plain = FitInputs.fitted

    def fitted(inputs: FitInputs, **options: Any) -> Any:
        found.append(options.get("resume") is not None)
        return plain(inputs, **options)

    monkeypatch.setattr(FitInputs, "fitted", fitted)
    return found


def test_a_killed_comparison_carries_on(
    experiment: Path, tmp_path: Path, resumed: list[bool], capsys: pytest.CaptureFixture[str]
) -> None:
    file = experiment.with_name("compared.yaml")
    file.write_text(experiment.read_text() + ALTERNATIVES)
    arguments = ["compare", str(file), "--output", str(tmp_path), "--quiet", "--json"]
    kill_once(["sysid_ros", *arguments], lambda: list(tmp_path.glob(f".*/undamped_0/{STATE_FILE}")))
    assert main([*arguments, "--resume"]) == ErrorCode.NONE
    continued = json.loads(capsys.readouterr().out)
    assert any(resumed)
    (folder,) = tmp_path.iterdir()
    assert (folder / "comparison.json").is_file()
    assert main([*arguments, "--resume"]) == ErrorCode.INVALID_EXPERIMENT
    assert "there is no interrupted comparison" in capsys.readouterr().err

    resumed.clear()
    assert main(arguments) == ErrorCode.NONE
    anew = json.loads(capsys.readouterr().out)
    assert not any(resumed)
    for name, model in anew["models"].items():
        for parameter, value in model["parameters"].items():
            then = continued["models"][name]["parameters"][parameter]
            assert then["value"] == pytest.approx(value["value"], rel=1e-4)


def test_a_killed_cross_validation_carries_on(
    experiment: Path, tmp_path: Path, resumed: list[bool]
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    arguments += ["--set", "sequences=[bags/first, bags/second]", "--set", "validation={folds: 2}"]
    kill_once(["sysid_ros", *arguments], lambda: list(tmp_path.glob(f".*/folds/1/{STATE_FILE}")))
    assert main([*arguments, "--resume"]) == ErrorCode.NONE
    assert resumed == [True, True, True]  # of the experiment and of both folds
    (folder,) = tmp_path.iterdir()
    assert not (folder / "folds").exists()


CHANGES = {
    "parameters[0].damping.max=2.0": "the setting parameters",
    "windows.length=2.0": "the setting windows",
    "fit.loss=huber": "the setting fit.loss",
    "sequences=[{bag: bags/first, end: 3.0}]": "the setting sequences",
}


def test_a_changed_experiment_is_refused(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    main([*arguments, "--set", "fit.max_iterations=1"])
    for change, words in CHANGES.items():
        status = main([*arguments, "--resume", "--set", change])
        assert status == ErrorCode.INVALID_EXPERIMENT
        assert words in capsys.readouterr().err
    assert len(list(tmp_path.iterdir())) == 1


def test_changed_recordings_and_hooks_are_refused(tmp_path: Path) -> None:
    file = write_pendulum_experiment(tmp_path / "a", duration=2.0)
    (file.parent / "slow_hook.py").write_text(SLOW)
    file.write_text(file.read_text() + "modifiers: slow_hook:add\n")
    short = with_overrides(load_experiment(file), ["fit.max_iterations=1"])
    run_experiment(short, output_dir=tmp_path / "out")
    (file.parent / "slow_hook.py").write_text(SLOW + "\n# another\n")
    (file.parent / "bags" / "first").rename(file.parent / "bags" / "moved")
    (file.parent / "bags" / "second").rename(file.parent / "bags" / "first")
    (file.parent / "bags" / "moved").rename(file.parent / "bags" / "second")
    with pytest.raises(ExperimentError, match=r"the file first.*slow_hook\.py"):
        run_experiment(load_experiment(file), output_dir=tmp_path / "out", resume=Resume())


def test_a_change_in_what_a_model_file_includes_is_noticed(tmp_path: Path) -> None:
    """The file itself stays as it was."""
    file = write_pendulum_experiment(tmp_path, duration=2.0)
    model, included = tmp_path / "pendulum.xml", tmp_path / "world.xml"
    text = model.read_text()
    model.write_text(text.replace("<worldbody>", '<include file="world.xml"/><worldbody>', 1))
    found = []
    for gravity in ("-9.81", "-9.81", "-1.62"):
        included.write_text(f'<mujoco><option gravity="0 0 {gravity}"/></mujoco>')
        experiment = load_experiment(file)
        found.append(inputs_of(experiment, FitInputs.read(experiment, None).dataset))
    assert found[0] == found[1]
    changed = {name for name in found[0] if found[0][name] != found[2][name]}
    assert changed == {"the model pendulum as compiled"}


def test_a_fit_that_still_runs_is_left_alone(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    main([*arguments, "--set", "fit.max_iterations=1"])
    (folder,) = tmp_path.iterdir()
    with claimed(folder) as free:
        assert free
        assert main([*arguments, "--resume", str(folder)]) == ErrorCode.INVALID_EXPERIMENT
        assert "still running" in capsys.readouterr().err
        assert main([*arguments, "--resume"]) == ErrorCode.INVALID_EXPERIMENT
        assert "no interrupted fit" in capsys.readouterr().err


def test_a_damaged_state_is_a_sentence(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "result"
    folder.mkdir()
    (folder / STATE_FILE).write_bytes(b"PK\x03\x04 cut off")
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet", "--resume"]
    assert main([*arguments, str(folder)]) == ErrorCode.DATA_UNUSABLE
    assert "cannot read" in capsys.readouterr().err
    assert main(arguments) == ErrorCode.INVALID_EXPERIMENT
    assert "cannot read" in capsys.readouterr().err


def poisoned(whole: bytes) -> bytes:
    """The state with a parameter that is no number."""
    with np.load(io.BytesIO(whole)) as archive:
        arrays = dict(archive)
    arrays["theta"] = np.full_like(arrays["theta"], np.nan)
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def changed(text: str, to: str) -> Callable[[bytes], bytes]:
    """Replace the first match in the state's document."""

    def change(whole: bytes) -> bytes:
        with np.load(io.BytesIO(whole)) as archive:
            arrays = dict(archive)
        document, count = re.subn(text, to, str(arrays["document"]), count=1)
        assert count
        arrays["document"] = np.array(document)
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        return stream.getvalue()

    return change


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "cut": lambda whole: whole[: len(whole) // 2],
    "poisoned": poisoned,
    "undamped": changed(r'"damping": ?[^,]+', '"damping": null'),
    "endless": changed(r'"damping": ?[^,]+', '"damping": ' + "9" * 400),
    "noiseless": changed(r'("noise": ?\{[^:]+: ?)[^,}]+', r"\g<1>0.0"),
    "backwards": changed(r'"rounds": ?[^,]+', '"rounds": -1'),
    "of one value fewer": changed(r'"values": ?\[[^,\]]+, ?', '"values": ['),
    "of another version": changed(r'"format": ?[^,]+', '"format": 99'),
}


@pytest.fixture(scope="module")
def cut_short(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a fit that had one step."""
    output = tmp_path_factory.mktemp("short")
    short = with_overrides(load_experiment(experiment), ["fit.max_iterations=1"])
    return run_experiment(short, output_dir=output).files.folder


def test_starts_that_no_fit_has_are_refused(
    experiment: Path, cut_short: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "far"
    shutil.copytree(cut_short, folder)
    with np.load(folder / STATE_FILE) as archive:
        arrays = dict(archive)
    arrays["starts"][1] = 1e300
    np.savez(folder / STATE_FILE, **arrays)
    longer = with_overrides(load_experiment(experiment), ["fit.max_iterations=2"])
    with pytest.raises(DataError, match="starts far from what was measured"):
        run_experiment(longer, output_dir=tmp_path, resume=Resume(folder))


def test_states_of_one_instant_are_ordered_by_name(tmp_path: Path) -> None:
    """Two that are written within a tick of the file system's clock are equally old."""
    names = [f"2026-01-01_{letter}" for letter in "cahbgdfe"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / STATE_FILE).touch()
        os.utime(tmp_path / name / STATE_FILE, (1.0, 1.0))
    assert [folder.name for folder in folders_with_state(tmp_path)] == sorted(names, reverse=True)


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_next_older_whole_state_is_carried_on(
    damage: str, experiment: Path, cut_short: Path, tmp_path: Path
) -> None:
    shutil.copytree(cut_short, tmp_path / "older")
    shutil.copytree(cut_short, tmp_path / "newer")
    state = tmp_path / "newer" / STATE_FILE
    state.write_bytes(DAMAGES[damage](state.read_bytes()))
    older = (tmp_path / "older" / STATE_FILE).stat().st_mtime
    os.utime(state, (older + 10.0, older + 10.0))
    longer = with_overrides(load_experiment(experiment), ["fit.max_iterations=2"])
    report = run_experiment(longer, output_dir=tmp_path, resume=Resume())
    assert report.outcome.fit.iterations == 2
    warning = report.outcome.warnings[0]
    assert str(state) in warning and "the fit in older was carried on" in warning
